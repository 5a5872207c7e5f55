"""Plans of a small motion: near its pose, within its limits, or with a limit and a knot named."""

import numpy as np
import pytest
from msgspec.structs import replace
from pytest import approx

from controller.limits import Limits
from controller.options import FEASIBLE, Motion, Phase, Pose
from controller.planner_options import KeepOut, LimitOptions
from saltus.launch.references import make_plan, read_motion
from tests.a1 import A1

FOLDED = (0.0, 1.0, -2.0)
CROUCH = Motion(
    phases=(
        Phase("crouch", 0.2, end=Pose(position=(0.0, 0.0, 0.25), front=FOLDED, rear=FOLDED)),
        Phase("stand", 0.2),
    )
)


@pytest.fixture(scope="module")
def crouch():
    return make_plan(CROUCH, "a1")


def test_a_plan_comes_near_its_pose_and_ends_in_a_stand(crouch):
    reference = crouch.reference
    assert crouch.solution.status in FEASIBLE
    assert reference.q[20, 2] == approx(0.25, abs=0.02)
    assert reference.q[-1, 2] == approx(0.3, abs=0.02)
    assert reference.contacts[5:35].all() and reference.gains is not None


def test_a_plan_keeps_every_limit(crouch):
    states = np.hstack([crouch.reference.q, crouch.reference.v])
    limits = Limits(CROUCH.limits, A1)
    worst = limits.values(states[None], crouch.reference.inputs[None, :-1]).max()
    assert worst <= 1e-2
    assert crouch.solution.violation.value == approx(max(0.0, worst), abs=1e-12)


def test_where_the_limits_cannot_be_kept_the_message_names_one_and_its_knot():
    box = KeepOut((-9.0, -9.0, 0.0), (9.0, 9.0, 9.0))
    inside = Motion(phases=(Phase("stand", 0.1),), limits=LimitOptions(keep_out=(box,)))
    solution = make_plan(inside, "a1").solution
    assert solution.status not in FEASIBLE
    assert solution.violation.name in solution.message and "at knot" in solution.message


@pytest.mark.slow
def test_another_seed_keeps_limits_that_the_first_does_not():
    _, leap = read_motion("leap")
    limits = replace(leap.limits, power=850.0)
    plan = make_plan(replace(leap, limits=limits), "a1")
    assert plan.solution.status in FEASIBLE


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["go1", "go2"])
def test_a_robot_s_own_backflip_stays_within_its_tolerance(robot):
    _, flip = read_motion("backflip", robot)
    plan = make_plan(flip, robot, 2)
    assert plan.solution.status in FEASIBLE
    assert plan.solution.violation.value <= flip.tolerance
