import pickle

import numpy as np
import pytest

from fewvars.problems.systems import (
    SEIR,
    DoublePendulum,
    FitzHughNagumo,
    ForcedOscillator,
    GeneNetwork,
    IntegrationError,
    Kuramoto,
    Lorenz63,
    Lorenz96,
    LotkaVolterra,
    OscillatorRing,
    RateNetwork,
    RoesslerRing,
    System,
    VanDerPol,
    simulate,
)

SYSTEMS = [
    Lorenz96(),
    Lorenz96(4, 5.0),
    Lorenz96(7, -2.0),
    Lorenz63(),
    RoesslerRing(),
    RoesslerRing(3),
    RoesslerRing(4, coupling=0.0),
    Kuramoto.random(8, neighbours=2, seed=1),
    Kuramoto.random(5, neighbours=0, seed=1),
    LotkaVolterra.random(8, seed=1),
    LotkaVolterra.random(6, prey=1, self_limitation=0.1, seed=2),
    LotkaVolterra(np.zeros((3, 3)), [0.0, 1.0, -1.0]),
    RateNetwork.random(9, inputs=3, seed=1),
    RateNetwork(np.diag([1.0, 0.5]), [0.1, 0.2]),
    VanDerPol.random(4, seed=1),
    VanDerPol([[0.0]], [1.0], damping=2.0),
    FitzHughNagumo.random(4, seed=1),
    FitzHughNagumo([[0.0, 0.3], [0.0, 0.0]], [0.1, 0.05], current=0.4, a=0.6, b=0.7),
    DoublePendulum(),
    DoublePendulum((2.0, 0.5), (0.7, 1.3), gravity=3.0),
    GeneNetwork.random(6, inputs=3, seed=1),
    GeneNetwork([[0.5, -2.0], [1.0, 0.0]], [1.0, 0.8], exponent=2.5, basal=0.0),
    ForcedOscillator(),
    ForcedOscillator(0.1, 1.0, -0.2, 0.7, 2.0),
    SEIR.random(4, seed=1),
    SEIR([[0.0, 0.5], [0.4, 0.6]]),
    OscillatorRing(5),
    OscillatorRing(3, stiffness=0.5, coupling=2.0),
]
RANDOM = [FitzHughNagumo, GeneNetwork, Kuramoto, LotkaVolterra, RateNetwork, SEIR, VanDerPol]


def label(system):
    return f"{type(system).__name__}-{system.d}"


def states(system, n=6):
    return np.random.default_rng(3).uniform(0.2, 2.0, (n, system.d))


def lorenz96(system, x):
    d = system.d
    return [
        -x[(j - 2) % d] * x[(j - 1) % d] + x[(j - 1) % d] * x[(j + 1) % d] - x[j] + system.forcing for j in range(d)
    ]


def lorenz63(system, x):
    return [
        system.sigma * (x[1] - x[0]),
        x[0] * (system.rho - x[2]) - x[1],
        x[0] * x[1] - system.beta * x[2],
    ]


def roessler(system, x):
    out, count = [], system.oscillators
    for k in range(count):
        u, v, w = x[3 * k : 3 * k + 3]
        left, right = x[3 * ((k - 1) % count)], x[3 * ((k + 1) % count)]
        out += [-v - w + system.coupling * (left - 2 * u + right), u + system.a * v]
        out += [system.b + w * (u - system.c)]
    return out


def kuramoto(system, x):
    return [
        system.frequencies[i] + sum(system.coupling[i, j] * np.sin(x[j] - x[i]) for j in range(system.d))
        for i in range(system.d)
    ]


def lotka_volterra(system, x):
    return [
        x[i] * (system.growth[i] + sum(system.interactions[i, j] * x[j] for j in range(system.d)))
        for i in range(system.d)
    ]


def rate_network(system, x):
    return [
        -x[i] + sum(system.weights[i, j] * np.tanh(x[j]) for j in range(system.d)) + system.drive[i]
        for i in range(system.d)
    ]


def van_der_pol(system, x):
    position, velocity, out = x[0::2], x[1::2], []
    for k, row in enumerate(system.coupling):
        pull = sum(weight * (other - position[k]) for weight, other in zip(row, position, strict=True))
        swing = system.damping * (1 - position[k] ** 2) * velocity[k] - system.frequencies[k] ** 2 * position[k]
        out += [velocity[k], swing + pull]
    return out


