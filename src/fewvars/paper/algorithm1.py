"""The paper's Algorithm 1, implemented literally, as a scikit-learn regressor and selector."""

from typing import final

from fewvars._common.validation import FloatArray
from fewvars.engine.penalties import InputGroups
from fewvars.paper.base import PenalisedRegressor


@final
class AdaptiveGroupLassoRegressor(PenalisedRegressor):
    """Adaptive group lasso network: Algorithm 1 of Ho, Richardson and Tran.

    Inputs and outputs are divided by their sample standard deviations and not centred. Adam minimises the
    mean squared error L over the parameters of a network and gives the initial first layer W~. Plain
    proximal gradient steps then minimise

        L + lambda sum_j |W_j| / |W~_j|^2,

    where W_j is the first-layer column of input j, for lambda on a grid from which BIC chooses. At the end
    parameters below 1e-4 are set to zero; the inputs whose column is not all zero are selected. Use it to
    reproduce the paper: `fewvars.FewVariablesRegressor` is the better method.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seed of the initial parameters and of the batches.
    **choices
        Every other parameter is a choice of `fewvars.paper.Configuration`, which documents it and the reason for its
        default; they are ordinary parameters that `set_params` and grid search can reach.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features_in_,)
        Selected inputs.
    lambda_ : float
        Strength chosen by BIC, for the standardised data.
    path_ : Path
        The grid: lambdas, losses, sizes, degrees of freedom, bic and supports.
    initial_norms_ : ndarray of shape (n_features_in_,)
        |W~_j|; the weights of the penalty are their inverse squares.
    network_, parameters_ : Network, ndarray of shape (n_parameters,)
        Shape and parameters of the network on standardised data.
    x_scale_, y_scale_ : ndarrays of shape (n_features_in_,) and (n_outputs,)
        Sample standard deviations; infinite for constant inputs, which are never selected.
    n_iter_ : int
        Number of updates in all.
    outcome_ : Outcome
        How training ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from fewvars.paper import AdaptiveGroupLassoRegressor
    >>> X = np.random.default_rng(0).standard_normal((300, 5))
    >>> model = AdaptiveGroupLassoRegressor(
    ...     hidden_layer_sizes=(8, 8, 8), n_second=400, n_strengths=12, random_state=0
    ... )
    >>> model.fit(X, X[:, 1] * X[:, 3]).get_support(indices=True)
    array([1, 3])
    """

    def _penalty(self, initial: FloatArray) -> InputGroups:
        return InputGroups.of(initial.shape[1]).adaptive(initial, gamma=2.0)
