"""Averages of small networks, fitted by Levenberg-Marquardt in double precision."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, final

import numpy as np

from fewvars._common.kinds import array, one_of, real, require
from fewvars._common.threads import in_threads
from fewvars._common.validation import FloatArray
from fewvars._common.wording import counted
from fewvars.engine.network import Network
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import levenberg_marquardt
from fewvars.heads.head import Graph, Head
from fewvars.heads.kind import Chosen, HeadKind, HeadSettings, Trial
from fewvars.search.held_out import TIE, Scored
from fewvars.series.scaling import Scaling

_FEW_PARAMETERS = 250  # smaller networks are fitted so quickly that they use as many rows as one of this size
FEW_ROWS = 1000  # with fewer, deep networks predict no better than shallow ones
MANY_ROWS = 10_000  # with so many, a quick fit is cheap compared with the full one, even with all iterations

FEWEST_LABELS = 500  # rows with labels or counts
LIKELIHOOD_RIDGES = (1e-5, 1e-4, 1e-3, 1e-2)


@final
@dataclass(frozen=True, eq=False)
class NetworkHead(Head):
    """The mean of networks on standardised variables.

    Attributes
    ----------
    network : Network
    thetas : (networks, n_parameters)
    inputs, outputs : Scaling
    ridge : float
    """

    name: ClassVar = "network"
    noun: ClassVar = "neural network"
    stored: ClassVar = {
        "network": one_of(Network),
        "thetas": array("float", "networks", "parameters"),
        "inputs": one_of(Scaling),
        "outputs": one_of(Scaling),
        "ridge": real(least=0.0),
    }

    network: Network
    thetas: FloatArray
    inputs: Scaling
    outputs: Scaling
    ridge: float

    @property
    def n_inputs(self) -> int:
        """Number of inputs of the networks."""
        return self.network.n_inputs

    @property
    def n_outputs(self) -> int:
        """Number of outputs of the networks."""
        return self.network.n_outputs

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions (n, outputs)."""
        Z = self.inputs.apply(X)
        return self.outputs.undo(np.mean([self.network.predict(theta, Z) for theta in self.thetas], axis=0))

    def gradient(self, X: FloatArray) -> FloatArray:
        """Return derivatives (n, outputs, inputs)."""
        Z = self.inputs.apply(X)
        mean = np.mean([self.network.input_jacobian(theta, Z) for theta in self.thetas], axis=0)
        return mean * self.outputs.scale[:, None] / self.inputs.scale

    def describe(self) -> str:
        """Return how many networks there are, and their hidden layers."""
        widths = " and ".join(map(str, self.network.widths))
        layers = counted(len(self.network.widths), "hidden layer")
        return f"the average of {len(self.thetas)} neural networks with {layers} ({widths} units)"

    def export(self, graph: Graph, x: str) -> str:
        """Add the scaling, the networks and their mean."""
        # Weights are divided instead of inputs: onnxruntime would merge the scale of a single input with the product
        # that follows, and round it to single precision.
        thetas = self.thetas.copy()
        for theta in thetas:
            self.network.layers(theta)[0].weights[:] /= self.inputs.scale
        centred = graph.add("Sub", x, graph.numbers(self.inputs.mean))
        scaled = graph.add("Mul", graph.networks(centred, self.network, thetas), graph.numbers(self.outputs.scale))
        return graph.add("Add", scaled, graph.numbers(self.outputs.mean))

    def check(self) -> None:
        """Raise ValueError unless the parameters and scalings fit the network."""
        check_parameters("NetworkHead.thetas", self.network, self.thetas.shape[1])
        require(len(self.thetas) > 0, "NetworkHead.thetas is empty")
        require(self.inputs.mean.size == self.network.n_inputs, "NetworkHead.inputs does not fit the network")
        require(self.outputs.mean.size == self.network.n_outputs, "NetworkHead.outputs does not fit the network")


def n_parameters(n_inputs: int, widths: Sequence[int], n_outputs: int) -> int:
    """Return the length of a parameter vector in Python's integers: forged widths must not overflow."""
    return sum((before + 1) * after for before, after in pairwise([n_inputs, *widths, n_outputs]))


