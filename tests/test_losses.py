"""Losses: derivatives, curvatures and null models against their definitions, and the kernels against the classes."""

import numpy as np
import pytest

from fewvars.engine.kernels import losses as kernels
from fewvars.engine.losses import SQUARED, CrossEntropy, Huber, Loss, Poisson
from fewvars.engine.network import Network
from fewvars.engine.samples import Samples
from fewvars.engine.solvers import Outcome, Trainer

LOSSES = {
    "squared error": (SQUARED, 3),
    "Huber": (Huber(0.5), 3),
    "Poisson": (Poisson(), 3),
    "two classes": (CrossEntropy(), 1),
    "three classes": (CrossEntropy(), 3),
}
losses = pytest.mark.parametrize(("loss", "outputs"), LOSSES.values(), ids=LOSSES.keys())


def _rows(loss, outputs, n=9, seed=0):
    """Predictions and targets (n, outputs) of a kind that suits the loss, and weights (n,)."""
    rng = np.random.default_rng(seed)
    predicted, Y, weights = rng.normal(size=(n, outputs)), rng.normal(size=(n, outputs)), rng.uniform(0.1, 2.0, n)
    if isinstance(loss, Poisson):
        Y = rng.poisson(1.5, size=(n, outputs)).astype(float)
    elif isinstance(loss, CrossEntropy):
        labels = np.arange(n) % (outputs + (outputs == 1))
        Y = (labels[:, None] == np.arange(outputs)).astype(float)
    return predicted, Y, weights


def _moved(predicted, output, step):
    moved = predicted.copy()
    moved[:, output] += step
    return moved


@losses
def test_derivatives_and_curvatures_are_those_of_the_values(loss, outputs):
    predicted, Y, _ = _rows(loss, outputs)
    step = 1e-4
    for c in range(predicted.shape[1]):
        up, here, down = (loss.values(_moved(predicted, c, d), Y) for d in (step, 0.0, -step))
        # A central difference errs by step^2, and rounding adds 1e-16 / step and 1e-16 / step^2.
        np.testing.assert_allclose(loss.derivatives(predicted, Y)[:, c], (up - down) / (2 * step), atol=1e-6)
        assert (loss.curvatures(predicted, Y)[:, c] >= (up - 2 * here + down) / step**2 - 1e-6).all()
    assert (loss.curvatures(predicted, Y) > 0).all()


def test_curvatures_of_several_classes_bound_the_whole_second_derivative():
    rng = np.random.default_rng(0)
    predicted = rng.standard_normal((200, 4)) * np.geomspace(0.1, 20, 200)[:, None]  # from even to nearly certain
    p = CrossEntropy().mean(predicted)
    second = np.einsum("ij,jk->ijk", p, np.eye(4)) - np.einsum("ij,ik->ijk", p, p)
    bound = np.einsum("ij,jk->ijk", CrossEntropy().curvatures(predicted, p), np.eye(4))
    assert np.linalg.eigvalsh(bound - second).min() > -1e-12


@losses
def test_no_constant_beats_the_null_model(loss, outputs):
    _, Y, weights = _rows(loss, outputs)
    samples = Samples.of(np.ones((len(Y), 1)), Y, weights, loss=loss)
    constant = loss.null_model(samples.Y, samples.weights)
    best = samples.mean_loss(np.broadcast_to(constant, Y.shape))
    assert samples.null_loss() == pytest.approx(best, rel=1e-12)
    rng = np.random.default_rng(1)
    for scale in (1e-6, 1e-2, 1.0):
        rival = np.broadcast_to(constant + scale * rng.normal(size=constant.shape), Y.shape)
        assert samples.mean_loss(rival) >= best


@losses
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_kernel_computes_the_loss_and_its_derivative(loss, outputs, dtype):
    predicted, Y, weights = (a.astype(dtype) for a in _rows(loss, outputs))
    deltas = np.full((outputs, 9), np.nan, dtype)
    total = kernels.output_error(
        loss.compiled, np.ascontiguousarray(predicted.T), np.ascontiguousarray(Y.T), weights, 0.5, deltas
    )
    tolerance = 20 * float(np.finfo(dtype).eps)
    assert total == pytest.approx(weights @ loss.values(predicted, Y), rel=tolerance)
    expected = 0.5 * weights[:, None] * loss.derivatives(predicted, Y)
    np.testing.assert_allclose(deltas.T, expected, rtol=tolerance, atol=tolerance)


def test_squared_error_by_hand():
    predicted, Y = np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([[0.0, 4.0], [3.0, 0.0]])
    np.testing.assert_array_equal(SQUARED.values(predicted, Y), [5.0, 9.0])
    np.testing.assert_array_equal(SQUARED.derivatives(predicted, Y), [[2.0, -4.0], [-6.0, 0.0]])
    np.testing.assert_array_equal(SQUARED.null_model(Y, np.array([1.0, 3.0])), [2.25, 1.0])


class _Unknown(Loss):
    code = -1
    values = derivatives = curvatures = null_model = null_loss = None


def test_the_loss_stays_with_the_samples():
    rng = np.random.default_rng(0)
    samples = Samples.of(rng.normal(size=(20, 2)), rng.normal(size=20), loss=_Unknown())
    for same in (samples.astype(np.float32), samples.columns([0]), samples.rows(np.arange(9)), samples.for_jacobian(1)):
        assert same.loss is samples.loss
    # The kernels know no loss of this code, and do not take it for another.
    network = Network(2, (3,))
    trainer = Trainer(network, network.initialise(0), samples)
    assert len(trainer.adam(np.full(5, 0.01))) == 0
    assert trainer.outcome is Outcome.DIVERGED
