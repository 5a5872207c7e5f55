"""The salted Kalman filter: classic special cases, closed forms, guards, faults."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from pytest import approx
from scipy.linalg import expm
from scipy.stats import multivariate_normal

from saltation.batch import simulate_batch
from saltation.examples.bouncing_ball import FALLING, RISING, bouncing_ball
from saltation.filters.bank import SaltedBank
from saltation.filters.model import FilterModel, Measurement, ProcessNoise
from saltation.filters.salted import SaltedKalmanFilter
from saltation.systems import Mode, System, Transition
from saltation.variational import fundamental_matrix
from studies.kong.systems.constant_flow import LEFT, RIGHT, constant_flow
from tests.saltation.driven_systems import height, one_mode_ball, swing
from tests.saltation.filters.models import EYE, NO_FORCE, NONE, model_of, particles, van_loan, whole

SPRING = np.array([[0.0, 1.0], [-4.0, -0.3]])
SOUND = ("ok", "inconsistent")  # many Gaussians here are wide enough for a guard to split them
XI = np.array([[1.0, 0.0], [2.0, 1.0]])  # of the constant flow, (3.164)
SEEDS = st.integers(0, 10_000)
SENSITIVITIES = st.sampled_from(["saltation", "reset"])


def spring(cut=None):
    """A spring that a force pulls: one mode, or two with one flow, cut at a place."""

    def flow(t, x, u):
        return SPRING @ x + np.array([0.0, u[0]])

    mode = Mode("a", 2, 1, flow, lambda t, x, u: SPRING, lambda t, x, u: np.array([[0.0], [1.0]]))
    if cut is None:
        return System({0: mode}, ())
    cut_edge = Transition(0, 1, lambda t, x, u: x[0] - cut, whole, name="cut")
    return System({0: mode, 1: mode}, (cut_edge,))


def constant(power=2, **others):
    return model_of(constant_flow(), power=power, **others)


@settings(max_examples=20)
@given(
    h=st.floats(0.01, 1.5), first=st.floats(0.0, 1.0), seed=SEEDS, cut=st.sampled_from([None, 0.6])
)
def test_is_the_textbook_filter_with_white_noise_in_steps_of_any_length(h, first, seed, cut):
    """(1.9)-(1.13) by matrix exponentials, of a spring, and through an identity in its middle."""
    rng = np.random.default_rng(seed)
    Q, x, Sigma, u = (
        np.diag(rng.uniform(0.0, 1.0, 2)),
        np.array([1.0, 0.5]),
        0.2 * EYE,
        rng.normal(size=1),
    )
    one = SaltedKalmanFilter(model_of(spring(cut), Q, power=1), 0, x, Sigma)
    one.predict(u, first * h)
    belief = one.predict(u, h - first * h)
    block = expm(h * np.block([[SPRING, np.array([[0.0], [1.0]])], [np.zeros((1, 3))]]))
    A = block[:2, :2]
    x, P = A @ x + block[:2, 2] * u, A @ Sigma @ A.T + van_loan(SPRING, Q, h)
    assert_allclose(belief.mean, x, atol=1e-8)
    assert_allclose(belief.Sigma, P, atol=1e-8)


@given(distance=st.floats(0.1, 2.0), after=st.floats(-0.09, 2.0), a=st.floats(0.1, 2.0),
       c=st.floats(0.1, 2.0), correlation=st.floats(-0.9, 0.9),
       power=st.sampled_from([0, 2]))  # fmt: skip
def test_the_closed_form_of_constant_flow(distance, after, a, c, correlation, power):
    """(4.15), (4.16) with A = I and Xi of (3.164): W = h^2 Q of each piece, or Q of each step."""
    assume(abs(after) > 1e-6)
    b = correlation * np.sqrt(a * c)
    Sigma, W_R = np.array([[a, b], [b, c]]), np.diag([0.03, 0.02])
    model, h = constant(power, reset_noise={(LEFT, RIGHT): W_R}), distance + after
    for sensitivity, M in (("saltation", XI), ("reset", EYE)):
        one = SaltedKalmanFilter(model, LEFT, [-distance, 1.0], Sigma, sensitivity=sensitivity)
        belief = one.predict(NONE, h)
        pieces = (distance, after) if after > 0.0 else (h, 0.0)
        W = [0.01 * p**2 * EYE for p in pieces] if power else [0.0 * EYE, 0.01 * EYE]
        expected = Sigma + W[0]
        if after > 0.0:
            expected = M @ expected @ M.T + W_R
        assert_allclose(belief.Sigma, expected + W[1], rtol=1e-9, atol=1e-9)
        turn = 2.0 * max(after, 0.0)
        assert_allclose(belief.mean, [after, 1.0 - h + turn], atol=1e-12)
        assert (belief.mode, belief.transitions) == ((RIGHT, 1) if after > 0.0 else (LEFT, 0))


@settings(max_examples=20)
@given(height=st.floats(0.2, 2.0), velocity=st.floats(-3.0, -0.1), force=st.floats(-2.0, 2.0),
       duration=st.floats(0.1, 2.0), sensitivity=SENSITIVITIES)  # fmt: skip
def test_several_bounces_in_one_step_are_the_variational_map(
    height, velocity, force, duration, sensitivity
):
    system, x, u = bouncing_ball(), np.array([height, velocity]), np.array([force])
    Sigma = np.array([[0.1, 0.02], [0.02, 0.3]])
    naive = sensitivity == "reset"
    expected = fundamental_matrix(system, FALLING, x, duration, u, with_reset_jacobian=naive)
    assume(expected.ok and len(expected.events) < 20)  # more are Zeno behaviour to a filter
    one = SaltedKalmanFilter(model_of(system, 0.0), FALLING, x, Sigma, sensitivity=sensitivity)
    belief = one.predict(u, duration)
    assert (belief.mode, belief.transitions) == (expected.mode, len(expected.events))
    assert_allclose(belief.mean, expected.state, atol=1e-12)
    assert_allclose(belief.Sigma, expected.covariance(Sigma), rtol=1e-9, atol=1e-9)


def correction(Sigma, C, V, residual):
    """Step and covariance of one update of a mean of zeros by y = C x + v, and its innovation."""
    k = len(Sigma)
    model = FilterModel(
        System({0: Mode("only", k, 0, lambda t, x, u: 0.0 * x)}, ()),
        {0: ProcessNoise(np.zeros((k, k)))},
        {0: Measurement(lambda t, x, u: C @ x, V, lambda t, x, u: C)},
    )
    one = SaltedKalmanFilter(model, 0, np.zeros(k), Sigma)
    return one.correct(NONE, residual), one.innovation


@settings(max_examples=12)
@given(seed=SEEDS, k=st.integers(1, 6), p=st.integers(1, 4))
def test_an_update_is_the_conditional_gaussian(seed, k, p):
    """(4.9)-(4.11) and the likelihood of an innovation."""
    rng = np.random.default_rng(seed)
    A, B, C, r = (rng.normal(size=s) for s in ((k, k + 2), (p, p + 2), (p, k), p))
    Sigma, V = A @ A.T, B @ B.T
    belief, innovation = correction(Sigma, C, V, r)
    S = C @ Sigma @ C.T + V
    K = Sigma @ C.T @ np.linalg.inv(S)
    assert_allclose(belief.mean, K @ r, rtol=1e-7, atol=1e-7)
    assert_allclose(belief.Sigma, Sigma - K @ C @ Sigma, rtol=1e-7, atol=1e-7)
    likelihood = multivariate_normal(np.zeros(p), S).logpdf(r)
    assert innovation.log_likelihood == approx(likelihood, rel=1e-7, abs=1e-7)
    assert innovation.squared == approx(r @ np.linalg.solve(S, r), rel=1e-6)


def test_an_update_keeps_the_covariance_positive_at_its_limits():
    wide = np.array([[1e8, 1e4], [1e4, 1.0 + 1e-6]])  # P - K C P has negative eigenvalues
    belief, _ = correction(wide, EYE, 1e-9 * EYE, np.zeros(2))
    assert np.linalg.eigvalsh(belief.Sigma)[0] > -1e-24
    belief, _ = correction(np.diag([2.0, 3.0]), EYE[:1], np.zeros((1, 1)), np.ones(1))
    assert_allclose(belief.Sigma, np.diag([0.0, 3.0]), atol=1e-15)  # exact measurement
    assert_allclose(belief.mean, [1.0, 0.0])
    nothing = np.zeros((1, 1))
    assert correction(nothing, np.eye(1), nothing, np.zeros(1))[0].status == "not_finite"


def takes_turns():
    """Two guards that both hold the state."""
    modes = {i: Mode("", 2, 0, lambda t, x, u: -np.ones(2)) for i in range(2)}
    return System(modes, [Transition(i, 1 - i, height, whole) for i in range(2)])


LONE = one_mode_ball()
BACK = (3.0 + np.sqrt(9.0 - 1.96)) / 9.8  # [s], when a ball from -0.1 m at 3 m/s is back there
UP = -0.5 * (3.0 - 9.8 * BACK)  # [m/s], after its bounce at zero


@pytest.mark.parametrize(
    "system, mode, start, measured, duration, end",
    [
        # a measurement pulls the mean into the guard, however deep: (4.17), (4.18)
        (constant_flow(), LEFT, (-0.5, 0.0), (2.0, 0.3), 0.0, (RIGHT, 1, 2.0, 0.3)),
        # a mean that starts behind it is taken through at once
        (constant_flow(), LEFT, (0.3, 0.0), None, 0.5, (RIGHT, 1, 0.8, 0.5)),
        # below the floor on the way up is no impact: (4.2) wants the guard to fall
        (bouncing_ball(), FALLING, (0.1, -1.0), (-0.02, 2.0), 0.0, (FALLING, 0, -0.02, 2.0)),
        (LONE, 1, (-0.1, 3.0), None, 0.3, (1, 0, -0.1 + 0.9 - 4.9 * 0.09, 3.0 - 2.94)),
        # and it bounces when it is back at zero
        (LONE, 1, (-0.1, 3.0), None, 0.7,
         (1, 1, UP * (0.7 - BACK) - 4.9 * (0.7 - BACK) ** 2, UP - 9.8 * (0.7 - BACK))),
        # one that turns below it is taken through at the end of the step
        (LONE, 1, (-0.1, 0.5), None, 0.2, (1, 1, -0.1 + 0.1 - 4.9 * 0.04, 0.5 * 1.46)),
        # transitions at one instant end where they come back
        (takes_turns(), 0, (-1.0, 0.0), None, 0.0, (0, 2, -1.0, 0.0)),
    ],
)  # fmt: skip
def test_a_mean_behind_a_guard(system, mode, start, measured, duration, end):
    one = SaltedKalmanFilter(model_of(system, 0.0, 1e-12), mode, np.array(start), EYE)
    u = np.zeros(system.input_dim)
    belief = one.predict(u, duration) if measured is None else one.correct(u, np.array(measured))
    assert (belief.mode, belief.transitions) == end[:2] and belief.status in SOUND
    assert_allclose(belief.mean, end[2:], atol=1e-9)
    if (mode, belief.mode) == (LEFT, RIGHT):
        P = 1e-12 * EYE if measured else EYE
        assert_allclose(belief.Sigma, XI @ P @ XI.T, rtol=1e-3, atol=1e-16)


def test_an_update_split_at_the_guard_moves_what_is_not_measured_as_particles_do():
    """4.5.4: a place behind the guard says for how long the second flow has acted."""
    place = dict.fromkeys(
        (LEFT, RIGHT), Measurement(lambda t, x, u: x[:1].copy(), 0.01 * EYE[:1, :1])
    )
    model = FilterModel(constant_flow(), dict.fromkeys(place, ProcessNoise(1e-9 * EYE)), place)
    start = model, LEFT, np.array([-1.2, 1.0]), np.diag([0.09, 0.01])
    whole, split = SaltedKalmanFilter(*start), SaltedKalmanFilter(*start, split_update=True)
    cloud = particles(20_000)(*start)
    for one in (whole, split, cloud):
        one.step(NONE, np.array([0.3]), 1.0)
    truth = cloud.mean_of(lambda mode, x: x)
    assert_allclose(split.belief.mean, truth, atol=0.02)
    assert_allclose(split.belief.Sigma, whole.belief.Sigma, atol=1e-9)
    assert abs(whole.belief.mean - truth)[1] > 0.4


def test_an_uncertain_guard_is_one_whose_offset_is_drawn():
    fall = Mode("falls", 3, 0, lambda t, x, u: np.array([x[1], -9.8, 0.0]))
    bounce = Transition(
        1, 1, lambda t, x, u: x[0] + x[2], lambda t, x, u: np.array([x[0], -0.75 * x[1], x[2]])
    )
    system, start, variance = System({1: fall}, [bounce]), np.array([1.0, 0.0, 0.0]), 1e-4
    model = model_of(system, 0.0, guard_noise={(1, 1): variance})
    Sigma = SaltedKalmanFilter(model, 1, start, np.zeros((3, 3))).predict(NONE, 0.8).Sigma
    starts = np.tile(start, (4000, 1))
    starts[:, 2] = np.sqrt(variance) * np.random.default_rng(0).normal(size=4000)
    drawn = np.cov(simulate_batch(system, 1, starts, 0.8).states[:, :2].T)
    assert_allclose(Sigma[:2, :2], drawn, rtol=0.05)


@pytest.mark.parametrize("kind", [SaltedKalmanFilter, SaltedBank, particles(50)])
def test_a_guard_on_edge_waits_until_flow_or_measurement_passes_it(kind):
    """A swing that starts behind its guard, on its way in, and falls through it after 5.8 s."""
    modes = {i: Mode("swing", 2, 0, swing) for i in (1, 2)}
    for on, after in (("level", 0.5), ("edge", 6.0)):
        down = Transition.continuous(1, 2, height, on=on)
        model = model_of(System(modes, [down]), 1e-9, 1e-6)
        one = kind(model, 1, np.array([-0.5, -1.0]), 1e-8 * EYE)
        while one.belief.mode == 1 and one.belief.time < 10.0:
            one.step(NONE, None, 0.5)
        assert one.belief.time == approx(after)
    if kind is SaltedKalmanFilter:
        for x, y, mode in (((0.1, -1.0), (-0.1, -1.0), 2), ((-0.1, -1.0), (-0.2, -1.0), 1)):
            assert kind(model, 1, np.array(x), EYE).correct(NONE, np.array(y)).mode == mode


def test_a_chain_of_resets_is_one_event_and_noise_of_the_first_goes_through_the_second():
    """A reset that always lands behind the next guard: one time to find."""
    flows = (lambda t, x, u: np.array([1.0, -0.5]), lambda t, x, u: np.array([2.0, 0.25 * x[0]]))
    system = System(
        {i: Mode(f"{i}", 2, 0, flows[min(i, 1)]) for i in range(3)},
        (
            Transition(0, 1, lambda t, x, u: -x[0],
                       lambda t, x, u: np.array([x[0] + x[1] ** 2, 3.0 + x[1]]), name="land"),
            Transition(1, 2, lambda t, x, u: 1.0 - x[1] - x[0],
                       lambda t, x, u: np.array([x[0] - 0.5, 0.5 * x[1]]), name="at once"),
        ),
    )  # fmt: skip
    x, Sigma = np.array([-0.4, 0.7]), np.diag([0.1, 0.2])
    expected = fundamental_matrix(system, 0, x, 1.0)
    belief = SaltedKalmanFilter(model_of(system, 0.0), 0, x, Sigma).predict(NONE, 1.0)
    assert belief.transitions == 2 and belief.status in SOUND and expected.ok
    assert_allclose(belief.Sigma, expected.covariance(Sigma), atol=1e-10)
    W_R, W_S, D = np.diag([0.3, 0.4]), np.diag([0.01, 0.02]), np.diag([1.0, 0.5])
    noisy, quiet = (
        SaltedKalmanFilter(model_of(system, 0.0, reset_noise=W), 0, x, EYE).predict(
            NONE, 0.4 + 1e-9
        )
        for W in ({(0, 1): W_R, (1, 2): W_S}, {})
    )
    assert_allclose(noisy.Sigma - quiet.Sigma, D @ W_R @ D.T + W_S, atol=1e-7)


def test_a_contact_sensor_forces_a_transition():
    model = model_of(bouncing_ball())
    impact = model.system.transitions[0]

    def forced(height, velocity):
        one = SaltedKalmanFilter(model, FALLING, np.array([height, velocity]), EYE)
        return one, one.force(impact, NO_FORCE)

    one, belief = forced(0.05, -2.0)
    assert (belief.mode, belief.transitions) == (RISING, 1) and belief.status in SOUND
    assert_allclose(belief.mean, [0.05, 1.5])
    Xi = np.array([[-0.75, 0.0], [1.75 * 9.8 / 2.0, -0.75]])
    assert_allclose(belief.Sigma, Xi @ Xi.T, atol=1e-12)
    with pytest.raises(ValueError, match="mode 2"):
        one.force(impact, NO_FORCE)
    for velocity in (2.0, 0.0):  # D_x R stands in for Xi
        belief = forced(0.0, velocity)[1]
        assert belief.status == "not_transverse" and np.isfinite(belief.Sigma).all()


def test_modes_of_other_dimensions_and_inputs_in_measurements():
    """A mass slides, its velocity u, until it is held; held, it has no state but its place."""

    def slide(t, x, u):
        return np.array([x[1], u[0]])

    held = Transition(0, 1, lambda t, x, u: 1.0 - x[0], lambda t, x, u: x[:1].copy(), name="held")
    model = FilterModel(
        System({0: Mode("slides", 2, 1, slide),
                1: Mode("held", 1, 0, lambda t, x, u: np.zeros(1))}, (held,)),
        {0: ProcessNoise(0.0 * EYE), 1: ProcessNoise(np.zeros((1, 1)))},
        {
            0: Measurement(lambda t, x, u: np.array([x[0] + u[0]]), np.eye(1)),
            1: Measurement(lambda t, x, u: np.array([x[0], x[0] + t]), EYE),
        },
    )  # fmt: skip
    one = SaltedKalmanFilter(model, 0, np.array([0.0, 2.0]), 0.5 * EYE)
    one.step(np.array([0.0]), None, 0.25)
    belief = one.correct(np.array([3.0]), np.array([3.5]))
    assert_allclose(belief.mean, [0.5, 2.0], atol=1e-12)
    belief = one.step(np.zeros(1), np.array([1.0, 1.75]), 0.5)
    assert belief.mode == 1 and belief.Sigma.shape == (1, 1)
    assert_allclose(belief.mean, [1.0], atol=1e-12)
    assert belief.Sigma[0, 0] == approx(0.0, abs=1e-12)  # it stops where the guard is


@pytest.mark.parametrize(
    "u, y, duration, status, time, words",
    [
        ([0.0], [0.0, 0.0, 0.0], 0.1, "rejected", 0.1, ""),
        ([0.0], [np.nan, 0.0], 0.1, "not_finite", 0.1, ""),
        ([0.0] * 3, None, 0.1, "simulation_failed", 0.1, r"(3,)"),
        ([np.nan], [1.0, 0.0], 0.1, "simulation_failed", 0.1, ""),
        ([0.0], None, -0.1, "simulation_failed", 0.0, "-0.1"),
        ([0.0], None, np.nan, "simulation_failed", 0.0, "nan"),
    ],
)
def test_a_step_that_cannot_be_taken_has_a_status_and_the_next_is_sound(
    u, y, duration, status, time, words
):
    one = SaltedKalmanFilter(model_of(bouncing_ball()), FALLING, np.array([1.0, 0.0]), EYE)
    belief = one.step(np.array(u), None if y is None else np.array(y), duration)
    assert (belief.status, belief.time) == (status, time) and words in belief.message
    assert np.isfinite(belief.mean).all() and np.isfinite(belief.Sigma).all()
    if status in ("rejected", "not_finite"):  # the prediction stands
        assert_allclose(belief.mean, [1.0 - 0.049, -0.98])
        assert one.innovation is None
    assert one.step(NO_FORCE, np.array([1.0, -0.9]), 0.1).status in SOUND


def test_a_covariance_that_overflows_is_not_believed():
    one = SaltedKalmanFilter(constant(), LEFT, np.array([-1.0, 0.0]), 1e308 * EYE)
    belief = one.predict(NONE, 1.5)
    assert belief.status == "not_finite" and belief.time == 1.5
    assert belief.mode == LEFT and (belief.Sigma == 1e308 * EYE).all()


JUNK = arrays(np.float64, 2, elements=st.floats(allow_nan=True, allow_infinity=True))


@given(st.lists(st.none() | JUNK | arrays(np.float64, 2, elements=st.floats(-3.0, 3.0)), min_size=1,
                max_size=8), st.floats(0.0, 0.4), SENSITIVITIES)  # fmt: skip
def test_junk_never_raises_and_leaves_a_covariance(measurements, duration, sensitivity):
    model, start = model_of(bouncing_ball()), (FALLING, np.array([0.5, 0.0]), EYE)
    one = SaltedKalmanFilter(model, *start, sensitivity=sensitivity)
    for y in measurements:
        time = one.belief.time
        belief = one.step(NO_FORCE, y, duration)
        assert belief.time == time + duration and np.isfinite(belief.mean).all()
        assert (belief.Sigma == belief.Sigma.T).all()
        values = np.linalg.eigvalsh(belief.Sigma)
        assert values[0] >= -1e-12 * values[-1]
        assert belief.status != "ok" or y is None or np.isfinite(y).all()


def test_a_function_that_raises_is_a_status_with_its_message():
    def wrong(t, x, u):
        if t > 0.15:
            raise KeyError("no such gain")
        return np.array([1.0])

    one = SaltedKalmanFilter(model_of(System({0: Mode("", 1, 0, wrong)}, ())), 0, [0.0], np.eye(1))
    assert one.step(NONE, np.zeros(1), 0.1).status == "ok"
    belief = one.step(NONE, np.zeros(1), 0.1)
    assert belief.status == "simulation_failed" and "no such gain" in belief.message


def started(**change):
    start = {"mode": LEFT, "mean": np.zeros(2), "Sigma": EYE, **change}
    return SaltedKalmanFilter(constant(), **start)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: started(mode=7), "mode 7"),
        (lambda: started(mean=np.zeros(3)), r"mean of mode 1 .*\(3,\)"),
        (lambda: started(Sigma=np.nan * EYE), "Sigma of mode 1"),
        (lambda: started(Sigma=np.diag([1.0, -1.0])), "eigenvalue is -1"),
        (lambda: started(Sigma=np.array([[1.0, 0.5], [0.0, 1.0]])), "symmetric"),
        (lambda: started(time=np.nan), "time nan"),
        (lambda: started(sensitivity="none"), "none"),
        (lambda: ProcessNoise(np.diag([1.0, -0.1])), "process noise Q"),
        (lambda: ProcessNoise(EYE, power=3), "power 3"),
        (lambda: constant(V=-0.1), "measurement noise V of mode 1"),
        (lambda: constant(guard_noise={(LEFT, RIGHT): -1.0}), "guard noise of"),
    ],
)
def test_a_wrong_start_and_noise_that_is_none_are_refused_by_name(make, words):
    with pytest.raises(ValueError, match=words):
        make()
