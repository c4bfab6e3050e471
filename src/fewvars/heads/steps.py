"""Sums of functions of single variables, each a line and steps: they follow sharp functions that polynomials cannot."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewvars._common.kinds import array
from fewvars._common.validation import FloatArray
from fewvars.heads.averages import Averages
from fewvars.heads.head import Graph, Head
from fewvars.search.variables.normal_equations import Design, NormalEquations
from fewvars.search.variables.ridge_judge import FAMILIES, ROWS_PER_COLUMN, STRENGTHS
from fewvars.search.variables.terms import STEEPNESS, STEPS, Terms
from fewvars.series.scaling import Scaling


@final
@dataclass(frozen=True, eq=False)
class StepsHead(Head):
    """f(x) = a + sum_j (b_j x_j + sum_k w_kj tanh(s_kj (x_j - c_kj))).

    Attributes
    ----------
    constant, slopes : (outputs,), (inputs, outputs)
        a and b.
    places, steepness : (steps, inputs)
        c and s.
    weights : (steps, inputs, outputs)
        w.
    """

    name: ClassVar = "steps"
    noun: ClassVar = "sum of functions of single variables"
    stored: ClassVar = {
        "constant": array("float", "outputs"),
        "slopes": array("float", "inputs", "outputs"),
        "places": array("float", "steps", "inputs"),
        "steepness": array("float", "steps", "inputs"),
        "weights": array("float", "steps", "inputs", "outputs"),
    }

    constant: FloatArray
    slopes: FloatArray
    places: FloatArray
    steepness: FloatArray
    weights: FloatArray

    @staticmethod
    def suits(X: FloatArray, data: Averages) -> bool:
        """Return whether there are enough windows for the steps of all inputs."""
        return (1 + STEPS * X.shape[1]) * ROWS_PER_COLUMN <= len(data.y)

    @classmethod
    def fit(cls, X: FloatArray, data: Averages) -> tuple["StepsHead", FloatArray]:
        """Return the head of inputs X (samples, inputs), and its held-out errors (pieces,).

        Averages of the steps are fitted by a ridge regression, whose strength held-out windows choose.
        """
        scaling, n = Scaling.of(X), X.shape[1]
        terms = Terms.of(scaling.apply(X), np.arange(n), data.windows).with_steps()
        everything = np.ones(n, bool)
        design = Design.of(terms, everything, *FAMILIES["steps"])
        weight = data.weight / data.weight.mean()
        held_out = NormalEquations(design, data.y, weight, data.held_out.splits)
        best, _, errors = held_out.best(held_out.coefficients(everything, STRENGTHS), data.held_out, data.loss)
        all_rows = (np.arange(len(data.y)), np.empty(0, int))
        whole = NormalEquations(design, data.y, weight, (all_rows,))
        found = whole.coefficients(everything, [STRENGTHS[best]])[0, 0] / design.sizes[:, None]
        return cls.in_units(found, terms, scaling), errors

    @classmethod
    def in_units(cls, coefficients: FloatArray, terms: Terms, scaling: Scaling) -> "StepsHead":
        """Return the head of coefficients (1 + inputs STEPS, outputs) of scaled inputs."""
        assert terms.places is not None
        by_input = coefficients[1:].reshape(-1, STEPS, coefficients.shape[1])
        slopes = by_input[:, 0] / scaling.scale[:, None]
        places = np.repeat(scaling.mean + scaling.scale * terms.places, len(STEEPNESS), axis=0)
        steepness = np.tile(STEEPNESS, len(terms.places))[:, None] / scaling.scale
        weights = by_input[:, 1:].transpose(1, 0, 2)
        return cls(coefficients[0] - scaling.mean @ slopes, slopes, places, steepness, weights)

    @property
    def n_inputs(self) -> int:
        """Number of variables."""
        return len(self.slopes)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.constant.size

    def steps(self, X: FloatArray) -> FloatArray:
        """Return the steps at X, (n, steps, inputs)."""
        return np.tanh(self.steepness * (X[:, None] - self.places))

    def restricted(self, inputs: np.ndarray) -> "StepsHead":
        """Return the same sum as a function of some inputs (inputs,), among them all that matter."""
        own = self.places[:, inputs], self.steepness[:, inputs], self.weights[:, inputs]
        return StepsHead(self.constant, self.slopes[inputs], *own)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions (n, outputs)."""
        return self.constant + X @ self.slopes + np.tensordot(self.steps(X), self.weights, 2)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return derivatives (n, outputs, inputs)."""
        slopes = self.steepness * (1.0 - self.steps(X) ** 2)
        return self.slopes.T + np.einsum("nsi,sio->noi", slopes, self.weights)

    def describe(self) -> str:
        """Return what it is."""
        return "a sum of functions of single variables, each a line and steps"

    def export(self, graph: Graph, x: str) -> str:
        """Add the line, then the steps at each place."""
        total = graph.add("Add", graph.add("MatMul", x, graph.numbers(self.slopes)), graph.numbers(self.constant[None]))
        for place, steepness, weights in zip(self.places, self.steepness, self.weights, strict=True):
            moved = graph.add("Sub", x, graph.numbers(place[None]))
            step = graph.add("Tanh", graph.add("Mul", moved, graph.numbers(steepness[None])))
            total = graph.add("Add", total, graph.add("MatMul", step, graph.numbers(weights)))
        return total
