"""The paper's Algorithm 2, implemented literally, as a scikit-learn regressor: functions of few linear combinations."""

from dataclasses import replace
from typing import final

import numpy as np

from fewvars._common.validation import FloatArray
from fewvars.engine.penalties import SecondLayerColumns, significant
from fewvars.paper.base import TwoStages
from fewvars.paper.configuration import Configuration
from fewvars.paper.first_stage import Stage, Standardised, selected


@final
class AdaptiveDirectionsRegressor(TwoStages):
    """Adaptive group lasso on the second layer: Algorithm 2 of Ho, Richardson and Tran, for f(x) = g(A x).

    Like `AdaptiveGroupLassoRegressor`, but the first hidden layer is linear, and the second stage minimises

        L + lambda sum_j |V_j| / |V~_j|^2,

    where V_j is column j of the second layer W2 and V~ its initial estimate. A nonzero column j stands for the
    linear combination in row j of W1. The sum runs over the H columns of W2, not over the d inputs as printed
    in the paper. Use it to reproduce the paper, and see the notes: `fewvars.FewDirectionsRegressor` is the better
    method.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seed of the initial parameters and of the batches.
    **choices
        Every other parameter is a choice of `fewvars.paper.Configuration`, which documents it and the reason for its
        default; they are ordinary parameters that `set_params` and grid search can reach.

    Attributes
    ----------
    n_directions_ : int
        Number of nonzero columns of W2.
    directions_ : ndarray of shape (n_directions_, n_features_in_)
        Their rows of W1 in the units of the inputs: the function sees x through ``directions_ @ x`` alone.
    singular_values_ : ndarray of shape (min(H, n_directions_, n_features_in_),)
        Of the product W2 W1 for standardised inputs, over the nonzero columns.
    rank_ : int
        How many of them exceed 1e-4 of the largest: at most `n_directions_`.
    lambda_ : float
        Strength chosen by BIC, for the standardised data.
    path_ : Path
        The grid: lambdas, losses, sizes, degrees of freedom, bic and supports, the last (m, H).
    initial_norms_ : ndarray of shape (H,)
        |V~_j|; the weights of the penalty are their inverse squares.
    network_, parameters_, x_scale_, y_scale_, n_iter_, outcome_, n_features_in_, feature_names_in_
        As in `AdaptiveGroupLassoRegressor`.

    Notes
    -----
    The penalty has two faults. It is scale-degenerate: doubling a row of W1 and halving its column of W2 lowers
    the penalty and changes nothing else, so that no minimum is attained; W2 does not vanish only because training
    ends. And it counts columns, not rank: collinear rows of W1 are counted separately. Compare
    `n_directions_` with `rank_` and `singular_values_`.

    Examples
    --------
    >>> import numpy as np
    >>> from fewvars.paper import AdaptiveDirectionsRegressor
    >>> X = np.random.default_rng(0).standard_normal((500, 6))
    >>> model = AdaptiveDirectionsRegressor(
    ...     hidden_layer_sizes=(8, 8, 8), n_second=1600, n_strengths=12, random_state=0
    ... )
    >>> model.fit(X, np.tanh(X.sum(axis=1))).n_directions_
    1
    """

    _first_activation = "identity"
    _layer = 1

    def _penalty(self, initial: FloatArray) -> SecondLayerColumns:
        return SecondLayerColumns.of(initial.shape[1]).adaptive(initial, gamma=2.0)

    def _train(self, data: Standardised, configuration: Configuration, seed: int) -> Stage:
        if not data.samples.Y.any():
            # A constant output needs only the output bias. With two small layers the loss then begins at almost
            # zero, and what Adam's first steps make of it would count as divergence.
            configuration = replace(configuration, n_first=0)
        return super()._train(data, configuration, seed)

    def _interpret(self) -> None:
        living = selected(self.network_, self.parameters_, self._layer)
        first, second, *_ = self.network_.layers(self.parameters_)
        rows, columns = first.weights[living], second.weights[:, living]
        self.directions_ = rows / self.x_scale_
        self.n_directions_ = int(living.sum())
        # Scaled before multiplying: the parameters of a diverged run are finite, but their products may not be.
        sizes = np.abs(rows).max(initial=0.0), np.abs(columns).max(initial=0.0)
        product = (columns / (sizes[1] or 1.0)) @ (rows / (sizes[0] or 1.0))
        s = np.linalg.svd(product, compute_uv=False)[: self.n_directions_]
        self.rank_ = int(significant(s).sum())
        with np.errstate(over="ignore"):
            self.singular_values_ = s * sizes[0] * sizes[1]
