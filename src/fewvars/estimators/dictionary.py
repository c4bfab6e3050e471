"""The sparse dictionary of monomials as a scikit-learn regressor."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from fewvars._common.threads import single_blas_thread
from fewvars._common.validation import FloatArray, check_choice, check_flag, check_real, check_samples, counted_rows
from fewvars.polynomials.dictionary import METHODS, fit_polynomial
from fewvars.polynomials.polynomial import Polynomial
from fewvars.series.splits import BlockedSplit

_CRITERIA = ("held_out", "bic")
_SPLITS = 4


@dataclass(kw_only=True, repr=False, eq=False)
class SparseDictionaryRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Sparse polynomial regression on all monomials up to a degree.

    Inputs whose mean exceeds 8 of their standard deviations are shifted to a round number near the mean, and the
    monomials are those of the shifted inputs (see `origin_`): the raw ones would be nearly collinear. With
    ``fit_intercept=False`` nothing is shifted.

    Parameters
    ----------
    max_degree : int, default=2
        Largest degree of a monomial.
    method : {"subsets", "threshold", "l1"}, default="subsets"
        Least squares on the best subset of terms of each size, sequential thresholding, or an l1 penalty (shrunk
        coefficients). The objectives and the scaling of the strength are those of
        `fewvars.polynomials.dictionary.fit_polynomial`.
    criterion : {"held_out", "bic"}, default="held_out"
        What chooses the strength: the fewest terms whose held-out error is within one standard error of
        the best, or BIC. BIC assumes independent samples and keeps far too many terms of a trajectory.
    cv : int, splitter or iterable of (train, test) pairs, default=None
        Splits for ``criterion="held_out"``. None is `BlockedSplit()`: blocks of
        consecutive rows, a part of each held out in turn.
    strength : float, default=None
        Fixed strength; None chooses it from the data.
    coefficient_tolerance : float, default=0.0
        Coefficients of smaller absolute value, in the units of the data, are set to zero. The paper: 1e-4.
    fit_intercept : bool, default=True
        Whether the constant monomial is in the dictionary. It is a term like the others with ``method="subsets"``;
        otherwise it is never dropped.
    max_memory : float, default=2**31
        Limit in bytes; a dictionary estimated to need more raises MemoryError before it is built.

    Attributes
    ----------
    exponents_ : ndarray of int, shape (n_terms_, n_features_in_)
        The monomials kept, in powers of ``X - origin_``; the constant is a row of zeros.
    coef_ : ndarray of shape (n_terms_,) or (n_outputs, n_terms_)
        Their coefficients in the units of the data.
    origin_ : ndarray of shape (n_features_in_,)
        What is subtracted from each input: zero, unless the input is far from zero.
    n_terms_ : int
        Number of monomials kept, the constant included.
    support_ : ndarray of bool, shape (n_features_in_,)
        Inputs that occur in one of these monomials.
    equation_ : str or list of str
        The polynomial as text, in terms of `feature_names_in_` or x0, x1, ...
    lambda_ : float
        Strength of the fit; inf if nothing but constants is left.
    polynomial_ : Polynomial
        The fitted function itself.
    path_ : DictionaryFit
        All candidates: strengths, numbers of terms and the criterion.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from fewvars.estimators import SparseDictionaryRegressor
    >>> X = np.random.default_rng(0).standard_normal((200, 5))
    >>> SparseDictionaryRegressor().fit(X, 3 * X[:, 0] * X[:, 2] - X[:, 4] + 0.5).equation_
    '3 x0*x2 - 1 x4 + 0.5'
    """

    max_degree: int = 2
    method: str = "subsets"
    criterion: str = "held_out"
    cv: Any = None
    strength: float | None = None
    coefficient_tolerance: float = 0.0
    fit_intercept: bool = True
    max_memory: float = 2**31

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> "SparseDictionaryRegressor":
        """Fit the dictionary.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inputs.
        y : array-like of shape (n,) or (n, n_outputs)
            Outputs. Each has its own terms.
        sample_weight : array-like of shape (n,), optional
            Weights as counts: weight 2 is a repeated row.
        """
        inputs, outputs = check_samples(self, X, y, fewest=2)
        weight = _check_sample_weight(sample_weight, inputs, dtype=np.float64, ensure_non_negative=True)
        self._check_parameters()
        cv = self.cv if self.criterion == "held_out" else None
        if self.criterion == "held_out" and self.cv is None:
            # Blocks are cut from the rows with positive weight; a given cv refers to all rows.
            present = counted_rows(weight, fewest=2)
            inputs, outputs, weight = inputs[present], outputs[present], weight[present]
            cv = BlockedSplit(max(2, min(_SPLITS, len(inputs))))
        with single_blas_thread():
            self.path_ = fit_polynomial(
                inputs,
                outputs,
                max_degree=self.max_degree,
                method=self.method,
                strength=self.strength,
                cv=cv,
                sample_weight=weight,
                constant=self.fit_intercept,
                coefficient_tolerance=self.coefficient_tolerance,
                max_memory=self.max_memory,
            )
        return self

    @property
    def polynomial_(self) -> Polynomial:
        """The fitted function itself."""
        return self.path_.polynomial

    @property
    def exponents_(self) -> NDArray[np.int64]:
        """The monomials kept, in powers of ``X - origin_``; the constant is a row of zeros."""
        return self.polynomial_.exponents

    @property
    def coef_(self) -> FloatArray:
        """Their coefficients in the units of the data."""
        return self.polynomial_.coefficients.T

    @property
    def origin_(self) -> FloatArray:
        """What is subtracted from each input: zero, unless the input is far from zero."""
        return self.polynomial_.origin

    @property
    def n_terms_(self) -> int:
        """Number of monomials kept, the constant included."""
        return len(self.exponents_)

    @property
    def support_(self) -> NDArray[np.bool_]:
        """Inputs that occur in one of these monomials."""
        return self.polynomial_.support

    @property
    def equation_(self) -> str | list[str]:
        """The polynomial as text."""
        return self.polynomial_.equation(getattr(self, "feature_names_in_", None))

    @property
    def lambda_(self) -> float:
        """Strength of the fit."""
        return self.path_.strength

    def _check_parameters(self) -> None:
        check_choice("criterion", self.criterion, _CRITERIA)
        check_choice("method", self.method, METHODS)
        by_l1 = self.method == "l1"
        if self.strength is not None and (by_l1 or self.strength != np.inf):  # which leaves nothing
            check_real("strength", self.strength, strict=by_l1)
        check_flag("fit_intercept", self.fit_intercept)
        if self.max_memory != np.inf:
            check_real("max_memory", self.max_memory)

    def predict(self, X: ArrayLike) -> FloatArray:
        """Predicted outputs, (n,) or (n, n_outputs), at the rows of X (n, d)."""
        check_is_fitted(self)
        return self.polynomial_.predict(validate_data(self, X, dtype=np.float64, reset=False))

    def gradient(self, X: ArrayLike) -> FloatArray:
        """Derivatives by each input, (n, d) or (n, n_outputs, d), at the rows of X (n, d)."""
        check_is_fitted(self)
        return self.polynomial_.gradient(validate_data(self, X, dtype=np.float64, reset=False))
