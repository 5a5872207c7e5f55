"""The salted Kalman filter: classic special cases, closed forms, guards, faults."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import expm

from hybrid.examples.bouncing_ball import FALLING, RISING, bouncing_ball
from hybrid.filters.interface import HybridFilter
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.salted import SaltedKalmanFilter
from hybrid.systems import Mode, System, Transition
from hybrid.variational import fundamental_matrix
from studies.kong.systems.constant_flow import LEFT, RIGHT, constant_flow

NONE, NO_FORCE, EYE = np.zeros(0), np.zeros(1), np.eye(2)
SPRING = np.array([[0.0, 1.0], [-4.0, -0.3]])
SOUND = ("ok", "inconsistent")  # many Gaussians here are wide enough for a guard to split them
XI = np.array([[1.0, 0.0], [2.0, 1.0]])  # of the constant flow, (3.164)


def model_of(system, Q=0.01, V=0.1, power=2, **others):
    """White measurements of the whole state, in every mode."""
    dims = {number: mode.state_dim for number, mode in system.modes.items()}
    return FilterModel(
        system,
        {number: ProcessNoise(Q * np.eye(n), power) for number, n in dims.items()},
        {
            number: Measurement(lambda t, x, u: x.copy(), V * np.eye(n))
            for number, n in dims.items()
        },
        **others,
    )


def spring(cut=None):
    """A spring that a force pulls: one mode, or two with one flow, cut at a place."""

    def flow(t, x, u):
        return SPRING @ x + np.array([0.0, u[0]])

    def same(t, x, u):
        return x.copy()

    derivatives = lambda t, x, u: SPRING, lambda t, x, u: np.array([[0.0], [1.0]])
    modes = {0: Mode("a", 2, 1, flow, *derivatives), 1: Mode("b", 2, 1, flow, *derivatives)}
    if cut is None:
        return System({0: modes[0]}, ())
    return System(modes, (Transition(0, 1, lambda t, x, u: x[0] - cut, same, name="cut"),))


class Textbook:
    """Welch and Bishop's filter (1.9)-(1.13), written down once more, of the spring."""

    def __init__(self, x, Sigma):
        self.x, self.Sigma = x, Sigma

    def step(self, u, y, h, Q, V):
        whole = expm(h * np.block([[SPRING, np.array([[0.0], [1.0]])], [np.zeros((1, 3))]]))
        A, B = whole[:2, :2], whole[:2, 2]
        x, P = A @ self.x + B * u[0], A @ self.Sigma @ A.T + Q
        K = P @ np.linalg.inv(P + V)
        self.x, self.Sigma = x + K @ (y - x), P - K @ P


def van_loan(F, Q, h):
    """W(h) = int_0^h exp(F s) Q exp(F s)' ds by one matrix exponential (Van Loan 1978)."""
    n = len(F)
    whole = expm(h * np.block([[-F, Q], [np.zeros((n, n)), F.T]]))
    return whole[n:, n:].T @ whole[:n, n:]


def run_beside_textbook(system, sensitivity="saltation"):
    """Twenty steps with the same measurements; how many transitions there were."""
    rng, x = np.random.default_rng(3), np.array([1.0, 0.5])
    ours = SaltedKalmanFilter(model_of(system, power=1), 0, x, 0.2 * EYE, sensitivity=sensitivity)
    theirs, transitions = Textbook(x, 0.2 * EYE), 0
    for _ in range(20):
        u, y = rng.normal(size=1), rng.normal(size=2)
        belief = ours.step(u, y, 0.1)
        theirs.step(u, y, 0.1, van_loan(SPRING, 0.01 * EYE, 0.1), 0.1 * EYE)
        transitions += belief.transitions
        assert belief.status in SOUND  # the measurements are of nothing
        yield belief, theirs
    assert transitions == len(system.transitions)


def test_is_the_textbook_filter_without_transitions():
    for ours, textbook in run_beside_textbook(spring()):
        np.testing.assert_allclose(ours.mean, textbook.x, atol=1e-9)
        np.testing.assert_allclose(ours.Sigma, textbook.Sigma, atol=1e-9)