def fitzhugh_nagumo(system, x):
    voltage, recovery, out = x[0::2], x[1::2], []
    for k, row in enumerate(system.coupling):
        v, w = voltage[k], recovery[k]
        pull = sum(weight * (other - v) for weight, other in zip(row, voltage, strict=True))
        out += [v - v**3 / 3 - w + system.current + pull, system.rates[k] * (v + system.a - system.b * w)]
    return out


def double_pendulum(system, x):
    (m1, m2), (l1, l2), g = system.masses, system.lengths, system.gravity
    delta = x[0] - x[1]
    inertia = [[(m1 + m2) * l1, m2 * l2 * np.cos(delta)], [l1 * np.cos(delta), l2]]
    force = [
        -m2 * l2 * x[3] ** 2 * np.sin(delta) - (m1 + m2) * g * np.sin(x[0]),
        l1 * x[2] ** 2 * np.sin(delta) - g * np.sin(x[1]),
    ]
    return [x[2], x[3], *np.linalg.solve(inertia, force)]


def gene_network(system, x):
    out = []
    for i in range(system.d):
        rate = system.basal - x[i]
        for j, weight in enumerate(system.weights[i]):
            power = x[j] ** system.exponent
            rate += weight * power / (1 + power) if weight > 0 else -weight / (1 + power)
        out.append(system.rates[i] * rate)
    return out


def forced_oscillator(system, x):
    force = system.force * np.cos(x[2])
    return [
        x[1],
        -system.damping * x[1] - system.stiffness * x[0] - system.cubic * x[0] ** 3 + force,
        system.frequency,
    ]


