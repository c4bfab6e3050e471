"""The few-directions estimator: f(x) = g(Ax), with the directions and their number found from the data."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fewvars._common.validation import FloatArray, check_whole
from fewvars.estimators.base import BlockedEstimator, Search
from fewvars.estimators.findings import Findings
from fewvars.estimators.fitted import FittedRegressor
from fewvars.estimators.inputs import column_names
from fewvars.estimators.preparation import Prepared
from fewvars.search.directions.search import Directions, DirectionSettings, find_directions


@dataclass(kw_only=True, repr=False, eq=False)
class FewDirectionsRegressor(ClassNamePrefixFeaturesOutMixin, TransformerMixin, FittedRegressor, BlockedEstimator):
    """Find the few linear combinations of the inputs that an output depends on, and learn the function of them.

    A network is trained briefly. A path of adaptive soft-thresholding of the singular values of its first layer,
    from full rank to none, then proposes directions for each rank. At the likely ranks polynomials and networks of the
    combinations are fitted jointly with the directions and compared on held-out blocks; the smallest rank that is
    not worse than the best is chosen. A last check adds a direction along which the held-out residual is significantly
    linear, even if it is too weak to be worth its parameters. Finally directions and function are fitted to all rows.

    Parameters
    ----------
    n_directions : int, optional
        Find exactly this many directions; by default the number is found from the data.
    hidden_layer_sizes : tuple of int, default=(20, 20, 20)
        Units of the hidden layers of the network on the path. The first bounds the number of directions.
    head : {"auto", "dictionary", "curves", "network"}, default="auto"
        The function of the combinations, as in `FewVariablesRegressor`.
    loss : {"squared", "huber", "poisson"}, default="squared"
        As in `FewVariablesRegressor`. With "poisson", the logarithm of the rate is a function of few directions.
    missing : {"error", "drop"}, default="error"
        What to do about missing values in X: raise an error, or leave such rows out and predict NaN for them.
    cv : splitter, int or list of (train, test), optional
        Splits to use instead of the held-out blocks. The path sees the training rows of the first split; the first
        two compare the ranks, and all of them judge a weak direction.
    max_rank : int, default=10
        Largest number of directions that is considered.
    n_resamples : int, default=0
        Repeat the search on this many resamples of the blocks, for `selection_frequencies_`.
    activation, smoothing, max_degree, n_blocks, shuffle, first_updates, path_updates, refit_updates, path_factor, \
batch_size, learning_rate, random_state, n_jobs, verbose
        As in `FewVariablesRegressor`.

    Attributes
    ----------
    n_directions_ : int
        k, the number of directions.
    directions_ : (k, n_features)
        In the units of the inputs: `transform(X) == (X - mean_) @ directions_.T`. In inputs divided by their
        standard deviations the rows are orthonormal. They are in the order of `singular_values_`, and the loading
        of largest size (in those inputs) of each is positive.
    mean_ : (n_features,)
    singular_values_ : (k,)
        How strongly y depends on each: root mean square of the derivative of y, in standard deviations, along it,
        decreasing. They are the singular values of the table of scaled gradients.
    path_ : Path
    lambda_ : float
        The largest strength on the path at which at least as many directions were alive as were chosen.
    ranks_, rank_errors_, rank_errors_se_ : (candidates,)
        Ranks that were tried, their held-out errors and standard errors.
    held_out_error_ : float
        Held-out mean squared error at the chosen rank over the variance of y. It was used to choose the
        rank; measure the accuracy on new data.
    head_ : {"dictionary", "curves", "network", "mean"}
        What `predict` evaluates; "mean" if there is no direction.
    equation_ : str or list of str
        The polynomial as text in z0, z1, ..., the columns of `transform`; not with a network.
    selection_frequencies_ : (max_rank + 1,), or more if more directions were asked for
        How often 0, 1, 2, ... directions were found; only with `n_resamples`.
    n_iter_ : int
        Updates of the first stage and the path.
    head_errors_, smoothed_, input_range_, expected_error_, expected_error_se_, expected_rmse_, residual_quantiles_, \
