"""The salted Kalman filter where nothing is linear: ASLIP's coordinates, and angles on a circle."""

import numpy as np
import pytest

from hybrid.derivatives import jacobian
from hybrid.filters.manifolds import Circle, Euclidean, Product
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.salted import SaltedKalmanFilter
from hybrid.simulation import simulate_step
from hybrid.systems import Mode, System, Transition
from hybrid.variational import fundamental_matrix
from studies.kong.systems.aslip import FLIGHT, STANCE, aslip, at_rest
from studies.kong.systems.pendulum import CONTACT, FREE, pendulum

SOUND = ("ok", "inconsistent")
NONE, BODY = np.zeros(0), [0, 1, 2, 5, 6, 7]
START = np.array([0.0, 1.8, 5 * np.pi / 12, 0.0, 0.0, 0.0])  # q_b and its rate, 3.8.5


def aslip_model(Q=0.0, V=1e-4):
    """h_1 reads the body's states, h_2 computes them from the leg's (4.6.2)."""
    system = aslip()
    liftoff = system.transitions[1].reset
    return FilterModel(
        system,
        {mode: ProcessNoise(Q * np.eye(8)) for mode in system.modes},
        {
            FLIGHT: Measurement(lambda t, x, u: x[BODY], V * np.eye(6)),
            STANCE: Measurement(lambda t, x, u: liftoff(t, x, u)[BODY], V * np.eye(6)),
        },
    )


def on_constraint(scale):
    """Covariance of a body with its toe where a leg at rest has it, as in 4.7.2."""
    E = jacobian(at_rest, START)
    return scale * E @ E.T


@pytest.mark.parametrize("sensitivity", ["saltation", "reset"])
def test_other_coordinates_through_touchdown_and_liftoff(sensitivity):
    model, x, Sigma = aslip_model(), at_rest(START), on_constraint(1e-4)
    naive = sensitivity == "reset"
    expected = fundamental_matrix(model.system, FLIGHT, x, 0.5, with_reset_jacobian=naive)
    found = SaltedKalmanFilter(model, FLIGHT, x, Sigma, sensitivity=sensitivity)
    belief = found.predict(NONE, 0.5)
    assert (belief.mode, belief.transitions, belief.status) == (FLIGHT, 2, "ok")
    np.testing.assert_allclose(belief.mean, expected.state, atol=1e-12)
    after = expected.covariance(Sigma)
    np.testing.assert_allclose(belief.Sigma, after, atol=1e-8 * np.max(abs(after)))


