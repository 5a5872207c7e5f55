"""Batches of trials estimate what ``SaltedKalmanFilter`` does with functions in Python."""

import numpy as np
import pytest

from hybrid.derivatives import jacobian
from hybrid.examples.bouncing_ball import FALLING, bouncing_ball
from hybrid.filters.interface import Belief
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.salted import SaltedKalmanFilter
from hybrid.systems import Mode, System, Transition
from studies.kong.filters.coordinates import common
from studies.kong.filters.trials import estimate_trials
from studies.kong.filters.truths import simulate_truths
from studies.kong.systems.aslip import FLIGHT, aslip, at_rest
from studies.kong.systems.constant_flow import LEFT, constant_flow

BODY = np.array([0.0, 1.8, 5.0 * np.pi / 12.0, 0.0, -1.0, 0.0])
BOTH = pytest.mark.parametrize("sensitivity", ["saltation", "reset"])


def first(t, x, u):
    return x[:1]


def whole(t, x, u):
    return x.copy()


def curved(t, x, u):
    return np.array([x[0] + 0.1 * x[1] ** 2, np.sin(x[1]) + 0.01 * t])


def body_coordinates(t, x, u):
    return np.array([x[0], x[1], x[2], x[5], x[6], x[7]])


def body_from_leg(t, x, u):
    """Some six functions of all eight states: agreement does not ask for the right ones."""
    return np.array([x[0] + x[3], x[4] + x[2], x[0] + x[1], x[5], x[6] - x[7], x[7] * x[0]])


def model(system, h, Q, V, reset_noise=None, power=2):
    """A model with one level of noise; h is a function, or one for each mode."""
    functions = h if isinstance(h, dict) else dict.fromkeys(system.modes, h)
    sizes = {mode: system.modes[mode].state_dim for mode in system.modes}
    p = {mode: len(functions[mode](0.0, np.ones(n), np.ones(9))) for mode, n in sizes.items()}
    return FilterModel(
        system,
        {mode: ProcessNoise(Q * np.eye(n), power) for mode, n in sizes.items()},
        {mode: Measurement(functions[mode], V * np.eye(p[mode])) for mode in system.modes},
        reset_noise or {},
    )


def relay():
    """A reset that sets off another one, in modes of 2, 3 and 2 states, with time and input."""
    modes = {
        1: Mode("first", 2, 1, lambda t, x, u: np.array([x[1], u[0] - 9.8 + 0.3 * np.sin(t)])),
        5: Mode("passed", 3, 1, lambda t, x, u: np.array([x[1], 5.0 + x[2], -x[0]])),
        3: Mode("last", 2, 1, lambda t, x, u: np.array([2.0 * x[1], 0.5 * u[0] - x[0]])),
    }
    hit = Transition(
        1,
        5,
        guard=lambda t, x, u: x[0] - 0.1 * np.sin(3.0 * t) - 0.05 * u[0],
        reset=lambda t, x, u: np.array([x[0], -0.6 * x[1] + 0.2 * t * t, u[0] * x[1]]),
        name="hit",
    )
    throw = Transition(
        5,
        3,
        guard=lambda t, x, u: x[1] - 50.0,
        reset=lambda t, x, u: np.array([x[0] * x[1] + t, x[2] + 0.4 * u[0] ** 2]),
        name="throw",
    )
    return System(modes, (hit, throw))


def flow_case():
    start = Belief(0.0, LEFT, np.array([-2.5, 0.0]), 0.1 * np.eye(2), 0, "ok")
    return model(constant_flow(), whole, 0.01, 0.1), start, 0.1, 50, np.zeros(0)


def ball_case():
    """Half of the state measured, nonlinear in time too, and a reset noise."""
    noise = {(1, 2): np.array([[0.0, 0.0], [0.0, 0.01]])}
    start = Belief(0.0, FALLING, np.array([1.0, -0.5]), 0.02 * np.eye(2), 0, "ok")
    return model(bouncing_ball(), curved, 0.05, 0.01, noise), start, 0.07, 20, np.array([0.3])


def aslip_case():
    system, T = aslip(), jacobian(at_rest, BODY)
    start = Belief(0.0, FLIGHT, at_rest(BODY), 1e-4 * T @ T.T, 0, "ok")
    h = {1: body_coordinates, 2: body_from_leg}
    return model(system, h, 1e-4, 1e-3), start, 0.02, 20, np.zeros(0)


def relay_case():
    noise = {(1, 5): 0.01 * np.eye(3), (5, 3): 0.02 * np.eye(2)}
    start = Belief(0.4, 1, np.array([1.0, -0.5]), 0.01 * np.eye(2), 0, "ok")
    return model(relay(), first, 0.01, 0.05, noise, 1), start, 0.1, 8, np.array([0.7])


CASES = {"flow": flow_case, "ball": ball_case, "aslip": aslip_case, "relay": relay_case}


def trials(case, count, seed=0):
    """A case's measurements, which need not be from the system's own time."""
    known, start, dt, steps, u = case
    spread = np.linalg.cholesky(start.Sigma + 1e-12 * np.eye(len(start.mean)))
    room = np.zeros((count, known.system.state_dim))
    drawn = np.random.default_rng(seed).standard_normal((count, len(start.mean)))
    room[:, : len(start.mean)] = start.mean + drawn @ spread.T
    return simulate_truths(known, start.mode, room, dt, steps, seed, u)