notes_, n_features_in_, feature_names_in_
        As in `FewVariablesRegressor`.

    Notes
    -----
    Constant columns have loading zero. Rows of zero weight are left out altogether.

    Examples
    --------
    >>> import numpy as np
    >>> from fewvars import FewDirectionsRegressor
    >>> X = np.random.default_rng(0).standard_normal((500, 5))
    >>> model = FewDirectionsRegressor(random_state=0).fit(X, (X[:, 0] + X[:, 1] - X[:, 2]) ** 2)
    >>> model.n_directions_, model.transform(X).shape
    (1, (500, 1))
    """

    n_directions: int | None = None
    missing: str = "error"
    max_rank: int = 10

    _n_splits = 4

    def _settings(self) -> DirectionSettings:
        options = self._checked_options(self._loss)
        if self._encoding is not None:
            j = next(iter(self._encoding.levels()))
            raise ValueError(
                f"X: column {column_names(self)[j]!r} is a category, and categories have no linear combinations: leave "
                "it out, or use FewVariablesRegressor."
            )
        check_whole("max_rank", self.max_rank)
        if self.n_directions is not None:
            check_whole("n_directions", self.n_directions, minimum=0)
            width = options["hidden_layer_sizes"][0]
            if self.n_directions > width:
                raise ValueError(
                    f"n_directions={self.n_directions}: the first hidden layer has {width} units; ask for "
                    "at most that many, or give wider hidden_layer_sizes."
                )
        return DirectionSettings(**options, n_directions=self.n_directions, max_rank=self.max_rank)

    def _search(self, data: Prepared) -> Search:
        varying = int((~data.problem.constant_inputs).sum())
        if self.n_directions is not None and self.n_directions > varying:
            raise ValueError(
                f"n_directions={self.n_directions}: X has only {varying} columns that are not constant; ask for at "
                "most that many."
            )
        return find_directions

    def _store(self, data: Prepared, found: Directions, settings: DirectionSettings) -> None:
        loadings, self.singular_values_ = found.fitted(data.as_measured(data.target.scaling), settings)
        self.directions_ = loadings / data.inputs.scaling.scale
        self.mean_ = data.inputs.scaling.mean
        self.n_directions_ = found.rank
        choice, samples = found.choice, data.problem.samples
        unit = samples.loss.error_unit(samples.Y, samples.weights)
        self.ranks_ = choice.ranks
        self.rank_errors_, self.rank_errors_se_ = choice.errors / unit, choice.errors_se / unit
        self.held_out_error_ = choice.held_out_error / unit
        self.path_, self.n_iter_, self.lambda_ = found.path, found.n_updates, found.strength
        if not self.n_directions_ and self.n_directions != 0:
            self._warn_of_nothing()

    def _warn_of_nothing(self) -> None:
        warnings.warn(
            "No direction predicts y on held-out rows better than its mean does: no directions were found, and "
            "predict returns the mean.",
            UserWarning,
            stacklevel=5,
        )

    def _may_find_nothing(self) -> bool:
        return self.n_directions is None and self.n_directions_ > 0

    def _find_nothing(self) -> None:
        self.n_directions_, self.directions_ = 0, self.directions_[:0]
        self.singular_values_ = self.singular_values_[:0]
        self._warn_of_nothing()

    def _coordinates(self, X: FloatArray) -> FloatArray:
        return (X - self.mean_) @ self.directions_.T

    def _votes(self, found: Directions) -> np.ndarray:
        most = max(self.max_rank, self.n_directions or 0)
        return np.eye(most + 1)[found.rank]

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the combinations (X - mean_) @ directions_.T, (n, k)."""
        return self._coordinates(self._inputs(X, None, None))

    def gradient(self, X: ArrayLike) -> FloatArray:
        """Return the derivatives of the prediction by all inputs, (n, d) or (n, outputs, d)."""
        return self._shaped(self._evaluate("gradient", X) @ self.directions_)

    def equation(self, names: Any = None) -> str | list[str]:
        """Return the polynomial as text in other names, one for each direction; one text for each output."""
        check_is_fitted(self, "head_")
        return self._equation(self._coordinate_names() if names is None else names)

    def _coordinate_names(self) -> list[str]:
        return [f"z{i}" for i in range(self.n_directions_)]

    def findings(self) -> Findings:
        """Return which directions were found, and the evidence for them."""
        return Findings(
            kind="directions",
            names=tuple(self._coordinate_names()),
            selected=np.any(self.directions_ != 0, axis=0),
            order=np.arange(self.n_directions_),
            importances=self.singular_values_,
            importances_se=np.full(self.n_directions_, np.nan),
            sizes=self.ranks_,
            errors=self.rank_errors_,
            errors_se=self.rank_errors_se_,
            chosen_size=self.n_directions_,
            **self._common_findings(),
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_directions_
