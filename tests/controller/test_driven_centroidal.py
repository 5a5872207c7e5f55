"""Convex MPC and Instant QP, driven: laws of their path, their swings and their plans."""

from collections.abc import Callable

import numpy as np
import pytest
from msgspec.structs import replace

from controller.centroidal.convex_mpc import convex_mpc
from controller.centroidal.instant_qp import instant_qp
from controller.centroidal.path import CommandedPath, DrivenPath
from controller.centroidal.planner import CentroidalPlanner
from controller.driving.commands import Goal
from controller.driving.course import FORWARD, YAW, YAW_RATE, X
from controller.gaits import GAITS, TROT
from controller.options import DriveOptions
from controller.planner_options import ConvexMpcOptions, InstantQpOptions
from robots.legs import foot_positions_in_base
from robots.rotations import (
    exp3,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
)
from robots.state import difference
from runtime.messages import Plan, StateEstimate
from tests.a1 import A1

PERIOD = 0.01
MPC, QP = ConvexMpcOptions(), InstantQpOptions()
STAND = np.concatenate([[0.0, 0.0, A1.stand_height], [0.0, 0.0, 0.0, 1.0], A1.stand])
MAKERS: list[Callable[[Goal], CentroidalPlanner]] = [
    lambda goal: convex_mpc(MPC, A1, driven(goal), False),
    lambda goal: instant_qp(QP, A1, driven(goal, QP), False),
]


def driven(goal: Goal, options: ConvexMpcOptions | InstantQpOptions = MPC) -> DrivenPath:
    path = DrivenPath(options, A1, DriveOptions())
    path.course.goal = goal
    return path


def turned(q: np.ndarray, place: np.ndarray, yaw: float) -> np.ndarray:
    """Configurations (..., 19), turned about the origin by `yaw` [rad] and moved to `place` (2)."""
    turn = exp3(np.array([0.0, 0.0, yaw]))
    rows = np.atleast_2d(q).copy()
    rows[:, :3] = rows[:, :3] @ turn.T + [*place, 0.0]
    for row in rows:
        row[3:7] = quaternion_product(quaternion_from_rotation(turn), row[3:7])
    return rows.reshape(np.shape(q))


def walk(planner: CentroidalPlanner, knots: int) -> list[tuple[StateEstimate, Plan]]:
    """Estimates of a robot that does what each plan says, from a stand, and the plans."""
    rows, q, v, touching = [], STAND, np.zeros(18), np.ones(4)
    for k in range(knots):
        estimate = StateEstimate(
            tick=10 * k, time=3.0 + k * PERIOD, q=q, v=v, contact=touching, status="ok"
        )
        plan = planner.solve(estimate)
        rows.append((estimate, plan))
        q, v, touching = plan.states_q[1], plan.states_v[1], plan.contacts[0]
    return rows


def feet_of(plan: Plan) -> np.ndarray:
    """(N+1, 4, 3) [m] in the world."""
    return np.array([
        q[:3] + foot_positions_in_base(A1.legs, q[7:]) @ rotation_from_quaternion(q[3:7]).T
        for q in plan.states_q
    ])  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("yaw", [-2.0, 0.4, 3.1])
def test_plans_turn_and_move_with_the_world(make, yaw: float) -> None:
    """As far as the solver's tolerance goes, which rounding may have it meet sooner or later."""
    place, goal = np.array([1.0, -0.7]), Goal(0.4, 0.1, 0.6, None, "trot")
    planner, rows = make(goal), walk(make(goal), 60)
    assert any(plan.contacts[0].min() < 0.5 for _, plan in rows)
    errors = []
    for estimate, here in rows:
        there = planner.solve(replace(estimate, q=turned(estimate.q, place, yaw)))
        assert there.status == here.status == "ok"
        np.testing.assert_array_equal(there.contacts, here.contacts)
        states = zip(
            there.states_q, turned(here.states_q, place, yaw), there.states_v, here.states_v,
            strict=True,
        )  # fmt: skip
        away = np.array([difference(a, v, b, w) for a, b, v, w in states])
        errors.append([np.abs(away).max(), np.abs(there.inputs - here.inputs).max()])
    assert np.all(np.median(errors, axis=0) < (1e-4, 5e-3))
    assert np.all(np.max(errors, axis=0) < (0.5, 1.0))


@pytest.mark.parametrize("make", MAKERS)
def test_feet_that_stand_do_not_move_in_a_plan_that_turns(make) -> None:
    for _, plan in walk(make(Goal(0.5, 0.1, 1.0, None, "trot")), 90)[::7]:
        feet, stands = feet_of(plan), plan.contacts > 0.5
        both = stands[1:] & stands[:-1]
        assert both.any()
        np.testing.assert_allclose(feet[1:-1][both], feet[:-2][both], atol=1e-6)


@pytest.mark.parametrize("make", MAKERS)
def test_a_robot_that_does_as_planned_goes_where_it_is_asked_to(make) -> None:
    rows = walk(make(Goal(0.4, 0.1, 0.5, None, "trot")), 200)
    v = np.array([plan.states_v[0, [0, 1, 5]] for _, plan in rows])
    np.testing.assert_allclose(v[100:].mean(axis=0), [0.4, 0.1, 0.5], atol=0.1)