def check_parameters(name: str, network: Network, length: int) -> None:
    """Raise ValueError unless a parameter vector of this length fits the network."""
    needed = n_parameters(network.n_inputs, network.widths, network.n_outputs)
    require(length == needed, f"{name} has {length} parameters: the network needs {needed}")


@final
@dataclass(frozen=True)
class Networks(HeadKind):
    """Networks of a few shapes and ridges, averaged over `n_networks` starts.

    Attributes
    ----------
    widths : the hidden layers to compare
    ridges : from small to large
    max_iterations : int
        Of Levenberg-Marquardt.
    n_networks : int
    rows_per_parameter : int
        Of many rows (times outputs), each network sees only every second, third, ..., so that there are about so many
        for each of its parameters; at first only a quarter of them. Different networks start at different rows, so
        that their average has seen all of them, or nearly.
    """

    head: ClassVar = NetworkHead

    widths: tuple[tuple[int, ...], ...] = ((10,), (10, 10, 10))
    ridges: tuple[float, ...] = (1e-6, 1e-5, 1e-4, 1e-3)
    max_iterations: int = 60
    n_networks: int = 8
    rows_per_parameter: int = 40
    settings: HeadSettings = field(default_factory=HeadSettings)

    @classmethod
    def of(cls, settings: HeadSettings) -> "Networks":
        """Use the activation, the seed and the threads of the settings; labels and counts need stronger ridges."""
        return cls(settings=settings) if settings.loss.measured else cls(ridges=LIKELIHOOD_RIDGES, settings=settings)

    def suits(self, X: FloatArray, y: FloatArray) -> bool:
        """Return whether there are enough rows: with few labels, networks separate the classes by chance."""
        return self.settings.loss.measured or len(X) >= FEWEST_LABELS

    def choose(self, trial: Trial, rival: Scored | None = None) -> Chosen:
        """Return the best widths at the middle ridge, with the smallest ridge not worse than the best.

        What one network gains by a larger ridge, the average over networks has already. If the rival is better by
        more than a tie, other ridges are not tried. If its error is less than a tenth of that of the first widths, or
        significantly less and rows are few, the other widths are not tried either: they rarely gain that much.
        """
        middle, mean = self.ridges[len(self.ridges) // 2], trial.held_out.mean
        tried = self._quickly_scored(trial, [(self.widths[0], middle)])
        if rival is None or not self._hopeless(trial, tried[0].errors, rival.errors):
            tried += self._quickly_scored(trial, [(widths, middle) for widths in self.widths[1:]])
        best = min(range(len(tried)), key=lambda k: mean(tried[k].errors))
        widths, by_ridge = self.widths[best], {middle: tried[best]}
        if rival is not None and trial.held_out.better(rival.errors, tried[best].errors, TIE):
            return self._chosen(trial, widths, middle, tried[best])
        others = [ridge for ridge in self.ridges if ridge != middle]
        more = self._quickly_scored(trial, [(widths, ridge) for ridge in others], tried[best].models)
        by_ridge.update(zip(others, more, strict=True))
        reference = min((scored.errors for scored in by_ridge.values()), key=mean)
        ridge = min(ridge for ridge, scored in by_ridge.items() if trial.held_out.not_worse(scored.errors, reference))
        return self._chosen(trial, widths, ridge, by_ridge[ridge])

    def _hopeless(self, trial: Trial, errors: FloatArray, rival: FloatArray) -> bool:
        """Return whether the rival is so much better than the first widths that no others will beat it."""
        typical, better = trial.held_out.typical, trial.held_out.better
        return typical(errors) >= 10 * typical(rival) or (len(trial.X) < FEW_ROWS and better(rival, errors))

    def _chosen(self, trial: Trial, widths: tuple[int, ...], ridge: float, scored: Scored) -> Chosen:
        """Return how networks are fitted with a ridge that was chosen by quick fits.

        The best ridge falls with the number of rows, like the variance that it prevents. Where a quick fit sees a
        smaller share of the rows than all networks together, the ridge is reduced by as much.
        """
        size = n_parameters(trial.X.shape[1], widths, trial.y.shape[1])
        (train, _), *_ = trial.held_out.splits
        seen = self._quick(trial).share_seen(trial.y.shape[1] * np.count_nonzero(trial.weight[train]), size)

        def fit(kind: Networks, X: FloatArray, y: FloatArray, weight: FloatArray) -> NetworkHead:
            share = kind.share_seen(y.shape[1] * np.count_nonzero(weight), size)
            return kind.fit(X, y, weight, widths=widths, ridge=ridge * seen / share)

        return Chosen(partial(fit, self), scored, quick=True, rough=partial(fit, replace(self, n_networks=3)))

    def _quick(self, trial: Trial) -> "Networks":
        """Return how single networks are fitted quickly, to compare widths and ridges."""
        return replace(
            self,
            n_networks=1,
            max_iterations=self.max_iterations if len(trial.X) >= MANY_ROWS else self.max_iterations // 2,
            rows_per_parameter=self.rows_per_parameter // 2,
            settings=replace(self.settings, n_jobs=1),
        )

    def _quickly_scored(
        self, trial: Trial, shapes: list[tuple[tuple[int, ...], float]], starts: Sequence[NetworkHead] | None = None
    ) -> list[Scored]:
        """Score single networks of these widths and ridges, quickly fitted; `starts` holds one head for each split."""
        quick, X, y, weight = self._quick(trial), trial.X, trial.y, trial.weight

        def scored(shape: tuple[tuple[int, ...], float]) -> Scored:
            def fit(split: int, train: np.ndarray) -> NetworkHead:
                start = None if starts is None else starts[split].thetas
                return quick.fit(X[train], y[train], weight[train], widths=shape[0], ridge=shape[1], start=start)

            return trial.score_splits(fit)

        return in_threads(scored, shapes, self.settings.n_jobs)

    def fit(
        self,
        X: FloatArray,
        y: FloatArray,
        weight: FloatArray,
        *,
        widths: tuple[int, ...],
        ridge: float,
        start: FloatArray | None = None,
    ) -> NetworkHead:
        """Fit networks of one shape from several random starts; of many rows, from `start` (networks, parameters).

        Ridges are compared from the same start; otherwise the luck of the start would decide.
        """
        network = Network(X.shape[1], widths, y.shape[1], self.settings.activation)
        loss = self.settings.loss
        inputs, targets = Scaling.of(X, weight), Scaling.under(loss, y, weight)
        samples = Samples.of(inputs.apply(X), targets.apply(y), weight, loss=loss.in_units(targets.scale))
        stages = self._stages(y.shape[1] * np.count_nonzero(weight), network.n_parameters)
        if start is None or len(stages) == 1:
            start = np.array([network.initialise(self.settings.seed + k) for k in range(self.n_networks)])

        def theta(k: int, theta: FloatArray) -> FloatArray:
            for every, options in stages:
                seen = _every(samples, every, k)
                theta = levenberg_marquardt(network, seen, theta=theta, ridge=ridge, **options).theta
            self.settings.on_fit()
            return theta

        thetas = in_threads(lambda numbered: theta(*numbered), list(enumerate(start)), self.settings.n_jobs)
        return NetworkHead(network, np.array(thetas), inputs, targets.of_predictions(loss), ridge)

    def share_seen(self, n_targets: int, n_parameters: int) -> float:
        """Return the share of the rows that all networks see together in the last run of the solver."""
        every, _ = self._stages(n_targets, n_parameters)[-1]
        return min(1.0, self.n_networks / every)

    def _stages(self, n_targets: int, n_parameters: int) -> list[tuple[int, dict[str, Any]]]:
        """Return the runs of the solver, each with the share of the rows that it uses and its options.

        With many rows, a first run on few of them does most of the work. Damping that changes slowly then saves
        iterations: more steps are tried in each, but they cost little compared with the Jacobian.
        """
        enough = self.rows_per_parameter * max(n_parameters, _FEW_PARAMETERS)
        first, last = (max(1, int(n_targets / rows)) for rows in (enough / 4, enough))
        if first == 1:
            return [(1, {"max_iterations": self.max_iterations})]
        quarter = self.max_iterations // 4
        return [
            (first, {"max_iterations": self.max_iterations - quarter, "damping_factor": 2.0}),
            (last, {"max_iterations": quarter, "damping_factor": 2.0}),
        ]


def _every(samples: Samples, every: int, first: int) -> Samples:
    """Keep one in `every` rows of positive weight, starting with row `first` of them."""
    return samples if every == 1 else samples.rows(np.flatnonzero(samples.weights)[first % every :: every])
