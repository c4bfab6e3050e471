"""The mean of the outputs: the function of no variables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewvars._common.kinds import array
from fewvars._common.validation import FloatArray
from fewvars.engine.losses import SQUARED, Loss
from fewvars.heads.head import Graph, Head


@final
@dataclass(frozen=True, eq=False)
class MeanHead(Head):
    """The mean (outputs,), whatever the inputs; under losses other than squared error, the best constant."""

    name: ClassVar = "mean"
    noun: ClassVar = "mean of the output"
    stored: ClassVar = {"mean": array("float", "outputs")}

    mean: FloatArray

    @classmethod
    def fit(cls, X: FloatArray, y: FloatArray, weight: FloatArray, loss: Loss = SQUARED) -> "MeanHead":
        """Compute the weighted mean of y (n, outputs), or another null model."""
        return cls(loss.null_model(y, weight))

    @property
    def n_inputs(self) -> int:
        """None."""
        return 0

    @property
    def n_outputs(self) -> int:
        """Number of means."""
        return self.mean.size

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the mean for every row, (n, outputs)."""
        return np.tile(self.mean, (len(X), 1))

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return derivatives by no variables, (n, outputs, 0)."""
        return np.zeros((len(X), self.mean.size, 0))

    def describe(self) -> str:
        """Return what it is."""
        return "the mean of the output"

    def text(self, names: Sequence[str], *, digits: int = 4) -> list[str]:
        """Return each mean as a number."""
        return [f"{mean:.{digits}g}" for mean in self.mean]

    def export(self, graph: Graph, x: str) -> str:
        """Repeat the mean for every row of x."""
        n = graph.add("Shape", x, start=0, end=1)
        return graph.add("Expand", graph.numbers(self.mean[None]), graph.add("Concat", n, graph.integers([1]), axis=0))