def seir(system, x):
    out, m = [], system.turnover
    for k in range(system.d // 3):
        s, e, i = x[3 * k : 3 * k + 3]
        infected = s * sum(system.transmission[k, j] * x[3 * j + 2] for j in range(system.d // 3))
        out += [m - infected - m * s, infected - (system.incubation + m) * e]
        out += [system.incubation * e - (system.recovery + m) * i]
    return out


def oscillator_ring(system, x):
    out, position, count = [], x[0::2], system.oscillators
    for k in range(count):
        left, right = position[(k - 1) % count] - position[k], position[(k + 1) % count] - position[k]
        pull = system.coupling * (np.tanh(left) + np.tanh(right))
        out += [x[2 * k + 1], pull - system.stiffness * position[k]]
    return out


FORMULAS = {
    Lorenz96: lorenz96,
    Lorenz63: lorenz63,
    RoesslerRing: roessler,
    Kuramoto: kuramoto,
    LotkaVolterra: lotka_volterra,
    RateNetwork: rate_network,
    VanDerPol: van_der_pol,
    FitzHughNagumo: fitzhugh_nagumo,
    DoublePendulum: double_pendulum,
    GeneNetwork: gene_network,
    ForcedOscillator: forced_oscillator,
    SEIR: seir,
    OscillatorRing: oscillator_ring,
}


@pytest.mark.parametrize("system", SYSTEMS, ids=label)
def test_field_is_the_formula_written_out_in_scalars(system):
    x = states(system)
    expected = [FORMULAS[type(system)](system, row) for row in x]
    np.testing.assert_allclose(system.field(x), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("system", SYSTEMS, ids=label)
def test_field_works_on_any_leading_shape(system):
    x = states(system, 6)
    stacked = system.field(x.reshape(2, 3, system.d))
    np.testing.assert_allclose(stacked.reshape(6, system.d), system.field(x), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(system.field(x[4]), system.field(x)[4], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("system", SYSTEMS, ids=label)
def test_graph_is_the_sparsity_of_the_finite_difference_jacobian(system):
    step = 1e-5
    seen = np.zeros((system.d, system.d), dtype=bool)
    for x in states(system):
        for j in range(system.d):
            up, down = x.copy(), x.copy()
            up[j] += step
            down[j] -= step
            seen[:, j] |= np.abs(system.field(up) - system.field(down)) / (2 * step) > 1e-6
    np.testing.assert_array_equal(system.graph, seen)
    assert system.graph.dtype == bool


@pytest.mark.parametrize("system", SYSTEMS, ids=label)
def test_every_system_has_names_and_a_start(system):
    assert isinstance(system, System)
    assert len(set(system.names)) == system.d
    assert system.default_initial_state().shape == (system.d,)
    copy = pickle.loads(pickle.dumps(system))
    np.testing.assert_array_equal(copy.field(states(system)), system.field(states(system)))


@pytest.mark.parametrize("system", SYSTEMS, ids=label)
def test_simulation_starts_at_x0_and_follows_the_field(system):
    t = np.linspace(1.0, 1.5, 501)
    x = simulate(system, t)
    np.testing.assert_array_equal(x[0], system.default_initial_state())
    slope = (x[2:] - x[:-2]) / (t[2:] - t[:-2])[:, None]
    # Central differences over steps of 1e-3 are good to 1e-6 times a third derivative.
    scale = 1 + np.abs(system.field(x)).max()
    np.testing.assert_allclose(slope, system.field(x[1:-1]), atol=2e-4 * scale)


def test_simulation_reaches_the_exact_solution():
    # Logistic growth, x' = x (1 - x), has a closed form.
    t = np.linspace(0, 4, 9)
    x = simulate(LotkaVolterra([[-1.0]], [1.0]), t, [0.1])
    np.testing.assert_allclose(x[:, 0], 1 / (1 + 9 * np.exp(-t)), rtol=1e-7)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau"])
def test_other_integrators_agree_before_chaos_sets_in(method):
    t = np.linspace(0, 1, 11)
    system = Lorenz96(6)
    np.testing.assert_allclose(simulate(system, t, method=method), simulate(system, t), atol=1e-6)


def test_random_webs_conserve_volterras_function():
    x = simulate(LotkaVolterra.random(seed=4), np.linspace(0, 50, 200))
    v = (x - np.log(x)).sum(axis=1)
    np.testing.assert_allclose(v, v[0], rtol=1e-6)


def test_limited_webs_settle_at_one():
    x = simulate(LotkaVolterra.random(5, self_limitation=0.5, seed=4), np.linspace(0, 200, 50))
    np.testing.assert_allclose(x[-1], 1.0, atol=1e-6)


@pytest.mark.parametrize("system", [DoublePendulum(), DoublePendulum((2.0, 0.5), (0.7, 1.3)), OscillatorRing(5)])
def test_mechanical_systems_conserve_their_energy(system):
    x = simulate(system, np.linspace(0, 10, 50))
    np.testing.assert_allclose(system.energy(x), system.energy(x[0]), rtol=1e-6)


def test_a_van_der_pol_oscillator_has_its_known_period():
    t = np.linspace(0, 100, 100_001)
    x = simulate(VanDerPol([[0.0]], [1.0]), t)[50_000:, 0]
    upward = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    # The period of the limit cycle at damping 1, to four decimals.
    np.testing.assert_allclose(np.diff(upward) * 1e-3, 6.6633, atol=2e-3)


def test_an_epidemic_reaches_its_endemic_equilibrium():
    system = SEIR([[1.0]], turnover=0.02)
    x = simulate(system, np.linspace(0, 2000, 10), [0.9, 0.0, 0.1])[-1]
    # One infectious member infects as many as recover: S = (s + m) (g + m) / (B s).
    expected = (system.incubation + 0.02) * (system.recovery + 0.02) / system.incubation
    np.testing.assert_allclose(x[0], expected, rtol=1e-6)


@pytest.mark.parametrize("system", [GeneNetwork.random(), VanDerPol.random(), FitzHughNagumo.random()], ids=label)
def test_random_networks_keep_going_and_do_not_move_in_step(system):
    late = simulate(system, np.linspace(0, 200, 1001))[500:]
    assert late.std(axis=0).min() > 0.05
    correlation = np.corrcoef(late.T) - np.eye(system.d)
    assert np.abs(correlation).max() < 0.999


def test_kuramoto_sees_phase_differences_only():
    system = Kuramoto.random(seed=5)
    x = states(system)
    np.testing.assert_allclose(system.field(x + 0.7), system.field(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("d", [4, 5, 40])
def test_lorenz96_is_periodic_in_its_index(d):
    system = Lorenz96(d)
    x = states(system)
    for shift in (1, 2, d - 1):
        np.testing.assert_array_equal(system.field(np.roll(x, shift, axis=1)), np.roll(system.field(x), shift, axis=1))
        np.testing.assert_array_equal(system.graph, np.roll(system.graph, (shift, shift), axis=(0, 1)))
    assert (system.graph.sum(axis=1) == 4).all()


def test_the_papers_start():
    start = Lorenz96().default_initial_state()
    assert start[19] == 1.008
    assert (np.delete(start, 19) == 1).all()


@pytest.mark.parametrize("kind", RANDOM)
def test_a_seed_is_one_system(kind):
    x = states(kind.random(seed=1))
    np.testing.assert_array_equal(kind.random(seed=1).field(x), kind.random(seed=1).field(x))
    assert not np.allclose(kind.random(seed=1).field(x), kind.random(seed=2).field(x))


def test_random_systems_have_the_asked_for_sparsity():
    off = ~np.eye(20, dtype=bool)
    assert ((Kuramoto.random(20, neighbours=3).graph & off).sum(axis=1) == 3).all()
    assert ((RateNetwork.random(20, inputs=4).graph & off).sum(axis=1) == 4).all()
    eaten = LotkaVolterra.random(20, prey=2).interactions > 0
    np.testing.assert_array_equal(eaten.sum(axis=1), np.minimum(np.arange(20), 2))


def test_arrays_of_a_system_cannot_be_changed():
    weights = np.zeros((2, 2))
    system = RateNetwork(weights, np.zeros(2))
    weights[0, 1] = 1.0
    assert system.weights[0, 1] == 0
    with pytest.raises(ValueError, match="read-only"):
        system.weights[0, 1] = 1.0


@pytest.mark.parametrize("method", ["LSODA", "RK45"])
def test_a_blow_up_is_reported_with_its_time(method):
    explosive = LotkaVolterra([[1.0]], [0.0])  # x' = x^2 from 1 ends at t = 1
    with pytest.raises(IntegrationError, match=r"LotkaVolterra stopped near t = (0\.9\d*|1\b).*before t = 2"):
        simulate(explosive, np.linspace(0, 2, 21), [1.0], method=method)


def test_an_overflow_is_reported():
    with pytest.raises(IntegrationError, match=r"not finite|stopped near"):
        simulate(LotkaVolterra([[0.0]], [1.0]), [0.0, 1.0, 800.0], [1.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Lorenz96(3), "d=3"),
        (lambda: Lorenz63(beta=0.0), "beta"),
        (lambda: RoesslerRing(2), "oscillators=2"),
        (lambda: RoesslerRing(a=0.0), "a must be nonzero"),
        (lambda: Kuramoto(np.ones((2, 2)), np.ones(2)), "zero diagonal"),
        (lambda: Kuramoto(np.zeros((2, 3)), np.ones(2)), "coupling must be a square"),
        (lambda: Kuramoto(np.zeros((2, 2)), np.ones(3)), "frequencies"),
        (lambda: Kuramoto.random(3, neighbours=3), "neighbours"),
        (lambda: LotkaVolterra([[np.nan]], [1.0]), "interactions must be finite"),
        (lambda: LotkaVolterra.random(self_limitation=-1.0), "self_limitation"),
        (lambda: RateNetwork.random(3, inputs=3), "inputs"),
        (lambda: VanDerPol([[1.0]], [1.0]), "coupling must have a zero diagonal"),
        (lambda: VanDerPol([[0.0]], [1.0, 2.0]), "frequencies"),
        (lambda: VanDerPol([[0.0]], [1.0], damping=0.0), "damping=0.0"),
        (lambda: FitzHughNagumo([[0.0]], [0.0]), "rates must be nonzero"),
        (lambda: DoublePendulum(masses=(1.0, 0.0)), "masses=0.0"),
        (lambda: DoublePendulum(lengths=(1.0,)), "give two positive"),
        (lambda: GeneNetwork([[1.0]], [-1.0]), "rates must be positive"),
        (lambda: GeneNetwork.random(4), "multiple of 3"),
        (lambda: GeneNetwork.random(3, inputs=3), "inputs=3"),
        (lambda: ForcedOscillator(force=0.0), "force must be nonzero"),
        (lambda: SEIR([[0.0]]), "positive entry"),
        (lambda: SEIR([[1.0]], recovery=0.0), "recovery=0.0"),
        (lambda: OscillatorRing(2), "oscillators=2"),
        (lambda: simulate(Lorenz63(), [0.0]), "at least two"),
        (lambda: simulate(Lorenz63(), [0.0, 0.0, 1.0]), "strictly increasing"),
        (lambda: simulate(Lorenz63(), [0.0, 1.0], [1.0]), r"x0 must have shape \(3,\)"),
        (lambda: simulate(Lorenz63(), [0.0, 1.0], [1.0, np.inf, 0.0]), "x0 must be finite"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
