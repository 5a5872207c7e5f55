"""Plans do not depend on where the world has its origin and its heading 0."""

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_allclose
from pytest import approx

from controller.options import SafetyGateOptions, TrackerOptions
from controller.planner import Planner
from controller.tracker import Tracker
from robots.planar_pose import PlanarPose
from saltus.configuration.launch import load_launch
from saltus.launch.lock_step import LockStep
from tests.a1 import A1
from tests.controller import tracker_messages
from tests.tables import yaml_table

TURN = PlanarPose(1000.0, -300.0, 2.5)


class Forward(Planner):
    """Notes what it gets; its plan leads a metre ahead."""

    def __init__(self):
        self.seen = []

    def solve(
        self, estimate, lead = 0.0, out_of_time = None,
        on_plan = None,
    ):  # fmt: skip
        self.seen.append(estimate.q)
        plan = plan_of(estimate.q + np.eye(1, 19)[0], len(self.seen))
        if on_plan is not None:
            on_plan(plan)
        return plan


def plan_of(q, number=1):
    return replace(tracker_messages.plan(number, knots=1), states_q=np.array([q, q]))


def standing(pose, status="ok"):
    q, v = tracker_messages.standing()
    return tracker_messages.estimate(0, pose.to_world(q), v, status)


def test_a_planner_sees_the_robot_begin_at_the_origin_and_its_plans_are_of_the_world():
    planner, early = Forward(), []
    planner.plan_from(standing(PlanarPose(), "starting"))
    planner.plan_from(replace(standing(PlanarPose()), q=np.full(19, np.nan)))
    for _ in range(2):
        plan = planner.plan_from(standing(TURN), on_plan=early.append)
    ahead = TURN.to_world(standing(PlanarPose()).q + np.eye(1, 19)[0])
    for q in (plan.states_q[0], early[-1].states_q[1]):
        assert_allclose(q, ahead, atol=1e-9)
    assert_allclose(PlanarPose.of(planner.seen[-1]), 0.0, atol=1e-9)
    planner.plan_from(standing(PlanarPose()))  # the robot has gone there meanwhile
    back = PlanarPose.of(planner.seen[-1])
    assert_allclose(TURN.to_world(planner.seen[-1]), standing(PlanarPose()).q, atol=1e-9)
    assert back.yaw == approx(-TURN.yaw)


@pytest.mark.parametrize("pose, accepted", yaml_table("""
    [0, 0, 0] => true
    [0.5, 0.5, 0.5] => true
    [0, 0, 1.57] => false
    [0, 0, -3.1] => false
    [2, 0, 0] => false
    [0, -2, 0] => false
"""))  # fmt: skip
def test_a_first_plan_that_leads_away_is_refused(pose, accepted):
    assert SafetyGateOptions().first_plan_turn == 0.7
    tracker, estimate = Tracker(TrackerOptions(), A1), standing(TURN)
    leads = TURN.to_world(PlanarPose(*pose).to_world(TURN.to_local(estimate.q)))
    reading = tracker_messages.reading(0, estimate.q, estimate.v)
    command = tracker.command(estimate, plan_of(leads), 0.0, reading)
    assert command.reason == ("" if accepted else "first_plan_leads_away")


@pytest.mark.parametrize("planner", ["hilqr", "convex_mpc", "instant_qp", "mppi"])
def test_a_robot_that_is_to_stand_stands_whatever_its_heading(planner):
    start = "simulation.start={heading: 3.1, position: [1000, 0]}"
    run = LockStep(load_launch("stand", [f"planner={planner}", "duration=0.4", start]))
    rates = [abs(float(run.step().truth.v[5])) for _ in range(400)]
    truth = run.simulation.truth()
    assert abs(PlanarPose.of(truth.q).yaw - 3.1) < 0.02 and abs(truth.q[0] - 1000.0) < 0.02
    assert max(rates) < 0.2
