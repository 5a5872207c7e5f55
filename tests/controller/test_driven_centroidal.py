"""Convex MPC and Instant QP, driven: laws of their path, their swings and their plans."""

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_allclose, assert_array_equal

from controller.centroidal.convex_mpc import convex_mpc
from controller.centroidal.instant_qp import instant_qp
from controller.centroidal.path import DrivenPath
from controller.driving.commands import Goal
from controller.options import DriveOptions
from controller.planner_options import ConvexMpcOptions, InstantQpOptions
from robots.planar_pose import PlanarPose
from robots.rotations import exp3
from robots.state import difference
from tests.a1 import A1, STAND, estimate, feet_in_world

PERIOD = 0.01
MPC, QP = ConvexMpcOptions(), InstantQpOptions()
MAKERS = [
    lambda goal: convex_mpc(MPC, A1, driven(goal), False),
    lambda goal: instant_qp(QP, A1, driven(goal, QP), False),
]


def driven(goal, options=MPC):
    path = DrivenPath(options, A1, DriveOptions())
    path.course.goal = goal
    return path


def walk(planner, knots):
    """Estimates of a robot that does what each plan says, from a stand, and the plans."""
    rows, q, v, touching = [], STAND, np.zeros(18), np.ones(4)
    for k in range(knots):
        now = estimate(10 * k, time=3.0 + k * PERIOD, q=q, v=v, contact=touching)
        plan = planner.solve(now)
        rows.append((now, plan))
        q, v, touching = plan.states_q[1], plan.states_v[1], plan.contacts[0]
    return rows


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("yaw", [-2.0, 0.4, 3.1])
def test_plans_turn_and_move_with_the_world(make, yaw):
    """As far as the solver's tolerance goes, which rounding may have it meet sooner or later."""
    pose, goal = PlanarPose(1.0, -0.7, yaw), Goal(0.4, 0.1, 0.6, None, "trot")
    planner, rows = make(goal), walk(make(goal), 60)
    assert any(plan.contacts[0].min() < 0.5 for _, plan in rows)
    errors = []
    for now, here in rows:
        there = planner.solve(replace(now, q=pose.to_world(now.q)))
        assert there.status == here.status == "ok"
        assert_array_equal(there.contacts, here.contacts)
        states = zip(
            there.states_q, pose.to_world(here.states_q), there.states_v, here.states_v,
            strict=True,
        )  # fmt: skip
        away = np.array([difference(a, v, b, w) for a, b, v, w in states])
        errors.append([np.abs(away).max(), np.abs(there.inputs - here.inputs).max()])
    assert np.all(np.median(errors, axis=0) < (1e-4, 5e-3))
    assert np.all(np.max(errors, axis=0) < (0.5, 1.0))


@pytest.mark.parametrize("make", MAKERS)
def test_feet_that_stand_do_not_move_in_a_plan_that_turns(make):
    for _, plan in walk(make(Goal(0.5, 0.1, 1.0, None, "trot")), 90)[::7]:
        feet, stands = np.array([feet_in_world(q) for q in plan.states_q]), plan.contacts > 0.5
        both = stands[1:] & stands[:-1]
        assert both.any()
        assert_allclose(feet[1:-1][both], feet[:-2][both], atol=1e-6)


@pytest.mark.parametrize("make", MAKERS)
def test_a_robot_that_does_as_planned_goes_where_it_is_asked_to(make):
    rows = walk(make(Goal(0.4, 0.1, 0.5, None, "trot")), 200)
    v = np.array([plan.states_v[0, [0, 1, 5]] for _, plan in rows])
    assert_allclose(v[100:].mean(axis=0), [0.4, 0.1, 0.5], atol=0.1)


def test_states_begin_at_the_body_and_end_at_the_goal():
    path, state, com = driven(Goal(0.4, 0.0, 0.8, 0.25, "trot")), np.zeros(37), np.zeros(3)
    state[:7] = STAND[:7]
    path.meet(0.0, state, com)
    h, times = 1e-4, np.array([0.003, 0.103, 0.303])  # inside intervals: it is linear there
    x, after = path.states(0.003, com, times), path.states(0.003, com, times + h)
    assert_array_equal(x[0, 3:5], com[:2])
    assert_allclose((after - x)[:, 2:6] / h, x[:, 8:12], atol=2e-2)
    last = path.states(0.003, com, np.array([1.2]))[0]
    turn = exp3(np.array([0.0, 0.0, last[2]]))
    velocity = turn @ ([0.4, 0.0, 0.0] + np.cross([0.0, 0.0, 0.8], path.com))
    back = path.states(0.0, com, np.zeros(1))[0, 9:12]  # bounded, and to the path
    assert np.hypot(*back[:2]) <= MPC.path.return_speed + 1e-9
    assert_allclose(last[8:12], [0.8, *(velocity + back)[:2], 0.0], atol=2e-2)