@BOTH
@pytest.mark.parametrize("name", CASES)
def test_the_same_estimates_as_the_interpreted_filter(name, sensitivity):
    case = CASES[name]()
    known, start, dt, steps, u = case
    ys, count = trials(case, 4).measurements, 4
    batch = estimate_trials(known, start, ys, dt, sensitivity, u, every_covariance=True)
    changes = 0
    for b in range(count):
        one = SaltedKalmanFilter(
            known, start.mode, start.mean, start.Sigma, start.time, sensitivity
        )
        for k in range(steps):
            belief = one.step(u, ys[b, k], dt)
            n = len(belief.mean)
            assert belief.mode == batch.modes[b, k + 1]
            changes += belief.transitions
            np.testing.assert_allclose(batch.means[b, k + 1, :n], belief.mean, atol=1e-8)
            np.testing.assert_allclose(batch.Sigmas[b, k + 1, :n, :n], belief.Sigma, atol=1e-8)
            assert not batch.means[b, k + 1, n:].any() and not batch.Sigmas[b, k + 1, n:].any()
    assert changes >= count and batch.ok.all()


def test_threads_and_other_trials_change_nothing():
    case = ball_case()
    known, start, dt, steps, u = case
    few, many = trials(case, 3), trials(case, 7)
    np.testing.assert_array_equal(few.states, many.states[:3])
    np.testing.assert_array_equal(few.measurements, many.measurements[:3])
    again = simulate_truths(known, start.mode, many.states[:, 0], dt, steps, 0, u, threads=3)
    np.testing.assert_array_equal(again.measurements, many.measurements)
    one, three = (
        estimate_trials(known, start, many.measurements, dt, u=u, threads=n) for n in (1, 3)
    )
    np.testing.assert_array_equal(one.means, three.means)
    np.testing.assert_array_equal(one.Sigmas, three.Sigmas)


def test_a_measurement_that_is_not_finite_is_not_used_and_said():
    known, start, dt, _, u = flow_case()
    ys = trials(flow_case(), 2).measurements
    ys[0, 3] = np.nan
    batch = estimate_trials(known, start, ys, dt, every_covariance=True)
    assert batch.status == ("not_finite", "ok")
    assert np.isfinite(batch.means).all() and np.isfinite(batch.Sigmas).all()
    moved = batch.means[0, 4] - batch.means[0, 3]
    np.testing.assert_allclose(moved, [dt, -dt], atol=1e-12)


def test_states_in_coordinates_that_all_modes_share():
    known, _, _, _, _ = aslip_case()
    truths = trials(aslip_case(), 2)
    shared = {1: whole, 2: known.system.transitions[1].reset}
    found = common(known.system, truths.modes, truths.states, shared)
    for b, k in ((0, 4), (1, 14)):
        state = truths.states[b, k].copy()
        expected = shared[int(truths.modes[b, k])](0.0, state, np.zeros(0))
        np.testing.assert_allclose(found[b, k], expected, rtol=1e-12)
    assert {1, 2} == set(np.unique(truths.modes)), "stance must have been compared too"


def test_what_the_batch_cannot_do_is_refused():
    known, start, dt, _, u = flow_case()
    with pytest.raises(ValueError, match=r"give \(B, K, 2\)"):
        estimate_trials(known, start, np.zeros((3, 4)), dt)
    with pytest.raises(ValueError, match=r"give \(B, 2\)"):
        simulate_truths(known, LEFT, np.zeros((3, 5)), dt, 2, 0)
    with pytest.raises(ValueError, match="positive"):
        estimate_trials(known, start, np.zeros((1, 1, 2)), np.nan)
    with pytest.raises(ValueError, match="no covariance"):
        estimate_trials(known, start._replace(Sigma=-np.eye(2)), np.zeros((1, 1, 2)), dt)
    wrong = dict.fromkeys((1, 2), Measurement(whole, np.eye(3)))
    with pytest.raises(ValueError, match=r"of mode 1 gives shape \(2,\), not \(3,\)"):
        known = FilterModel(constant_flow(), known.process, wrong)
        estimate_trials(known, start, np.zeros((1, 1, 3)), dt)


def test_functions_that_do_not_compile_are_called_in_python():
    """A flow, a guard and a measurement that numba does not understand, on several threads."""
    opaque = {"drop": -9.8, "bounce": 0.8}

    def fall(t, x, u):
        return np.array([x[1], opaque.get("drop")])

    def impact(t, x, u):
        return np.array([x[0], -opaque.get("bounce") * x[1]])

    def seen(t, x, u):
        return np.array([float(str(x[0]))])

    def plain_fall(t, x, u):
        return np.array([x[1], -9.8])

    def plain_impact(t, x, u):
        return np.array([x[0], -0.8 * x[1]])

    def height(t, x, u):
        return x[0]

    both = []
    for flow, reset, h in ((fall, impact, seen), (plain_fall, plain_impact, first)):
        edge = Transition(1, 1, height, reset, time_invariant=True)
        known = model(System({1: Mode("ball", 2, 0, flow)}, (edge,)), h, 0.01, 0.001)
        start = Belief(0.0, 1, np.array([0.5, 0.0]), 0.01 * np.eye(2), 0, "ok")
        truths = simulate_truths(known, 1, np.tile(start.mean, (3, 1)), 0.05, 12, 0, threads=2)
        both.append(estimate_trials(known, start, truths.measurements, 0.05, threads=2))
    np.testing.assert_allclose(both[0].means, both[1].means, atol=1e-7)
    np.testing.assert_allclose(both[0].Sigmas, both[1].Sigmas, atol=1e-7)
    assert both[0].ok.all()


def test_modes_may_be_measured_by_different_numbers_of_values():
    uneven = model(constant_flow(), {1: first, 2: whole}, 0.0, 1.0)
    start = Belief(0.0, LEFT, np.array([-2.5, 0.0]), 0.1 * np.eye(2), 0, "ok")
    batch = estimate_trials(uneven, start, np.zeros((1, 4, 1)), 1.0)
    assert batch.status == ("rejected",) and batch.modes[0, -1] == 2
    assert np.isfinite(batch.squared[0]).sum() == 2