@pytest.mark.parametrize("sensitivity", ["saltation", "reset"])
@given(height=st.floats(0.2, 0.9), seed=st.integers(0, 100))
@settings(max_examples=10)
def test_an_identity_saltation_is_a_plain_filter(sensitivity, height, seed):
    """One flow cut in two with nothing at the cut; without noise in the flow, it is not there."""
    rng, x = np.random.default_rng(seed), np.array([1.0, -1.0])
    cut, whole = (
        SaltedKalmanFilter(model_of(system, Q=0.0), 0, x, 0.2 * EYE, sensitivity=sensitivity)
        for system in (spring(height), spring())
    )
    transitions = 0
    for _ in range(6):
        u, y = rng.normal(size=1), x + rng.normal(size=2)
        a, b = cut.step(u, y, 0.1), whole.step(u, y, 0.1)
        transitions += a.transitions
        np.testing.assert_allclose(a.mean, b.mean, atol=1e-9)
        np.testing.assert_allclose(a.Sigma, b.Sigma, atol=1e-9)
    assert transitions <= 1


@settings(max_examples=20)
@given(h=st.floats(0.01, 3.0), seed=st.integers(0, 100))
def test_white_noise_is_van_loans_integral(h, seed):
    root = np.random.default_rng(seed).normal(size=(2, 2))
    Q, Sigma = root @ root.T, np.diag([0.3, 0.1])
    model = dataclasses.replace(model_of(spring()), process={0: ProcessNoise(Q, power=1)})
    belief = SaltedKalmanFilter(model, 0, np.array([1.0, 0.5]), Sigma).predict(NO_FORCE, h)
    A = expm(SPRING * h)
    expected = A @ Sigma @ A.T + van_loan(SPRING, Q, h)
    np.testing.assert_allclose(belief.Sigma, expected, rtol=1e-8, atol=1e-9)


@settings(max_examples=20)
@given(first=st.floats(0.01, 1.49), power=st.sampled_from([1, 2]), cut=st.sampled_from([None, 0.6]))
def test_only_white_noise_adds_up_alike_in_long_and_short_steps(first, power, cut):
    """Of a spring, and through the identity in the middle of it."""
    x = np.array([1.0, 0.5])
    model = model_of(spring(cut), power=power)
    one, two = (SaltedKalmanFilter(model, 0, x, EYE) for _ in range(2))
    one.predict(NO_FORCE, 1.5)
    two.predict(NO_FORCE, first)
    two.predict(NO_FORCE, 1.5 - first)
    np.testing.assert_allclose(one.belief.mean, two.belief.mean, atol=1e-9)
    same = np.allclose(one.belief.Sigma, two.belief.Sigma, rtol=1e-7)
    assert same == (power == 1) or first < 0.05


@settings(max_examples=20)
@given(distance=st.floats(0.1, 2.0), duration=st.floats(0.0, 3.0))
def test_noise_of_each_timestep_is_added_once_whatever_happens_in_it(distance, duration):
    assume(abs(distance - duration) > 1e-6)
    model = model_of(constant_flow(), power=0)
    belief = SaltedKalmanFilter(model, LEFT, np.array([-distance, 1.0]), EYE).predict(
        NONE, duration
    )
    M = XI if duration > distance else EYE
    expected = M @ M.T + (0.01 * EYE if duration > 0.0 else 0.0)
    np.testing.assert_allclose(belief.Sigma, expected, atol=1e-9)


