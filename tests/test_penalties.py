"""Penalties: prox, weights, critical strength and optimality against their definitions."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize

from fewvars.engine.penalties import InputGroups, SecondLayerColumns, SingularValues, group_labels, significant

ENTRIES = st.floats(-8.0, 8.0, allow_subnormal=False).map(lambda x: round(x, 6))
STRENGTHS = st.floats(0.01, 20.0)


def matrices(rows=(1, 4), columns=(1, 5)):
    shapes = st.tuples(st.integers(*rows), st.integers(*columns))
    return shapes.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=ENTRIES))


def _groups(W):
    return InputGroups.of(W.shape[1], np.arange(W.shape[1]) // 2)


def _adaptive_groups(W):
    return _groups(W).adaptive(np.random.default_rng(W.size).uniform(0.3, 2.0, W.shape))


def _adaptive_values(W):
    return _values(W).adaptive(np.random.default_rng(W.size).normal(size=W.shape), floor=0.1)


def _values(W):
    return SingularValues.of(*W.shape)


def _second_layer(W):
    return SecondLayerColumns.of(W.shape[1])


CONVEX = {
    "groups": _groups,
    "adaptive groups": _adaptive_groups,
    "second-layer columns": _second_layer,
    "singular values": _values,
}
ALL = CONVEX | {"adaptive singular values": _adaptive_values}
COLUMNS = {name: make for name, make in CONVEX.items() if name != "singular values"}


def cases(penalties):
    return pytest.mark.parametrize("make", penalties.values(), ids=penalties.keys())


def _objective(penalty, W, tau):
    """Return the function that the prox minimises."""
    return lambda V: tau * penalty.value(V.reshape(W.shape)) + 0.5 * ((V.reshape(W.shape) - W) ** 2).sum()


# Prox


@cases(ALL)
@given(W=matrices(), tau=STRENGTHS, seed=st.integers(0, 2**32 - 1))
def test_nothing_beats_the_prox(make, W, tau, seed):
    penalty, rng = make(W), np.random.default_rng(seed)
    V = penalty.prox(W, tau)
    objective = _objective(penalty, W, tau)
    best = objective(V)
    rivals = [W, np.zeros_like(W), 0.5 * W]
    rivals += [V + scale * rng.normal(size=W.shape) for scale in 10.0 ** np.arange(-6, 2) for _ in range(3)]
    # The values are sums of some twenty terms, each rounded.
    assert best <= min(map(objective, rivals)) + 1e-12 * (1.0 + abs(best))


@cases(ALL)
@pytest.mark.parametrize("tau", [0.05, 0.4, 1.5])
def test_numerical_minimisation_finds_nothing_better(make, tau):
    rng = np.random.default_rng(0)
    W = rng.normal(size=(2, 2))
    penalty = make(W)
    V, objective = penalty.prox(W, tau), _objective(penalty, W, tau)
    starts = [W, V, *rng.normal(size=(3, 2, 2))]
    options = {"xatol": 1e-7, "fatol": 1e-13, "maxiter": 1000, "maxfev": 1000}
    found = [optimize.minimize(objective, start.ravel(), method="Nelder-Mead", options=options) for start in starts]
    best = min(found, key=lambda result: result.fun)
    assert objective(V) <= best.fun + 1e-12
    # Nelder-Mead gets to within the root of its tolerance, and slows down at the kinks.
    np.testing.assert_allclose(best.x.reshape(2, 2), V, atol=1e-3)


@cases(CONVEX)
@given(W=matrices(), tau=STRENGTHS)
def test_the_prox_is_stationary(make, W, tau):
    penalty = make(W)
    V = penalty.prox(W, tau)
    # The smooth part 1/2 |V - W|^2 has gradient V - W. Rounding is relative to the numbers that cancel.
    assert penalty.subdifferential_distance(V, V - W, tau) <= 1e-9 * (1.0 + np.abs(W).sum())


@cases(ALL)
@given(W=matrices())
def test_no_strength_changes_nothing(make, W):
    np.testing.assert_allclose(make(W).prox(W, 0.0), W, atol=1e-13)


@cases(CONVEX)
@given(pair=matrices().flatmap(lambda W: st.tuples(st.just(W), hnp.arrays(float, W.shape, elements=ENTRIES))),
       tau=STRENGTHS)  # fmt: skip
def test_convex_penalties_have_non_expansive_proxes(make, pair, tau):
    W, V = pair
    penalty = make(W)
    moved = np.linalg.norm(penalty.prox(W, tau) - penalty.prox(V, tau))
    assert moved <= np.linalg.norm(W - V) * (1.0 + 1e-12) + 1e-12


def test_adaptive_singular_values_are_not_non_expansive():
    # The larger singular value is barely thresholded and the smaller one is killed, so swapping which
    # of two near-equal ones is larger moves the prox further than the matrix.
    penalty = SingularValues(np.array([0.0, 1.0]))
    W, V = np.diag([1.0, 0.99]), np.diag([0.99, 1.0])
    assert np.linalg.norm(penalty.prox(W, 1.0) - penalty.prox(V, 1.0)) > 10 * np.linalg.norm(W - V)
    assert not penalty.convex
    assert SingularValues.of(2, 2).convex


@cases(ALL)
@given(
    pair=matrices(rows=(2, 4), columns=(2, 5)).flatmap(
        lambda W: st.tuples(st.just(W), hnp.arrays(float, W.shape, elements=ENTRIES))
    )
)
def test_penalties_that_say_so_are_convex(make, pair):
    W, V = pair
    penalty = make(W)
    assert penalty.convex == (make is not _adaptive_values)
    middle, ends = penalty.value((W + V) / 2), (penalty.value(W) + penalty.value(V)) / 2
    assert not penalty.convex or middle <= ends * (1 + 1e-12) + 1e-12


@cases(COLUMNS)
@given(W=matrices(columns=(2, 5)), tau=STRENGTHS)
def test_columns_die_exactly_below_the_threshold(make, W, tau):
    penalty = make(W)
    norms, thresholds = penalty.norms(W), tau * penalty.weights
    V = penalty.prox(W, tau)
    dead = (norms <= thresholds)[penalty.labels]
    np.testing.assert_array_equal(V[:, dead], 0.0)
    np.testing.assert_array_equal(penalty.support(V), ~dead & (norms > 0)[penalty.labels])
    assert not penalty.prox(W, (norms / penalty.weights).max() * (1.0 + 1e-15)).any()


@cases(ALL)
@given(W=matrices(), tau=STRENGTHS)
def test_the_prox_only_takes_away(make, W, tau):
    penalty = make(W)
    once = penalty.prox(W, tau)
    twice = penalty.prox(once, tau)
    assert np.linalg.norm(once) <= np.linalg.norm(W) * (1.0 + 1e-12)
    assert (penalty.support(twice) <= penalty.support(once)).all()
    assert (penalty.support(once) <= penalty.support(W)).all()


@cases(ALL)
@given(W=matrices(columns=(2, 5)), tau=STRENGTHS)
def test_a_prox_of_strength_zero_keeps_the_support(make, W, tau):
    penalty = make(W)
    V = penalty.prox(W, tau)
    np.testing.assert_array_equal(penalty.support(penalty.prox(V, 0.0)), penalty.support(V))


@given(W=matrices(columns=(2, 5)), tau=STRENGTHS, seed=st.integers(0, 1000))
def test_groups_follow_a_permutation_of_the_columns(W, tau, seed):
    d = W.shape[1]
    order = np.random.default_rng(seed).permutation(d)
    labels, weights = np.arange(d) // 2, 1.0 + np.arange((d + 1) // 2)
    frozen = np.zeros(weights.size, bool)
    here, there = InputGroups(labels, weights, frozen), InputGroups(labels[order], weights, frozen)
    np.testing.assert_allclose(there.prox(W[:, order], tau), here.prox(W, tau)[:, order], rtol=1e-12)
    np.testing.assert_allclose(there.value(W[:, order]), here.value(W), rtol=1e-12)
    np.testing.assert_array_equal(there.support(W[:, order]), here.support(W)[order])


@pytest.mark.parametrize("make", [_values, _adaptive_values], ids=["equal", "adaptive"])
@given(W=matrices(columns=(2, 5)), tau=STRENGTHS, seed=st.integers(0, 1000))
def test_singular_values_follow_rotations(make, W, tau, seed):
    # A permutation of the columns is one of them. Equal singular values leave the order open, so none here.
    s = np.linalg.svd(W, compute_uv=False)
    assume(s.size == 1 or (s[:-1] - s[1:]).min() > 1e-3)
    d = W.shape[1]
    rotation, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))
    order, penalty = np.random.default_rng(seed).permutation(d), make(W)
    # Thresholds differ by up to tau * 100, and rotate with singular vectors known to 1e-16 / gap.
    tolerance = 1e-9 * (1.0 + tau)
    expected = penalty.prox(W, tau)
    np.testing.assert_allclose(penalty.prox(W @ rotation, tau), expected @ rotation, atol=tolerance)
    np.testing.assert_allclose(penalty.prox(W[:, order], tau), expected[:, order], atol=tolerance)
    np.testing.assert_allclose(penalty.value(W @ rotation), penalty.value(W), rtol=1e-9)


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [0.5, 1.0, 4.0], [0.0, 0.0, 10.0]], ids=str)
@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (4, 3)])
def test_singular_values_are_thresholded_one_by_one(shape, weights):
    rng = np.random.default_rng(1)
    U, _ = np.linalg.qr(rng.normal(size=(shape[0], 3)))
    V, _ = np.linalg.qr(rng.normal(size=(shape[1], 3)))
    s = np.array([3.0, 1.5, 0.7])
    penalty = SingularValues(np.array(weights))
    W = (U * s) @ V.T
    np.testing.assert_allclose(penalty.value(W), s @ weights, rtol=1e-13)
    for tau in (0.1, 0.5, 2.0):
        expected = (U * np.maximum(s - tau * np.array(weights), 0.0)) @ V.T
        np.testing.assert_allclose(penalty.prox(W, tau), expected, atol=1e-13)


@cases(ALL)
def test_the_precision_of_the_weights_is_kept(make):
    W = np.random.default_rng(0).normal(size=(4, 6))
    penalty, single = make(W), W.astype(np.float32)
    found = penalty.prox(single, 0.3)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, penalty.prox(W, 0.3), atol=2e-6)
    np.testing.assert_allclose(penalty.value(single), penalty.value(W), rtol=1e-6)
    weights = penalty.adaptive(single).weights
    assert weights.dtype == np.float64
    # 1 / s^2 doubles the relative error, and that of a small singular value is the largest one's.
    np.testing.assert_allclose(weights, penalty.adaptive(W).weights, rtol=1e-4)


@cases(ALL)
def test_only_groups_have_a_compiled_prox(make):
    W = np.random.default_rng(0).normal(size=(4, 6))
    penalty = make(W)
    compiled = penalty.compiled_prox(0.3)
    if isinstance(penalty, SingularValues):
        assert compiled is None
    else:
        np.testing.assert_array_equal(compiled.labels, penalty.labels)
        np.testing.assert_array_equal(compiled.thresholds, 0.3 * penalty.weights)


def test_significant_singular_values():
    values = np.array([[2.0, 1.0, 3e-4, 1e-4], [1e-9, 5e-14, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(significant(values).sum(axis=1), [3, 1, 0])
    np.testing.assert_array_equal(significant(values[0]), [True, True, True, False])


# Values and adaptive weights


def test_values_by_hand():
    W = np.array([[3.0, 0.0, 1.0], [4.0, 0.0, 0.0]])
    assert InputGroups.of(3).value(W) == pytest.approx(5.0 + 0.0 + 1.0)
    assert InputGroups.of(3, [[0, 1], [2]]).value(W) == pytest.approx(np.sqrt(2) * 5.0 + 1.0)
    assert SecondLayerColumns.of(3).value(W) == pytest.approx(6.0)
    assert SingularValues.of(3, 2).value(W) == pytest.approx(np.linalg.norm(W, "nuc"))
    np.testing.assert_array_equal(InputGroups.of(3).support(W), [True, False, True])


@cases({"groups": _groups, "second-layer columns": _second_layer, "singular values": _values})
@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
def test_adaptive_weights_by_hand(make, gamma):
    W = np.random.default_rng(0).normal(size=(3, 4))
    penalty = make(W)
    norms = np.linalg.svd(W, compute_uv=False) if make is _values else penalty.norms(W)
    np.testing.assert_allclose(penalty.adaptive(W, gamma=gamma).weights, norms**-gamma, rtol=1e-12)


@cases(ALL)
@pytest.mark.parametrize("gamma", [0.1, 2.0, 60.0])
@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e-10, 1.0, 1e100])
def test_adaptive_weights_are_finite_and_positive(make, gamma, scale):
    W = np.random.default_rng(0).normal(size=(3, 4)) * scale
    W[:, 1] = 0.0
    penalty = make(np.ones((3, 4))).adaptive(W, gamma=gamma)
    assert np.isfinite(penalty.weights).all()
    assert (penalty.weights > 0).all()
    for V in (W, np.zeros((3, 4))):
        assert np.isfinite(penalty.value(V))
        assert np.isfinite(penalty.prox(V, 0.1)).all()


@cases({"groups": _groups, "second-layer columns": _second_layer})
@pytest.mark.parametrize("strength", [0.0, 1e-12, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_zero_column_stays_zero(make, strength, dtype):
    rng = np.random.default_rng(0)
    initial = rng.normal(size=(3, 4))
    initial[:, 2:] = 0.0
    penalty = make(initial).adaptive(initial)
    moved = (initial + 0.1 * rng.normal(size=(3, 4))).astype(dtype)
    found = penalty.prox(moved, strength)
    np.testing.assert_array_equal(found[:, 2:], 0.0)
    assert found[:, :2].any() or strength == 1.0
    assert np.isinf(penalty.thresholds(strength)[penalty.frozen]).all()
    assert np.isfinite(penalty.thresholds(strength)[~penalty.frozen]).all()
    # A frozen column does not count against stationarity.
    G = np.zeros((3, 4))
    G[:, 2:] = 1e6
    assert penalty.subdifferential_distance(np.zeros((3, 4)), G, 0.0) == 0.0


# Critical strength and the distance to the subdifferential


@cases(ALL)
@given(G=matrices())
def test_zero_is_stationary_from_the_critical_strength_on(make, G):
    penalty = make(G)
    norms = np.linalg.svd(G, compute_uv=False) if isinstance(penalty, SingularValues) else penalty.norms(G)
    critical = (norms / penalty.weights).max()
    assume(critical > 1e-3)
    zero = np.zeros_like(G)
    above, below = 1.0001 * critical, 0.9999 * critical
    # What a proximal step of size one from zero makes of it.
    assert not penalty.prox(zero - G, above).any()
    assert penalty.prox(zero - G, below).any()
    if make is not _adaptive_values:
        assert penalty.subdifferential_distance(zero, G, above) == 0.0
        assert penalty.subdifferential_distance(zero, G, below) > 0.0


def _nearest_in_a_ball(G, radius, norm):
    """Return min |G + Z|_F over norm(Z) <= radius, numerically."""
    best = optimize.minimize(
        lambda z: ((G + z.reshape(G.shape)) ** 2).sum(),
        np.zeros(G.size),
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda z: radius - norm(z.reshape(G.shape))},
        options={"ftol": 1e-12, "maxiter": 100},
    )
    return np.sqrt(best.fun)


@pytest.mark.parametrize("strength", [0.1, 0.7, 3.0])
def test_distance_of_groups_by_minimisation(strength):
    rng = np.random.default_rng(2)
    W, G = rng.normal(size=(2, 5)), rng.normal(size=(2, 5))
    W[:, [1, 2, 4]] = 0.0
    penalty = InputGroups.of(5, [[0], [1, 2], [3], [4]])
    parts = []
    for g in range(4):
        members = penalty.labels == g
        Wg, Gg, pull = W[:, members], G[:, members], strength * penalty.weights[g]
        if Wg.any():
            parts.append(np.linalg.norm(Gg + pull * Wg / np.linalg.norm(Wg)))
        else:
            parts.append(_nearest_in_a_ball(Gg, pull, np.linalg.norm))
    # SLSQP reaches half the digits of its tolerance.
    assert penalty.subdifferential_distance(W, G, strength) == pytest.approx(np.linalg.norm(parts), abs=1e-5)


@pytest.mark.parametrize("strength", [0.1, 0.7, 3.0])
@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("shape", [(2, 3), (3, 3)])
def test_distance_of_singular_values_by_minimisation(shape, rank, strength):
    rng = np.random.default_rng(3)
    W = rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))
    G = rng.normal(size=shape)
    U, _, Vt = np.linalg.svd(W)
    inner, outer_left, outer_right = U[:, :rank] @ Vt[:rank], U[:, rank:], Vt[rank:]
    # The subdifferential is U V^T + M, with M outside of both spaces and of spectral norm one at most.
    fixed = G + strength * inner
    outside = outer_left.T @ fixed @ outer_right.T
    inside = fixed - outer_left @ outside @ outer_right
    excess = _nearest_in_a_ball(outside, strength, lambda Z: np.linalg.norm(Z, 2)) if outside.size else 0.0
    expected = np.hypot(np.linalg.norm(inside), excess)
    # The spectral norm has kinks, which cost SLSQP more digits than a smooth constraint.
    assert SingularValues.of(*shape).subdifferential_distance(W, G, strength) == pytest.approx(expected, abs=1e-4)


@cases(CONVEX)
@given(W=matrices(), tau=STRENGTHS, seed=st.integers(0, 1000))
def test_distance_is_the_limit_of_the_proximal_step(make, W, tau, seed):
    penalty = make(W)
    V = penalty.prox(W, tau)
    # A group or singular value within a step of zero, but not zero, has not reached the limit yet.
    s = np.linalg.svd(V, compute_uv=False) if make is _values else penalty.norms(V)
    assume(((s == 0) | (s > 0.1)).all() if make is not _values else ((s < 1e-12) | (s > 0.1)).all())
    G, step = np.random.default_rng(seed).normal(size=W.shape), 1e-6
    moved = np.linalg.norm(V - penalty.prox(V - step * G, step)) / step
    # The error is the step times a curvature of up to 1 / 0.1, and rounding 1e-16 |V| / step.
    assert penalty.subdifferential_distance(V, G, 1.0) == pytest.approx(moved, rel=2e-3, abs=1e-3)


def test_the_distance_of_adaptive_singular_values_is_refused():
    with pytest.raises(ValueError, match="the weights differ"):
        SingularValues(np.array([1.0, 2.0])).subdifferential_distance(np.eye(2), np.eye(2), 1.0)


# Groups


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (None, [0, 1, 2, 3]),
        ([0, 0, 1, 1], [0, 0, 1, 1]),
        (np.array([7, 3, 7, 5]), [2, 0, 2, 1]),
        (["b", "a", "a", "b"], [1, 0, 0, 1]),
        ([[0, 2], [1], [3]], [0, 1, 0, 2]),
        ([(3,), {0, 1}, range(2, 3)], [1, 1, 2, 0]),
        (np.array([[3, 1], [0, 2]]), [1, 0, 1, 0]),
        ([[], [0, 1, 2, 3]], [0, 0, 0, 0]),
    ],
    ids=str,
)
def test_groups_from_labels_and_from_lists(groups, expected):
    np.testing.assert_array_equal(group_labels(groups, 4), expected)
    penalty = InputGroups.of(4, groups)
    np.testing.assert_allclose(penalty.weights, np.sqrt(np.bincount(expected)))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([0, 0, 1], "groups has 3 labels: give one for each of the 4 inputs"),
        ([[0, 1], [1, 2, 3]], "groups overlap: input 1"),
        ([[0, 1], [3]], "groups leave out input 2"),
        ([[0, 1, 2, 3, 4]], "groups contains input 4"),
        ([[0, 1, 2, -1]], "groups contains input -1"),
        ([[0, 1.5], [2, 3]], "groups contains input 1.5"),
        ([], "groups has 0 labels"),
        (5, "groups=5: give one label for each of the 4 inputs, or lists of inputs"),
        ("abcd", "groups='abcd': give one label"),
        ([[0, 1], 2, [3]], "groups mixes lists with 2: put a single input in a list"),
    ],
    ids=str,
)
def test_bad_groups(groups, message):
    with pytest.raises(ValueError, match=message):
        InputGroups.of(4, groups)
    with pytest.raises(ValueError, match=f"^feature_{message}"):
        group_labels(groups, 4, name="feature_groups")


@given(W=matrices(columns=(2, 5)), tau=STRENGTHS, seed=st.integers(0, 1000))
def test_a_restricted_penalty_is_the_same_on_its_columns(W, tau, seed):
    penalty = _adaptive_groups(W)
    # Groups are kept or dropped as a whole, as columns die.
    alive_groups = np.random.default_rng(seed).random(penalty.weights.size) < 0.5
    assume(alive_groups.any())
    kept = alive_groups[penalty.labels]
    rest = penalty.restrict(kept)
    alone = np.where(kept, W, 0.0)
    assert rest.value(W[:, kept]) == pytest.approx(penalty.value(alone))
    np.testing.assert_allclose(rest.prox(W[:, kept], tau), penalty.prox(W, tau)[:, kept], rtol=1e-12)
    assert rest.weights.size == rest.frozen.size == alive_groups.sum()


def test_a_restricted_penalty_keeps_its_frozen_groups():
    penalty = InputGroups(np.array([0, 1, 1, 2]), np.array([1.0, 2.0, 3.0]), np.array([False, True, False]))
    rest = penalty.restrict(np.array([False, True, True, True]))
    np.testing.assert_array_equal(rest.labels, [0, 0, 1])
    np.testing.assert_array_equal(rest.weights, [2.0, 3.0])
    np.testing.assert_array_equal(rest.frozen, [True, False])


# Bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: InputGroups.of(0), "n_inputs=0"),
        (lambda: InputGroups.of(2.5), "n_inputs=2.5"),
        (lambda: SecondLayerColumns.of(-1), "width=-1"),
        (lambda: SingularValues.of(3, 0), "width=0"),
        (lambda: SingularValues.of("3", 2), "n_inputs='3'"),
        (lambda: SingularValues(np.array([2.0, 1.0])), r"weights=\[2. 1.\].*do not decrease"),
        (lambda: SingularValues(np.array([1.0, np.inf])), "weights=.*finite"),
        (lambda: SingularValues(np.array([-1.0, 1.0])), "weights=.*non-negative"),
        (lambda: InputGroups.of(3).value(np.ones((2, 4))), r"W has shape \(2, 4\).*3 columns"),
        (lambda: InputGroups.of(3).prox(np.ones(3), 1.0), r"W has shape \(3,\)"),
        (lambda: SingularValues.of(3, 2).prox(np.ones((3, 3)), 1.0), r"W has shape \(3, 3\).*2 singular"),
        (lambda: InputGroups.of(3).adaptive(np.ones((2, 3)), gamma=0.0), "gamma=0.0"),
        (lambda: InputGroups.of(3).adaptive(np.ones((2, 3)), floor=-1e-8), "floor=-1e-08"),
        (lambda: SingularValues.of(3, 2).adaptive(np.ones((2, 3)), gamma=np.nan), "gamma=nan"),
        (lambda: SingularValues.of(3, 2).adaptive(np.ones((2, 3)), floor=0), "floor=0"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
