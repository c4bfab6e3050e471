"""The common part of the paper's network regressors: standardisation, the two stages, prediction and selection."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from fewvars._common.validation import FloatArray, check_samples, check_seed
from fewvars.engine.network import Network
from fewvars.engine.solvers import Outcome
from fewvars.paper.configuration import Configuration
from fewvars.paper.first_stage import Stage, Standardised, cut, first_stage, selected
from fewvars.paper.second_stage import ColumnPenalty, second_stage
from fewvars.search.path import Path


@dataclass(kw_only=True, repr=False, eq=False)
class NetworkRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator, ABC):
    """A network on inputs and outputs divided by their standard deviations; subclasses define the training."""

    hidden_layer_sizes: Sequence[int] = Configuration.hidden_layer_sizes
    learning_rate: float = Configuration.learning_rate
    threshold: float = Configuration.threshold
    n_first: int = Configuration.n_first
    first_batch_size: int = Configuration.first_batch_size
    initialisation: str = Configuration.initialisation
    first_layer_scale: float = Configuration.first_layer_scale
    bias_at_mean: bool = Configuration.bias_at_mean
    precision: str = Configuration.precision
    random_state: Any = None

    _first_activation = "tanh"

    def _configuration(self) -> Configuration:
        """Return the checked choices, with defaults for those that the estimator does not have."""
        chosen = self.get_params(deep=False)
        return Configuration(**{item.name: chosen[item.name] for item in fields(Configuration) if item.name in chosen})

    @abstractmethod
    def _train(self, data: Standardised, configuration: Configuration, seed: int) -> Stage:
        """Return trained parameters of `network_`."""

    @abstractmethod
    def _interpret(self) -> None:
        """Set the fitted attributes that describe the inputs."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the network.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Inputs.
        y : array-like of shape (n,) or (n, n_outputs)
            Outputs. Several outputs share the network and its inputs.
        sample_weight : array-like of shape (n,), optional
            Weights as counts: weight 2 is a repeated row.
        """
        inputs, outputs = check_samples(self, X, y, fewest=2)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, inputs, dtype=np.float64, ensure_non_negative=True)
        configuration = self._configuration()
        seed = check_seed(self.random_state)
        table = outputs.reshape(len(outputs), -1)
        data = Standardised.of(inputs, table, weights, configuration)
        self.network_ = configuration.network(inputs.shape[1], table.shape[1], self._first_activation)
        stage = self._train(data, configuration, seed)
        if stage.outcome is Outcome.DIVERGED:
            warn(stage.outcome.value, ConvergenceWarning, stacklevel=2)
        theta = cut(stage.theta, configuration.threshold).astype(np.float64)
        self.network_.layers(theta)[-1].biases[:] += data.offset
        self.parameters_, self.n_iter_, self.outcome_ = theta, stage.n_updates, stage.outcome
        self.x_scale_, self.y_scale_ = data.x_scale, data.y_scale
        self._one_output = outputs.ndim == 1
        self._interpret()
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Predicted outputs, (n,) or (n, n_outputs), at the rows of X (n, d)."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, reset=False)
        outputs = self.network_.predict(self.parameters_, inputs / self.x_scale_) * self.y_scale_
        return outputs[:, 0] if self._one_output else outputs


class PaperRegressor(SelectorMixin, NetworkRegressor):
    """A network that selects inputs: those whose first-layer column is not all zero."""

    def _interpret(self) -> None:
        self.support_ = selected(self.network_, self.parameters_)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_


@dataclass(kw_only=True, repr=False, eq=False)
class TwoStages(NetworkRegressor):
    """Two stages: Adam, then proximal gradient along a grid of lambda, from which BIC chooses."""

    n_second: int = Configuration.n_second
    second_batch_size: int = Configuration.second_batch_size
    n_strengths: int = Configuration.n_strengths
    first_strength: float = Configuration.first_strength
    last_strength: float = Configuration.last_strength
    start: str = Configuration.start
    likelihood: str = Configuration.likelihood
    degrees_of_freedom: str = Configuration.degrees_of_freedom

    _layer = 0

    @abstractmethod
    def _penalty(self, initial: FloatArray) -> ColumnPenalty:
        """Return the penalty, given the weights of its layer in the initial estimate."""

    def _train(self, data: Standardised, configuration: Configuration, seed: int) -> Stage:
        network: Network = self.network_
        initial = first_stage(network, data.samples, configuration, seed, self._layer)
        weights = network.layers(initial.theta)[self._layer].weights
        penalty = self._penalty(weights)
        stage, path = second_stage(network, initial, data.samples, penalty, configuration, n=data.n, seed=seed)
        self.path_: Path = path
        self.lambda_ = float(path.strengths[path.best])
        self.initial_norms_ = np.linalg.norm(weights.astype(np.float64), axis=0)
        return stage


class PenalisedRegressor(PaperRegressor, TwoStages):
    """Two stages with a penalty on the first layer, which selects inputs."""