def test_a_measurement_in_stance_is_of_the_body():
    """One update against a least-squares fit by differences of h_2."""
    model = aslip_model()
    x = simulate_step(model.system, FLIGHT, at_rest(START), 0.3, NONE).state
    h = model.measurements[STANCE].function
    Sigma = 1e-6 * np.diag([1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    y = h(0.0, x, NONE) + 1e-4 * np.arange(6)
    belief = SaltedKalmanFilter(model, STANCE, x, Sigma).correct(NONE, y)
    C = np.column_stack(
        [(h(0.0, x + 1e-6 * e, NONE) - h(0.0, x - 1e-6 * e, NONE)) / 2e-6 for e in np.eye(8)]
    )
    information = np.linalg.inv(Sigma) + C.T @ C / 1e-4
    np.testing.assert_allclose(belief.Sigma, np.linalg.inv(information), atol=1e-12)
    expected = x + np.linalg.solve(information, C.T @ (y - h(0.0, x, NONE)) / 1e-4)
    np.testing.assert_allclose(belief.mean, expected, atol=1e-10)
    assert belief.mode == STANCE


def test_a_hop_is_followed_from_body_measurements_alone():
    model, rng = aslip_model(Q=0.01), np.random.default_rng(2)
    mode, x = FLIGHT, at_rest(START + 0.01 * rng.normal(size=6))
    found = SaltedKalmanFilter(model, FLIGHT, at_rest(START), on_constraint(1e-4))
    visited, errors = set(), []
    for k in range(60):
        step = simulate_step(model.system, mode, x, 0.01, NONE, 0.01 * k)
        mode, x = step.mode, step.state
        y = model.measurements[mode].function(0.0, x, NONE)
        belief = found.step(NONE, y + 0.01 * rng.normal(size=6), 0.01)
        assert belief.status in SOUND
        visited.add(belief.mode)
        if belief.mode == mode:
            errors.append(np.linalg.norm(belief.mean - x))
    assert visited == {FLIGHT, STANCE} and len(errors) > 56 and np.mean(errors) < 0.06


def circular(x):
    """[cos, sin, rate] of [angle, rate]."""
    return np.array([np.cos(x[0]), np.sin(x[0]), x[1]])


def pendulum_on_circle():
    """The pendulum of 3.8.5 with its angle as a unit vector; the guards are its sine."""
    plain = pendulum()

    def angle(z):
        return 2.0 * np.arctan(z[1] / (1.0 + z[0]))  # arctan2, for complex numbers too

    def lifted(mode):
        def flow(t, z, u):
            rate = plain.modes[mode].flow(t, np.array([angle(z), z[2]]), u)
            return np.array([-z[1] * z[2], z[0] * z[2], rate[1]])

        return Mode(plain.modes[mode].name, 3, 0, flow)

    def crossing(edge, side):
        return Transition(
            edge.source,
            edge.target,
            lambda t, z, u: side * z[1],
            lambda t, z, u: z.copy(),
            name=edge.name,
        )

    edges = tuple(crossing(e, side) for e, side in zip(plain.transitions, (1.0, -1.0), strict=True))
    return System({mode: lifted(mode) for mode in plain.modes}, edges)


def pendulum_models(power=2):
    """With the angle as a number, and as a unit vector."""
    noises = {mode: ProcessNoise(np.diag([0.02, 0.05]), power) for mode in (FREE, CONTACT)}
    V, W_R = 0.01 * np.eye(2), {(FREE, CONTACT): np.diag([0.0, 0.01])}
    swing = Product((Circle(), 2), (Euclidean(1), 1))

    def height_and_rate(t, x, u):
        return np.array([np.sin(x[0]), x[1]])

    plain = FilterModel(
        pendulum(),
        noises,
        {mode: Measurement(height_and_rate, V) for mode in noises},
        reset_noise=W_R,
    )
    circle = FilterModel(
        pendulum_on_circle(),
        noises,
        {mode: Measurement(lambda t, z, u: z[1:].copy(), V) for mode in noises},
        reset_noise=W_R,
        manifolds=dict.fromkeys(noises, swing),
    )
    return plain, circle


@pytest.mark.parametrize("sensitivity", ["saltation", "reset"])
def test_an_angle_and_a_unit_vector_are_one_filter(sensitivity):
    """With angles as errors the circle's tangent vectors are what a number's errors are."""
    x, Sigma, rng = np.array([0.5, 0.0]), np.diag([0.01, 0.02]), np.random.default_rng(0)
    plain, circle = pendulum_models()
    a = SaltedKalmanFilter(plain, FREE, x, Sigma, sensitivity=sensitivity)
    b = SaltedKalmanFilter(circle, FREE, circular(x), Sigma, sensitivity=sensitivity)
    mode, transitions = FREE, 0
    for k in range(12):
        step = simulate_step(plain.system, mode, x, 0.1, NONE, 0.1 * k)
        mode, x = step.mode, step.state
        y = np.array([np.sin(x[0]), x[1]]) + 0.1 * rng.normal(size=2)
        of_number, of_vector = a.step(NONE, y, 0.1), b.step(NONE, y, 0.1)
        transitions += of_number.transitions
        assert of_number.mode == of_vector.mode and of_number.status == of_vector.status in SOUND
        np.testing.assert_allclose(of_vector.mean, circular(of_number.mean), atol=1e-8)
        np.testing.assert_allclose(of_vector.Sigma, of_number.Sigma, atol=1e-8)
        assert np.hypot(*of_vector.mean[:2]) == pytest.approx(1.0, abs=1e-14)
        likelihoods = a.innovation.log_likelihood, b.innovation.log_likelihood
        assert likelihoods[0] == pytest.approx(likelihoods[1], abs=1e-6)
    assert transitions >= 1


def test_white_noise_on_a_circle_is_that_of_the_angle():
    """Van Loan's integral of tangent vectors, through an impact."""
    x, Sigma = np.array([0.5, 0.0]), np.diag([0.01, 0.02])
    plain, circle = pendulum_models(power=1)
    a = SaltedKalmanFilter(plain, FREE, x, Sigma).predict(NONE, 0.9)
    b = SaltedKalmanFilter(circle, FREE, circular(x), Sigma).predict(NONE, 0.9)
    assert a.transitions == b.transitions >= 1
    np.testing.assert_allclose(b.mean, circular(a.mean), atol=1e-8)
    np.testing.assert_allclose(b.Sigma, a.Sigma, atol=1e-8)


def test_a_mode_on_a_manifold_needs_tangent_covariances():
    _, circle = pendulum_models()
    with pytest.raises(ValueError, match=r"Sigma of mode 1 has shape \(3, 3\); give \(2, 2\)"):
        SaltedKalmanFilter(circle, FREE, circular(np.zeros(2)), np.eye(3))


def test_the_two_sensitivities_part_at_an_event_and_nowhere_else():
    plain, _ = pendulum_models()
    x, Sigma = np.array([0.1, -1.0]), 0.01 * np.eye(2)
    for duration, differ in ((0.05, False), (0.2, True)):
        ends = [
            SaltedKalmanFilter(plain, FREE, x, Sigma, sensitivity=how).predict(NONE, duration)
            for how in ("saltation", "reset")
        ]
        assert (ends[0].mean == ends[1].mean).all()
        apart = np.max(abs(ends[0].Sigma - ends[1].Sigma))
        assert apart > 1e-3 if differ else apart == 0.0
