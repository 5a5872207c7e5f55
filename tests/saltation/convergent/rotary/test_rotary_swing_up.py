"""Swing-ups: tasks that can be met and that cannot, and how true plans are to the model."""

from functools import cache

import numpy as np

from saltation.convergent.rotary.parameters import QUBE_SERVO_2
from saltation.convergent.rotary.swing_up import SwingUpCost, SwingUpOptions, SwingUpPlanner
from saltation.convergent.rotary.trajectory import accuracy, measure

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


def test_an_interval_is_true_to_the_fifth_order():
    coarse, fine = (accuracy(QUBE_SERVO_2, plan(n)[0]) for n in (61, 121))
    assert fine.interval < 0.02  # rad/s, of some 20
    assert 3.5 < np.log2(coarse.interval / fine.interval) < 6.5


def test_too_little_torque_is_a_status_with_a_waypoint():
    planner = SwingUpPlanner(SwingUpOptions(1.0, 31, torque_limit=0.005, max_iterations=300))
    swing = planner.solve(SwingUpCost())
    assert swing.status in ("infeasible", "iteration_limit")
    assert "collocation of the" in swing.message and "at waypoint" in swing.message


def test_numbers_that_are_none_are_a_status():
    seed = plan()[0]
    planner = SwingUpPlanner(SwingUpOptions(1.0, 31, 0.1))
    for swing in (
        planner.solve(SwingUpCost(np.nan)),
        planner.solve(SMOOTH, seed._replace(states=np.nan * seed.states)),
    ):
        assert swing.status == "solver_failed" and "at waypoint" in swing.message
