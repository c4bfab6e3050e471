"""The paper's network baselines: the plain network and the unweighted group lasso."""

from typing import final

from fewvars._common.validation import FloatArray
from fewvars.engine.penalties import InputGroups
from fewvars.paper.base import PaperRegressor, PenalisedRegressor
from fewvars.paper.configuration import Configuration
from fewvars.paper.first_stage import Stage, Standardised, first_stage


@final
class NeuralRegressor(PaperRegressor):
    """Plain network: minimises the mean squared error by Adam, without penalty.

    It is the first stage of `fewvars.paper.AdaptiveGroupLassoRegressor`, with the same preprocessing.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seed of the initial parameters and of the batches.
    **choices
        Every other parameter is a choice of `fewvars.paper.Configuration`, which documents it and the reason for its
        default.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features_in_,)
        Inputs whose first-layer column is not all zero: as a rule all that are not constant.
    network_, parameters_ : Network, ndarray of shape (n_parameters,)
        Shape and parameters of the network on standardised data.
    x_scale_, y_scale_ : ndarrays of shape (n_features_in_,) and (n_outputs,)
        Sample standard deviations; infinite for constant inputs.
    n_iter_ : int
        Number of updates.
    outcome_ : Outcome
        How training ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from fewvars.paper import NeuralRegressor
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> y = X[:, 0] * X[:, 1]
    >>> bool(NeuralRegressor(random_state=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    def _train(self, data: Standardised, configuration: Configuration, seed: int) -> Stage:
        return first_stage(self.network_, data.samples, configuration, seed)


@final
class GroupLassoRegressor(PenalisedRegressor):
    """Group lasso network: minimises L + lambda sum_j |W_j|, lambda chosen by BIC.

    L is the mean squared error on data divided by their sample standard deviations, W_j the first-layer
    column of input j. It differs from `fewvars.paper.AdaptiveGroupLassoRegressor` only in its equal weights.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seed of the initial parameters and of the batches.
    **choices
        Every other parameter is a choice of `fewvars.paper.Configuration`, which documents it and the reason for its
        default.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features_in_,)
        Inputs whose first-layer column is not all zero.
    lambda_ : float
        Strength chosen by BIC, for the standardised data.
    path_ : Path
        The grid: lambdas, losses, sizes, degrees of freedom, bic and supports.
    initial_norms_ : ndarray of shape (n_features_in_,)
        Norms of the first-layer columns after the first stage.
    network_, parameters_, x_scale_, y_scale_, n_iter_, outcome_, n_features_in_, feature_names_in_
        As in `NeuralRegressor`.
    """

    def _penalty(self, initial: FloatArray) -> InputGroups:
        return InputGroups.of(initial.shape[1])
