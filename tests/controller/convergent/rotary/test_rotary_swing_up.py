"""Swing-ups: tasks that can be met and that cannot, and how true plans are to the model."""

import pickle
from functools import cache

import casadi as ca
import numpy as np
import pytest

from controller.convergent.rotary.divergence import average_divergence
from controller.convergent.rotary.parameters import QUBE_MOTOR, QUBE_SERVO_2
from controller.convergent.rotary.swing_up import (
    SwingUpCost,
    SwingUpOptions,
    SwingUpPlanner,
    _stretched,
    _transcribe,
)
from controller.convergent.rotary.trajectory import SwingUp, accuracy, interpolants, measure

SMOOTH = SwingUpCost(1.0, 1e-2)
CONVERGENT = SMOOTH._replace(sigma=10.0)


@cache
def plan(waypoints=61, duration=1.0, torque_limit=0.1):
    """Smooth and convergent swing-ups, the second seeded by the first."""
    planner = SwingUpPlanner(SwingUpOptions(duration, waypoints, torque_limit))
    smooth = planner.solve(SMOOTH)
    return smooth, planner.solve(CONVERGENT, smooth)


def test_a_swing_up_goes_from_hanging_to_upright_within_its_limits():
    for swing in plan():
        assert swing.ok, swing.message
        assert np.allclose(swing.states[[0, -1]], [[0, 0, 0, 0], [0, np.pi, 0, 0]], atol=1e-7)
        assert np.max(np.abs(swing.torques)) <= 0.1 + 1e-6
        assert np.max(np.abs(swing.states[:, 0])) <= 0.5 * np.pi + 1e-6


def test_the_weight_of_divergence_makes_it_more_convergent_at_a_price():
    smooth, convergent = (measure(QUBE_SERVO_2, swing) for swing in plan())
    assert convergent.average_divergence < smooth.average_divergence - 0.1
    price = [m.energy / 1e-2 + SMOOTH.gamma * m.roughness / 1e-2 for m in (smooth, convergent)]
    assert price[0] < price[1]


def test_measures_of_a_ramp_on_a_hanging_pole():
    """Where the pole hangs, D_a is constant; a ramp of torque has its integrals in closed form."""
    N, T, top = 41, 0.2, 0.05
    ramp = SwingUp("ok", np.linspace(0.0, T, N), np.zeros((N, 4)), np.linspace(0.0, top, N))
    found = measure(QUBE_SERVO_2, ramp)
    assert found.energy == pytest.approx(top**2 * T / 3.0)
    assert found.roughness == pytest.approx(top**2 / T)
    here = average_divergence(QUBE_SERVO_2, np.zeros(4))
    assert found.average_divergence == pytest.approx(here, rel=1e-6)
    assert found.torque == pytest.approx(top)
    assert found.voltage == pytest.approx(QUBE_MOTOR.voltage(top, 0.0), rel=0.02)


def test_the_programmes_cost_is_what_is_measured():
    swing, options = plan()[1], SwingUpOptions(1.0, 61, 0.1)
    states, torques, q = ca.SX.sym("x", 4, 61), ca.SX.sym("tau", 1, 61), ca.SX.sym("q", 3)
    _, cost = _transcribe(QUBE_SERVO_2, options, states, torques, q)
    value = ca.Function("J", [states, torques, q], [cost])
    found = [float(value(swing.states.T, swing.torques, e)) for e in np.eye(3)]
    known = measure(QUBE_SERVO_2, swing)
    assert found[0] == pytest.approx(known.energy / 1e-2)
    assert found[1] == pytest.approx(known.roughness / 1e-2)
    assert found[2] == pytest.approx(known.average_divergence, rel=1e-2)


def test_an_interval_is_true_to_the_fifth_order():
    coarse, fine = (accuracy(QUBE_SERVO_2, plan(n)[0]) for n in (61, 121))
    assert fine.interval < 0.02  # rad/s, of some 20
    assert 3.5 < np.log2(coarse.interval / fine.interval) < 6.5


def test_the_polynomials_pass_through_the_waypoints():
    swing, _ = plan()
    state, torque = interpolants(QUBE_SERVO_2, swing)
    assert np.allclose(state(swing.times), swing.states)
    assert np.allclose(torque(swing.times), swing.torques)


def test_too_little_torque_is_a_status_with_a_waypoint():
    planner = SwingUpPlanner(SwingUpOptions(1.0, 31, torque_limit=0.005, max_iterations=300))
    swing = planner.solve(SwingUpCost())
    assert swing.status in ("infeasible", "iteration_limit")
    assert "collocation of the" in swing.message and "at waypoint" in swing.message


def test_a_seed_of_another_length_and_duration_is_stretched():
    task = SwingUpOptions(1.2, 31, 0.1)
    swing = SwingUpPlanner(task).solve(SMOOTH, plan()[0])
    assert swing.ok and swing.times[-1] == 1.2 and swing.states.shape == (31, 4)
    guess = _stretched(plan()[0], 31)
    assert np.array_equal(guess[:124].reshape(31, 4), plan()[0].states[::2])
    assert np.array_equal(guess[124:], plan()[0].torques[::2])
    same = np.concatenate([plan()[0].states.ravel(), plan()[0].torques])
    assert np.array_equal(_stretched(plan()[0], 61), same)


def test_numbers_that_are_none_are_a_status():
    seed = plan()[0]
    planner = SwingUpPlanner(SwingUpOptions(1.0, 31, 0.1))
    for swing in (
        planner.solve(SwingUpCost(np.nan)),
        planner.solve(SMOOTH, seed._replace(states=np.nan * seed.states)),
    ):
        assert swing.status == "solver_failed" and "at waypoint" in swing.message


def test_too_few_iterations_are_a_status():
    planner = SwingUpPlanner(SwingUpOptions(1.0, 31, max_iterations=3))
    found = planner.solve(SwingUpCost())
    assert found.status == "iteration_limit" and "more max_iterations" in found.message


@pytest.mark.parametrize(
    "bad",
    [
        {"duration": 0.0},
        {"waypoints": 3},
        {"waypoints": 10.5},
        {"waypoints": np.nan},
        {"torque_limit": -1.0},
        {"arm_limit": np.inf},
        {"duration": np.nan},
        {"max_iterations": 0},
    ],
)
def test_tasks_that_make_no_sense_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        SwingUpOptions(**bad)


@pytest.mark.parametrize(
    "bad", [{"m_p": -1.0}, {"L_p": 0.0}, {"g": np.nan}, {"D_r": -1e-3}, {"J_r": np.ones(2)}]
)
def test_machines_that_are_none_are_refused(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))} .*: give a number"):
        SwingUpPlanner(SwingUpOptions(1.0, 31), QUBE_SERVO_2._replace(**bad))


def test_a_swing_up_that_the_torque_does_not_reach_has_a_remedy():
    found = SwingUpPlanner(SwingUpOptions(1.0, 21, torque_limit=1e-6)).solve(SwingUpCost())
    assert found.status == "infeasible" and "torque_limit" in found.message


def test_a_planner_can_be_sent_to_another_process():
    planner = SwingUpPlanner(SwingUpOptions(1.0, 31, 0.1), QUBE_SERVO_2._replace(D_p=0.0))
    sent = pickle.loads(pickle.dumps(planner))
    assert (sent.options, sent.pendulum) == (planner.options, planner.pendulum)
    cost = SwingUpCost()
    np.testing.assert_array_equal(sent.solve(cost).torques, planner.solve(cost).torques)