@pytest.mark.parametrize("gait", ["walk", "trot", "bound"])
def test_the_schedule_is_that_of_the_strides(gait: str) -> None:
    """And that of the gait, from the beginning of a stride on."""
    path, state = driven(Goal(0.2, gait=gait)), np.zeros(37)
    state[:7] = STAND[:7]
    begin = None
    for k in range(300):
        time = k * PERIOD
        path.meet(time, state, np.zeros(3))
        course = path.course
        stride = course.strides.at(k)
        if begin is None and stride.gait.name == gait:
            begin = stride.begin * PERIOD
        swings = course.look_ahead(10).swings
        for foot in range(4):
            rows = swings[(swings[:, 0] == foot)]
            under_way = rows[(rows[:, 1] <= k + 1e-7) & (rows[:, 2] > k + 1e-7)]
            later = rows[rows[:, 1] > k + 1e-7]
            now, coming = path.schedule.swing(foot, time), path.schedule.next_swing(foot, time)
            assert (now is not None) == (len(under_way) == 1)
            assert coming is not None and coming.lift_off == pytest.approx(later[0, 1] * PERIOD)
            assert coming.landing == pytest.approx(later[0, 2] * PERIOD)
            if begin is not None:
                since = time - begin + GAITS[gait].start
                expected = GAITS[gait].next_swing(foot, since)
                assert expected is not None
                np.testing.assert_allclose(coming[1:], expected[1:])
                assert coming.lift_off - time == pytest.approx(expected.lift_off - since)
    assert begin is not None


def test_within_a_knot_the_path_goes_on_and_the_strides_stay() -> None:
    """Estimates come at any time; a command is taken when a knot begins."""
    path, state = driven(Goal(0.4, 0.0, 0.8, None, "trot")), np.zeros(37)
    state[:7] = STAND[:7]
    for k in range(100):
        path.meet(k * PERIOD, state, np.zeros(3))
        state[:2] = path.course.base[X : X + 2]
        state[5:7] = np.sin(0.5 * path.course.base[YAW]), np.cos(0.5 * path.course.base[YAW])
    begin, base = path.heading, path.course.base.copy()
    path.course.goal = Goal()
    for share in (0.2, 0.5, 0.9):
        path.meet((99 + share) * PERIOD, state, np.zeros(3))
        assert path.heading - begin == pytest.approx(share * PERIOD * base[YAW_RATE])
    np.testing.assert_array_equal(path.course.base, base)
    path.meet(98 * PERIOD, state, np.zeros(3))
    assert path.course.knot == 99


def test_states_begin_at_the_body_and_end_at_the_goal() -> None:
    path, state, com = driven(Goal(0.4, 0.0, 0.8, 0.25, "trot")), np.zeros(37), np.zeros(3)
    state[:7] = STAND[:7]
    path.meet(0.0, state, com)
    h, times = 1e-4, np.array([0.003, 0.103, 0.303])  # inside intervals: it is linear there
    x, after = path.states(0.003, com, times), path.states(0.003, com, times + h)
    np.testing.assert_array_equal(x[0, 3:5], com[:2])
    np.testing.assert_allclose((after - x)[:, 2:6] / h, x[:, 8:12], atol=2e-2)
    last = path.states(0.003, com, np.array([1.2]))[0]
    turn = exp3(np.array([0.0, 0.0, last[2]]))
    velocity = turn @ ([0.4, 0.0, 0.0] + np.cross([0.0, 0.0, 0.8], path.com))
    back = path.states(0.0, com, np.zeros(1))[0, 9:12]  # bounded, and to the path
    assert np.hypot(*back[:2]) <= MPC.path.return_speed + 1e-9
    np.testing.assert_allclose(last[8:12], [0.8, *(velocity + back)[:2], 0.0], atol=2e-2)


@pytest.mark.parametrize("shift", [(0.1, 0.05), (-0.08, 0.0)])
def test_a_stand_is_over_its_feet(shift: tuple[float, float]) -> None:
    """Wherever the path had the base before, which may be too far away for standing feet."""
    path, state, com = driven(Goal()), np.zeros(37), np.zeros(3)
    state[:19] = turned(STAND, np.array(shift), 0.2)
    path.meet(0.0, state, com)
    path.course.base[X : X + 2] += 0.1
    path.meet(PERIOD, state, com)
    np.testing.assert_allclose(path.course.base[X : X + 2], shift, atol=1e-3)


def test_a_straight_command_asks_for_what_the_fixed_path_asks_for() -> None:
    """Once it is under way, with the body on either path."""
    fixed, path = CommandedPath(MPC.path, TROT, 0.5), driven(Goal(0.5, gait="trot"))
    state = np.zeros(37)
    state[:7] = STAND[:7]
    for k in range(200):
        path.meet(k * PERIOD, state, np.zeros(3))
        state[:2], state[19] = path.course.base[X : X + 2], path.course.base[FORWARD]
    com = np.append(path.course.base[X : X + 2], 0.0) + path.com
    fixed.meet(0.0, state, com - [TROT.distance(1.99, 0.5), 0.0, 0.0])
    times = 1.99 + np.linspace(0.0, 0.36, 5)
    found, expected = path.states(1.99, com, times), fixed.states(1.99, com, times)
    np.testing.assert_allclose(found[:, [2, 3, 4, 8, 9, 10]], expected[:, [2, 3, 4, 8, 9, 10]],
                               atol=1e-6)  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("what", ["q", "v", "time"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_without_bounds_neither_raise_nor_stay(make, what: str) -> None:
    planner = make(Goal(0.3, 0.0, 0.3, None, "trot"))
    last, _ = walk(planner, 50)[-1]
    bad = {"q": last.q + 1e200, "v": last.v + 1e200, "time": -1e308}
    plan = planner.solve(replace(last, **{what: bad[what]}))
    assert all(np.isfinite(a).all() for a in (plan.states_q, plan.states_v, plan.inputs))
    assert planner.solve(replace(last, time=last.time + PERIOD)).status == "ok"
