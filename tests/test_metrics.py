import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fewvars.problems import metrics

TRUE = np.array([1, 1, 1, 0, 0, 0, 0, 0], dtype=bool)
SELECTED = np.array([1, 1, 0, 1, 0, 0, 0, 0], dtype=bool)
GRAPH = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 0]], dtype=bool)
FOUND = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]], dtype=bool)
masks = st.integers(1, 12).flatmap(lambda d: st.tuples(*[arrays(bool, d)] * 2))


def test_sensitivity_and_specificity_by_hand():
    assert metrics.sensitivity(TRUE, SELECTED) == 2 / 3
    assert metrics.specificity(TRUE, SELECTED) == 4 / 5
    assert not metrics.exact_support(TRUE, SELECTED)
    assert metrics.exact_support(TRUE, TRUE)


@settings(deadline=None, derandomize=True)
@given(masks)
def test_specificity_is_the_sensitivity_of_the_complements(pair):
    true, selected = pair
    np.testing.assert_equal(metrics.specificity(true, selected), metrics.sensitivity(~true, ~selected))
    if 0 < true.sum() < true.size:
        perfect = metrics.sensitivity(true, selected) == 1 and metrics.specificity(true, selected) == 1
        assert perfect == metrics.exact_support(true, selected)


@settings(deadline=None, derandomize=True)
@given(masks)
def test_f1_is_the_harmonic_mean(pair):
    p, r = metrics.precision(*pair), metrics.recall(*pair)
    if p > 0 and r > 0:
        assert metrics.f1(*pair) == pytest.approx(2 / (1 / p + 1 / r))


def test_nothing_to_judge_is_nan():
    none, every = np.zeros(4, dtype=bool), np.ones(4, dtype=bool)
    assert np.isnan(metrics.sensitivity(none, every))
    assert np.isnan(metrics.specificity(every, none))
    assert np.isnan(metrics.precision(every, none))
    assert np.isnan(metrics.recall(none, every))
    assert np.isnan(metrics.f1(none, none))
    assert metrics.f1(none, every) == 0
    assert np.isnan(metrics.auroc(every, np.arange(4)))
    assert np.isnan(metrics.auroc(none, np.arange(4)))
    assert np.isnan(metrics.auprc(none, np.arange(4)))
    assert metrics.auprc(every, np.arange(4)) == 1
    assert metrics.exact_support(none, none)


def test_graph_scores_by_hand():
    assert metrics.precision(GRAPH, FOUND) == 3 / 5
    assert metrics.recall(GRAPH, FOUND) == 3 / 4
    assert metrics.structural_hamming_distance(GRAPH, FOUND) == 3
    assert metrics.precision(GRAPH, FOUND, diagonal=False) == 1 / 2
    assert metrics.recall(GRAPH, FOUND, diagonal=False) == 1 / 2
    assert metrics.structural_hamming_distance(GRAPH, FOUND, diagonal=False) == 2
    assert metrics.structural_hamming_distance(GRAPH, GRAPH) == 0


def test_a_reversed_edge_is_two_mistakes():
    edge = np.zeros((2, 2), dtype=bool)
    edge[0, 1] = True
    assert metrics.structural_hamming_distance(edge, edge.T) == 2


def test_auroc_counts_pairs_and_halves_ties():
    rng = np.random.default_rng(0)
    true, scores = rng.random(30) < 0.4, rng.integers(0, 5, 30).astype(float)
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[true] for b in scores[~true]]
    assert metrics.auroc(true, scores) == pytest.approx(np.mean(pairs))


def test_auprc_is_average_precision():
    # Ranked by score: true, false, true, false. Precision at the true ones: 1 and 2/3.
    assert metrics.auprc([True, False, True, False], [4.0, 3.0, 2.0, 1.0]) == pytest.approx(5 / 6)


def test_only_the_order_of_edge_scores_counts():
    scores = np.array([[3.0, -np.inf, 1.0], [0.5, np.inf, -np.inf], [0.2, 2.0, 0.1]])
    moved = np.array([[30, 0, 10], [4, 90, 0], [3, 20, 2]])
    for score in (metrics.auroc, metrics.auprc):
        assert score(GRAPH, scores) == score(GRAPH, moved)
        assert score(GRAPH, scores, diagonal=False) == score(GRAPH, moved, diagonal=False)
        assert score(GRAPH, scores, diagonal=False) != score(GRAPH, scores)


