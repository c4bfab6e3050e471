"""A penalty on the singular values of the first layer, which switches off directions, and the numerical rank."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewvars._common.validation import FloatArray, check_whole
from fewvars.engine.penalties.penalty import Penalty, adaptive_weights

RANK_TOLERANCE = 1e-4


def significant(singular_values: FloatArray) -> np.ndarray:
    """Return which singular values (..., k) exceed `RANK_TOLERANCE` times the largest of their matrix."""
    largest = singular_values.max(axis=-1, initial=0.0, keepdims=True)
    return singular_values > RANK_TOLERANCE * largest


@dataclass(frozen=True, eq=False)
class SingularValues(Penalty):
    """sum_i weights[i] s_i(W), s_1 >= s_2 >= ... being the singular values of the first layer.

    With equal weights this is a multiple of the nuclear norm. Adaptive weights increase with i: thresholding is
    still the exact prox, but the penalty is no longer convex.
    """

    layer: ClassVar[int] = 0
    weights: FloatArray

    def __post_init__(self) -> None:
        if (np.diff(self.weights) < 0).any() or not (np.isfinite(self.weights) & (self.weights >= 0)).all():
            raise ValueError(
                f"weights={self.weights}: give finite, non-negative weights that do not decrease; otherwise "
                "thresholding is not the prox."
            )

    @classmethod
    def of(cls, n_inputs: int, width: int) -> "SingularValues":
        """Weigh all min(n_inputs, width) singular values equally."""
        return cls(np.ones(min(check_whole("n_inputs", n_inputs), check_whole("width", width))))

    @property
    def convex(self) -> bool:
        """Whether all weights are equal."""
        return bool((self.weights == self.weights[0]).all())

    def _decompose(self, W: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        if W.ndim != 2 or min(W.shape) != self.weights.size:
            raise ValueError(f"W has shape {W.shape}: this penalty is for {self.weights.size} singular values.")
        U, s, Vt = np.linalg.svd(W, full_matrices=False)
        return U, s, Vt

    def value(self, W: FloatArray) -> float:
        """Return sum_i weights[i] s_i(W)."""
        return float(self.weights @ self._decompose(W)[1])

    def prox(self, W: FloatArray, tau: float) -> FloatArray:
        """Soft-threshold s_i by tau weights[i]."""
        U, s, Vt = self._decompose(W)
        return ((U * np.maximum(s - tau * self.weights, 0.0)) @ Vt).astype(W.dtype)

    def compiled_prox(self, strength: float) -> None:
        """Return None: the training loop cannot decompose a matrix."""

    def adaptive(self, initial: FloatArray, *, gamma: float = 2.0, floor: float = 1e-8) -> "SingularValues":
        """Weigh singular value i by 1 / max(s_i, floor)^gamma."""
        return SingularValues(adaptive_weights(self._decompose(initial)[1].astype(np.float64), gamma, floor))

    def subdifferential_distance(self, W: FloatArray, gradient: FloatArray, strength: float) -> float:
        """Return the distance for equal weights (Watson, 1992); for other weights it is not defined."""
        if not self.convex:
            raise ValueError(
                "the weights differ: a penalty that is not convex has no subdifferential. Give equal weights."
            )
        pull = strength * self.weights[0]
        U, s, Vt = self._decompose(W)
        rank = int((s > 1e-12 * max(s[0], 1.0)).sum())
        U, Vt = U[:, :rank], Vt[:rank]
        outside = gradient - U @ (U.T @ gradient)
        outside = outside - (outside @ Vt.T) @ Vt
        inside = gradient - outside + pull * (U @ Vt)
        excess = np.maximum(np.linalg.svd(outside, compute_uv=False) - pull, 0.0)
        return float(np.hypot(np.linalg.norm(inside), np.linalg.norm(excess)))

    def support(self, W: FloatArray) -> np.ndarray:
        """Return which singular values are significant."""
        return significant(self._decompose(W)[1])