@given(
    distance=st.floats(0.1, 2.0),
    after=st.floats(0.1, 2.0),
    a=st.floats(0.1, 2.0),
    c=st.floats(0.1, 2.0),
    correlation=st.floats(-0.9, 0.9),
)
def test_the_closed_form_of_constant_flow(distance, after, a, c, correlation):
    """(4.15), (4.16) with A = I, W = 0.01 h^2 I before and after, and Xi of (3.164)."""
    b = correlation * np.sqrt(a * c)
    Sigma, W_R = np.array([[a, b], [b, c]]), np.diag([0.03, 0.02])
    model = model_of(constant_flow(), reset_noise={(LEFT, RIGHT): W_R})
    x = np.array([-distance, 1.0])
    for sensitivity, M in (("saltation", XI), ("reset", EYE)):
        found = SaltedKalmanFilter(model, LEFT, x, Sigma, sensitivity=sensitivity)
        belief = found.predict(NONE, distance + after)
        before = Sigma + 0.01 * distance**2 * EYE
        expected = M @ before @ M.T + W_R + 0.01 * after**2 * EYE
        np.testing.assert_allclose(belief.Sigma, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(belief.mean, [after, 1.0 - distance + after], atol=1e-12)
        assert (belief.mode, belief.transitions) == (RIGHT, 1) and belief.status in SOUND


@settings(max_examples=20)
@given(
    height=st.floats(0.2, 2.0),
    velocity=st.floats(-3.0, -0.1),
    force=st.floats(-2.0, 2.0),
    duration=st.floats(0.1, 2.0),
    sensitivity=st.sampled_from(["saltation", "reset"]),
)
def test_several_bounces_in_one_step_are_the_variational_map(
    height, velocity, force, duration, sensitivity
):
    system, x, u = bouncing_ball(), np.array([height, velocity]), np.array([force])
    Sigma = np.array([[0.1, 0.02], [0.02, 0.3]])
    naive = sensitivity == "reset"
    expected = fundamental_matrix(system, FALLING, x, duration, u, with_reset_jacobian=naive)
    assume(expected.ok)
    found = SaltedKalmanFilter(model_of(system, Q=0.0), FALLING, x, Sigma, sensitivity=sensitivity)
    belief = found.predict(u, duration)
    assert belief.mode == expected.mode and belief.status in SOUND
    assert belief.transitions == len(expected.events)
    np.testing.assert_allclose(belief.mean, expected.state, atol=1e-12)
    np.testing.assert_allclose(belief.Sigma, expected.covariance(Sigma), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("depth", [1e-8, 0.01, 2.0])
def test_a_measurement_that_pulls_the_mean_into_a_guard(depth):
    """(4.17), (4.18): however deep, by Xi, where a simulation's event would be taken as a jump."""
    model = model_of(constant_flow(), V=1e-12, reset_noise={(LEFT, RIGHT): 0.25 * EYE})
    found = SaltedKalmanFilter(model, LEFT, np.array([-0.5, 0.0]), EYE)
    belief = found.correct(NONE, np.array([depth, 0.3]))
    assert (belief.mode, belief.transitions) == (RIGHT, 1) and belief.status in SOUND
    np.testing.assert_allclose(belief.mean, [depth, 0.3], atol=1e-9)
    np.testing.assert_allclose(belief.Sigma - 0.25 * EYE, 1e-12 * XI @ XI.T, rtol=1e-3, atol=1e-16)


def test_pulled_below_the_floor_on_the_way_up_is_no_impact():
    """(4.2) wants the guard to fall: the ball is on its way out, and no second impact follows."""
    found = SaltedKalmanFilter(
        model_of(bouncing_ball(), V=1e-12), FALLING, np.array([0.1, -1.0]), EYE
    )
    belief = found.correct(NO_FORCE, np.array([-0.02, 2.0]))
    assert (belief.mode, belief.transitions) == (FALLING, 0)
    belief = found.predict(NO_FORCE, 0.1)
    assert (belief.mode, belief.transitions, belief.status) == (FALLING, 0, "ok")
    np.testing.assert_allclose(belief.mean, [-0.02 + 0.2 - 0.049, 2.0 - 0.98], atol=1e-9)
    assert found.predict(NO_FORCE, 0.3).mode == RISING  # and it does fall on the floor at last


def test_a_state_that_turns_behind_its_guard_is_taken_through_at_the_end_of_the_step():
    found = SaltedKalmanFilter(
        model_of(bouncing_ball(), V=1e-12), FALLING, np.array([0.1, -1.0]), EYE
    )
    found.correct(NO_FORCE, np.array([-0.5, 0.2]))
    belief = found.predict(NO_FORCE, 0.1)
    assert (belief.mode, belief.transitions) == (RISING, 1) and belief.status in SOUND
    assert belief.mean[1] == pytest.approx(-0.75 * (0.2 - 0.98))


def test_a_mean_that_starts_behind_its_guard_is_taken_through_at_once():
    found = SaltedKalmanFilter(model_of(constant_flow(), Q=0.0), LEFT, np.array([0.3, 0.0]), EYE)
    belief = found.predict(NONE, 0.5)
    assert (belief.mode, belief.transitions) == (RIGHT, 1) and belief.status in SOUND
    np.testing.assert_allclose(belief.Sigma, XI @ XI.T, atol=1e-12)
    np.testing.assert_allclose(belief.mean, [0.8, 0.5], atol=1e-12)


def chain_of_resets():
    """A reset that always lands behind the next guard: one event, and one time to find."""

    def right(t, x, u):
        return np.array([1.0, -0.5])

    def drift(t, x, u):
        return np.array([2.0, 0.25 * x[0]])

    def land(t, x, u):
        return np.array([x[0] + x[1] ** 2, 3.0 + x[1]])

    def second(t, x, u):
        return np.array([x[0] - 0.5, 0.5 * x[1]])

    flows = enumerate((right, drift, drift))
    return System(
        {number: Mode(f"mode {number}", 2, 0, flow) for number, flow in flows},
        (
            Transition(0, 1, lambda t, x, u: -x[0], land, name="land"),
            Transition(1, 2, lambda t, x, u: 1.0 - x[1] - x[0], second, name="at once"),
        ),
    )


def test_a_chain_of_resets_is_one_event():
    system, x, Sigma = chain_of_resets(), np.array([-0.4, 0.7]), np.diag([0.1, 0.2])
    expected = fundamental_matrix(system, 0, x, 1.0)
    belief = SaltedKalmanFilter(model_of(system, Q=0.0), 0, x, Sigma).predict(NONE, 1.0)
    assert belief.transitions == 2 and belief.status in SOUND and expected.ok
    np.testing.assert_allclose(belief.Sigma, expected.covariance(Sigma), atol=1e-10)


def test_noise_of_the_first_reset_goes_through_the_second():
    W_R, W_S = np.diag([0.3, 0.4]), np.diag([0.01, 0.02])
    system, x = chain_of_resets(), np.array([-0.5, 0.7])
    noisy = model_of(system, Q=0.0, reset_noise={(0, 1): W_R, (1, 2): W_S})
    with_noise, without = (
        SaltedKalmanFilter(model, 0, x, EYE).predict(NONE, 0.5 + 1e-9).Sigma
        for model in (noisy, model_of(system, Q=0.0))
    )
    D = np.diag([1.0, 0.5])
    np.testing.assert_allclose(with_noise - without, D @ W_R @ D.T + W_S, atol=1e-7)


def test_a_contact_sensor_forces_a_transition():
    system = bouncing_ball()
    found = SaltedKalmanFilter(model_of(system), FALLING, np.array([0.05, -2.0]), EYE)
    belief = found.force(system.transitions[0], NO_FORCE)
    assert (belief.mode, belief.transitions) == (RISING, 1) and belief.status in SOUND
    np.testing.assert_allclose(belief.mean, [0.05, 1.5])
    Xi = np.array([[-0.75, 0.0], [-1.75 * 9.8 / 2.0 * -1.0, -0.75]])
    np.testing.assert_allclose(belief.Sigma, Xi @ Xi.T, atol=1e-12)
    with pytest.raises(ValueError, match="belief is in mode 2"):
        found.force(system.transitions[0], NO_FORCE)
    upwards = SaltedKalmanFilter(model_of(system), FALLING, np.array([0.05, 2.0]), EYE)
    assert upwards.force(system.transitions[0], NO_FORCE).status == "not_transverse"


def test_modes_of_other_dimensions_and_inputs_in_measurements():
    """A mass slides, its velocity u, until it is held; held, it has no state but its place."""

    def slide(t, x, u):
        return np.array([x[1], u[0]])

    def hold(t, x, u):
        return np.zeros(1)

    held = Transition(0, 1, lambda t, x, u: 1.0 - x[0], lambda t, x, u: x[:1].copy(), name="held")
    system = System({0: Mode("slides", 2, 1, slide), 1: Mode("held", 1, 0, hold)}, (held,))
    model = FilterModel(
        system,
        {0: ProcessNoise(np.zeros((2, 2))), 1: ProcessNoise(np.zeros((1, 1)))},
        {
            0: Measurement(lambda t, x, u: np.array([x[0] + u[0]]), np.eye(1)),
            1: Measurement(lambda t, x, u: np.array([x[0], x[0] + t]), np.eye(2)),
        },
    )
    found = SaltedKalmanFilter(model, 0, np.array([0.0, 2.0]), 0.5 * EYE)
    found.step(np.array([0.0]), None, 0.25)
    belief = found.correct(np.array([3.0]), np.array([3.5]))
    np.testing.assert_allclose(belief.mean, [0.5, 2.0], atol=1e-12)
    belief = found.step(np.zeros(1), np.array([1.0, 1.75]), 0.5)
    assert belief.mode == 1 and belief.Sigma.shape == (1, 1) and belief.mean.shape == (1,)
    np.testing.assert_allclose(belief.mean, [1.0], atol=1e-12)
    assert belief.Sigma[0, 0] == pytest.approx(0.0, abs=1e-12)  # it stops where the guard is


def test_a_measurement_of_another_size_is_rejected_and_says_so():
    found: HybridFilter = SaltedKalmanFilter(model_of(constant_flow()), LEFT, -np.ones(2), EYE)
    predicted = found.step(NONE, None, 0.1)
    belief = found.step(NONE, np.zeros(3), 0.0)
    assert belief.status == "rejected" and (belief.mean == predicted.mean).all()
    assert found.step(NONE, np.array([-0.9, -1.1]), 0.1).status in SOUND


def test_a_bad_measurement_is_flagged_and_the_prediction_stands():
    found = SaltedKalmanFilter(model_of(constant_flow()), LEFT, np.array([-1.0, 0.0]), EYE)
    belief = found.step(NONE, np.array([np.nan, 0.0]), 0.5)
    assert belief.status == "not_finite" and belief.time == 0.5 and found.innovation is None
    np.testing.assert_allclose(belief.mean, [-0.5, -0.5])
    np.testing.assert_allclose(belief.Sigma, (1.0 + 0.01 * 0.25) * EYE)
    assert found.step(NONE, np.array([-0.4, -0.6]), 0.1).status in SOUND
    assert found.innovation.residual == pytest.approx([0.0, 0.0], abs=1e-12)


def test_a_covariance_that_overflows_is_not_believed():
    found = SaltedKalmanFilter(model_of(constant_flow()), LEFT, np.array([-1.0, 0.0]), 1e308 * EYE)
    belief = found.predict(NONE, 1.5)
    assert belief.status == "not_finite" and belief.time == 1.5
    assert belief.mode == LEFT and (belief.Sigma == 1e308 * EYE).all()


def test_a_ball_at_rest_is_flagged_and_kept_where_it_came_to():
    found = SaltedKalmanFilter(
        model_of(bouncing_ball()), FALLING, np.array([0.01, 0.0]), 0.01 * EYE
    )
    belief = found.predict(NO_FORCE, 5.0)
    assert belief.status == "simulation_failed" and belief.time == 5.0
    assert abs(belief.mean[0]) < 1e-3 and np.linalg.eigvalsh(belief.Sigma)[0] > 0.1  # W grew on
    belief = found.step(NO_FORCE, np.array([0.0, 0.0]), 0.01)
    assert belief.time == pytest.approx(5.01) and np.isfinite(belief.Sigma).all()


@pytest.mark.parametrize("duration", [-0.1, np.nan, np.inf])
def test_a_duration_that_is_none_is_flagged(duration):
    found = SaltedKalmanFilter(model_of(constant_flow()), LEFT, np.array([-1.0, 0.0]), EYE)
    belief = found.predict(NONE, duration)
    assert belief.status == "simulation_failed" and belief.time == 0.0


def test_a_grazed_guard_is_flagged():
    """Forced on the guard's own side with no speed at all: D_x R stands in for Xi."""
    system = bouncing_ball()
    found = SaltedKalmanFilter(model_of(system), FALLING, np.array([0.0, 0.0]), EYE)
    belief = found.force(system.transitions[0], NO_FORCE)
    assert belief.status == "not_transverse" and np.isfinite(belief.Sigma).all()


JUNK = arrays(np.float64, 2, elements=st.floats(allow_nan=True, allow_infinity=True))


@settings(max_examples=40)
@given(
    data=st.lists(
        st.tuples(st.one_of(st.none(), JUNK, arrays(np.float64, 2, elements=st.floats(-3.0, 3.0)))),
        min_size=1,
        max_size=8,
    ),
    duration=st.floats(0.0, 0.4),
    sensitivity=st.sampled_from(["saltation", "reset"]),
)
def test_junk_never_raises_and_leaves_a_covariance(data, duration, sensitivity):
    found = SaltedKalmanFilter(
        model_of(bouncing_ball()), FALLING, np.array([0.5, 0.0]), EYE, sensitivity=sensitivity
    )
    for (y,) in data:
        time = found.belief.time
        belief = found.step(NO_FORCE, y, duration)
        assert belief.time == time + duration
        assert np.isfinite(belief.mean).all() and np.isfinite(belief.Sigma).all()
        assert (belief.Sigma == belief.Sigma.T).all()
        values = np.linalg.eigvalsh(belief.Sigma)
        assert values[0] >= -1e-12 * values[-1]
        if y is not None and not np.isfinite(y).all():
            assert belief.status != "ok"


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"mode": 7}, "no mode 7"),
        ({"mean": np.zeros(3)}, r"mean of mode 1 has shape \(3,\)"),
        ({"Sigma": np.eye(3)}, "Sigma of mode 1"),
        ({"Sigma": np.nan * EYE}, "not finite"),
        ({"Sigma": np.diag([1.0, -1.0])}, "smallest eigenvalue is -1: give"),
        ({"Sigma": np.array([[1.0, 0.5], [0.0, 1.0]])}, "symmetric"),
        ({"time": np.nan}, "time nan s, is not finite"),
        ({"sensitivity": "none"}, "neither"),
    ],
)
def test_a_wrong_start_is_one_clear_line(change, match):
    given = {"mode": LEFT, "mean": np.zeros(2), "Sigma": EYE, **change}
    with pytest.raises(ValueError, match=match):
        SaltedKalmanFilter(model_of(constant_flow()), **given)


