"""The interface of heads: a head is the learned function of the selected variables or directions."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from fewvars._common.kinds import Kind
from fewvars._common.validation import FloatArray
from fewvars.engine.network import Network
from fewvars.polynomials.polynomial import Polynomial


class Graph(Protocol):
    """A graph of ONNX operations under construction; values are known by their names, which the methods return."""

    def add(self, operation: str, *inputs: str, **attributes: Any) -> str:
        """Add an operation of ONNX."""

    def numbers(self, values: Any, *, positive: bool = False) -> str:
        """Add a constant in the precision of the graph."""

    def integers(self, values: Any) -> str:
        """Add a constant of whole numbers."""

    def networks(self, x: str, network: Network, thetas: FloatArray) -> str:
        """Add the mean (n, outputs) of networks with parameters (networks, n_parameters) at x (n, inputs)."""

    def polynomial(self, x: str, polynomial: Polynomial) -> str:
        """Add a polynomial (n, outputs) at x (n, d)."""


class Head(ABC):
    """A function (n, inputs) -> (n, outputs) in the user's units. Subclasses are frozen dataclasses.

    Attributes
    ----------
    name : str
        What the parameter `head` and the attribute `head_` call it.
    noun : str
        Its name in prose, without an article.
    stored : dict
        What each field of the dataclass must be, in the words of `fewvars._common.kinds`: files hold these fields.
    """

    name: ClassVar[str]
    noun: ClassVar[str]
    stored: ClassVar[Mapping[str, Kind]]

    @property
    @abstractmethod
    def n_inputs(self) -> int:
        """Number of arguments: variables or directions."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Number of outputs."""

    @abstractmethod
    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions (n, outputs) at X (n, inputs)."""

    @abstractmethod
    def gradient(self, X: FloatArray) -> FloatArray:
        """Return derivatives (n, outputs, inputs)."""

    @abstractmethod
    def describe(self) -> str:
        """Return a description that completes "The function is ..."."""

    @abstractmethod
    def export(self, graph: Graph, x: str) -> str:
        """Add the function at x (n, inputs) to a graph; return the name of its value (n, outputs)."""

    def text(self, names: Sequence[str], *, digits: int = 4) -> list[str] | None:
        """Return each output as text in the names of the inputs, with at least these digits; None if too long."""
        return None

    def interactions(self, labels: np.ndarray) -> tuple[tuple[int, int], ...] | None:
        """Return the pairs of groups of inputs, labelled (inputs,), that act together; None if it cannot tell."""
        return None

    def as_polynomial(self) -> Polynomial | None:
        """Return the function as a polynomial, coefficients (terms, outputs), to print it; None if it is not one."""
        return None

    def as_sum(self) -> "SumHead | None":
        """Return the function as a sum of terms, from which variables can be left out; None if it is not one."""
        return None

    def check(self) -> None:  # noqa: B027 - most heads have nothing to check
        """Raise ValueError unless its fields, read from a file, fit each other."""


class SumHead(Head):
    """A sum of terms, each of some of the inputs. A selection drops the inputs that it does not need."""

    @property
    @abstractmethod
    def support(self) -> np.ndarray:
        """The inputs (inputs,) that occur in a term."""

    @abstractmethod
    def refitted(self, X: FloatArray, y: FloatArray, weight: FloatArray) -> Self:
        """Return the same terms fitted to X (n, inputs), y (n, outputs) and weights (n,) under squared error."""

    @abstractmethod
    def without(self, inputs: np.ndarray) -> Self:
        """Leave out the terms in which one of these inputs (inputs,) occurs; what is left must be refitted."""

    @abstractmethod
    def restricted(self, inputs: np.ndarray) -> "SumHead":
        """Return the same function of some inputs (inputs,), among them all that occur in it."""

    @abstractmethod
    def with_digits_for(self, X: FloatArray) -> Self:
        """Return the same function; its text has as many digits as its values at X (n, inputs) need."""

    def with_terms_of(self, inputs: np.ndarray, max_degree: int) -> list[Self]:
        """Return sums with terms of further inputs (inputs,), in order of preference; they must be refitted."""
        return []

    def as_sum(self) -> "SumHead":
        """Return itself."""
        return self