def test_relative_error_is_not_centred_and_the_other_is():
    rng = np.random.default_rng(0)
    y = 100 + rng.standard_normal(50)
    mean = np.full(50, y.mean())
    assert metrics.relative_error(y, mean) < 0.02
    assert metrics.centred_error(y, mean) == pytest.approx(1.0)
    prediction = y + 0.1 * rng.standard_normal(50)
    assert metrics.relative_error(y, prediction) == pytest.approx(np.sqrt(((y - prediction) ** 2).sum() / (y**2).sum()))
    r2 = 1 - ((y - prediction) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert metrics.centred_error(y, prediction) == pytest.approx(np.sqrt(1 - r2))


def test_errors_of_several_outputs_sum_their_squares():
    y, p = np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([[3.0, 1.0], [0.0, 4.0]])
    assert metrics.relative_error(y, p) == pytest.approx(1 / 5)
    assert metrics.centred_error(y, p) == pytest.approx(1 / np.sqrt(4.5 + 8))


@pytest.mark.parametrize("error", [metrics.relative_error, metrics.centred_error])
def test_errors_of_a_vanishing_truth(error):
    assert error(np.zeros(3), np.zeros(3)) == 0
    assert error(np.zeros(3), np.ones(3)) == np.inf


def test_centred_error_of_a_constant_truth():
    y = np.full(7, 0.1)  # whose mean differs in the last bit
    assert metrics.centred_error(y, y) == 0
    assert metrics.centred_error(y, y + 1e-9) == np.inf


def test_principal_angles_in_the_plane_and_in_space():
    angle = np.radians(25)
    np.testing.assert_allclose(metrics.principal_angles([1.0, 0.0], [[np.cos(angle), np.sin(angle)]]), [25.0])
    A = np.array([[1.0, 0, 0], [0, 1, 0]])
    B = np.array([[1.0, 0, 0], [0, np.cos(angle), np.sin(angle)]])
    np.testing.assert_allclose(metrics.principal_angles(A, B), [25.0, 0.0], atol=1e-12)


def test_principal_angles_depend_on_the_space_only():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((3, 10)), rng.standard_normal((2, 10))
    angles = metrics.principal_angles(A, B)
    assert angles.shape == (2,)
    np.testing.assert_allclose(metrics.principal_angles(rng.standard_normal((3, 3)) @ A, B), angles)
    np.testing.assert_allclose(metrics.principal_angles(B, np.vstack((A, A[0] + A[1]))), angles)


def test_principal_angles_with_a_scale_do_not_depend_on_units():
    rng = np.random.default_rng(0)
    A, B, scale = rng.standard_normal((2, 6)), rng.standard_normal((2, 6)), rng.uniform(0.5, 2, 6)
    units = 10.0 ** rng.integers(-3, 4, 6)
    # x measured in other units: x * units has scale * units, and A x = (A / units)(x * units).
    np.testing.assert_allclose(
        metrics.principal_angles(A / units, B / units, scale * units), metrics.principal_angles(A, B, scale)
    )
    np.testing.assert_allclose(metrics.principal_angles(A, B, scale), metrics.principal_angles(A * scale, B * scale))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.sensitivity([1, 0], [True, False]), "true must be a mask"),
        (lambda: metrics.sensitivity(TRUE, [0, 3]), "selected must be a mask"),
        (lambda: metrics.specificity(TRUE, GRAPH), "must agree"),
        (lambda: metrics.f1(np.zeros(0, bool), np.zeros(0, bool)), "empty"),
        (lambda: metrics.f1(TRUE, TRUE, diagonal=False), "square graph"),
        (lambda: metrics.auroc(TRUE, np.ones(3)), "must agree"),
        (lambda: metrics.auroc(TRUE, np.full(8, np.nan)), "nan"),
        (lambda: metrics.relative_error([1.0, 2.0], [1.0]), "the same shape"),
        (lambda: metrics.relative_error([], []), "at least one row"),
        (lambda: metrics.centred_error([1.0, np.nan], [1.0, 2.0]), "finite"),
        (lambda: metrics.principal_angles(np.ones((1, 3)), np.ones((1, 4))), "equal numbers of columns"),
        (lambda: metrics.principal_angles(np.zeros((1, 3)), np.ones((1, 3))), "nonzero row"),
        (lambda: metrics.principal_angles(np.ones((1, 3)), np.full((1, 3), np.inf)), "finite"),
        (lambda: metrics.principal_angles(np.ones((1, 3)), np.ones((1, 3)), [1, 0, 1]), "positive"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