def test_an_input_of_another_width_is_flagged_and_named():
    found = SaltedKalmanFilter(model_of(bouncing_ball()), FALLING, np.array([1.0, 0.0]), EYE)
    belief = found.step(np.zeros(3), None, 0.1)
    assert belief.status == "simulation_failed" and belief.time == 0.1
    assert "the input has shape (3,); the system takes (1,)" in belief.message
    assert found.step(NO_FORCE, np.array([1.0, -0.9]), 0.1).status == "ok"


def test_a_function_that_raises_is_a_status_with_its_message():
    def wrong(t, x, u):
        if t > 0.15:
            raise KeyError("no such gain")
        return np.array([1.0])

    model = FilterModel(
        System({0: Mode("only", 1, 0, wrong)}, ()),
        {0: ProcessNoise(np.eye(1))},
        {0: Measurement(lambda t, x, u: x.copy(), np.eye(1))},
    )
    found = SaltedKalmanFilter(model, 0, np.zeros(1), np.eye(1))
    assert found.step(NONE, np.zeros(1), 0.1).status == "ok"
    belief = found.step(NONE, np.zeros(1), 0.1)
    assert belief.status == "simulation_failed" and "no such gain" in belief.message


def test_noise_that_is_no_covariance_is_refused_with_what_to_do():
    with pytest.raises(ValueError, match="process noise Q is no covariance.*give a symmetric"):
        ProcessNoise(np.diag([1.0, -0.1]))
    with pytest.raises(ValueError, match="power 3: give 2"):
        ProcessNoise(EYE, power=3)
    with pytest.raises(ValueError, match="measurement noise V of mode 1"):
        model_of(constant_flow(), V=-0.1)


def test_an_input_that_is_not_finite_is_flagged_and_forgotten():
    found = SaltedKalmanFilter(model_of(bouncing_ball()), FALLING, np.array([1.0, 0.0]), EYE)
    belief = found.step(np.array([np.nan]), np.array([1.0, 0.0]), 0.1)
    assert belief.status == "simulation_failed" and belief.time == 0.1
    assert np.isfinite(belief.mean).all() and np.isfinite(belief.Sigma).all()
    assert found.step(NO_FORCE, np.array([1.0, -0.9]), 0.1).status == "ok"
