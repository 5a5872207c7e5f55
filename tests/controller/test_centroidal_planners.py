"""Convex MPC and Instant QP: consistent plans, safe answers to bad estimates, their own clock."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from controller.centroidal.convex_mpc import convex_mpc
from controller.centroidal.instant_qp import instant_qp
from controller.centroidal.path import CommandedPath
from controller.centroidal.planner import foot_torques
from controller.centroidal.rigid_body import BodyObserver
from controller.gaits import STAND as STANDING
from controller.gaits import WALK
from controller.plan_function import PlanFunction
from controller.planner_options import ConvexMpcOptions, InstantQpOptions, PathOptions
from robots.pinocchio_model import load_pinocchio
from tests.a1 import A1, STAND, estimate
from tests.robots.test_contact_dynamics import foot_jacobian

MODEL = load_pinocchio(A1)


BAD = {
    "q": {"q": np.where(np.arange(19) == 2, np.nan, STAND)},
    "v": {"v": np.where(np.arange(18) == 2, np.nan, 0.0)},
    "far": {"v": 1e40 * np.cos(np.arange(18))}, "farther": {"v": 1e200 * np.cos(np.arange(18))},
    "time": {"time": float("nan")},
}  # fmt: skip


def planners(gait, speed=0.2):
    convex, instant = ConvexMpcOptions(), InstantQpOptions()
    return (
        convex_mpc(convex, A1, CommandedPath(convex.path, gait, speed), in_real_time=False),
        instant_qp(instant, A1, CommandedPath(instant.path, gait, speed), in_real_time=False),
    )


def random_state(rng):
    q = pin.integrate(
        MODEL, STAND, np.concatenate([rng.uniform(-0.2, 0.2, 6), 0.2 * rng.normal(size=12)])
    )
    return q, rng.normal(size=18)


def test_the_observed_body_moves_as_the_robot_does():
    rng, observer, h = np.random.default_rng(0), BodyObserver(A1), 1e-7
    for _ in range(5):
        q, v = random_state(rng)
        now, later = observer.observe(q, v), observer.observe(pin.integrate(MODEL, q, h * v), v)
        assert_allclose((later.com - now.com) / h, now.com_velocity, atol=1e-5)
        assert_allclose((later.base - now.base) / h, now.rotation @ v[:3], atol=1e-5)
        spin = (later.rotation - now.rotation) @ now.rotation.T / h
        assert_allclose(pin.unSkew(spin), now.angular_velocity, atol=1e-5)


@pytest.mark.parametrize("which", [0, 1])
def test_a_standing_robot_is_held_up_by_its_plan(which):
    plan = planners(STANDING, 0.0)[which].solve(estimate())
    assert plan.status == "ok"
    data = MODEL.createData()
    gravity = pin.computeGeneralizedGravity(MODEL, data, STAND)
    jacobian = foot_jacobian(MODEL, STAND)
    forces = np.linalg.solve(jacobian[:, 6:].T, gravity[6:] - plan.inputs[0])
    load = jacobian[:, :6].T @ forces
    assert load[2] == approx(gravity[2], rel=0.02)
    assert forces.reshape(4, 3)[:, 2].min() > 10.0


@pytest.mark.parametrize("which", [0, 1])
def test_knots_move_without_jumps_and_within_the_limits(which):
    planner = planners(WALK)[which]
    rng = np.random.default_rng(3)
    for k in range(60):
        v = np.concatenate([0.1 * rng.normal(size=6), np.zeros(12)])
        plan = planner.solve(estimate(10 * k, v=v))
        assert plan.status == "ok" and np.abs(plan.inputs).max() <= A1.torque_limit[0]
        assert_allclose(np.linalg.norm(plan.states_q[:, 3:7], axis=1), 1.0, atol=1e-9)
        step = np.abs(np.diff(plan.states_q[:, 7:], axis=0)).max()
        assert step < 0.35  # no joint jumps
        assert PlanFunction(plan).is_sound


@pytest.mark.parametrize("which", [0, 1])
def test_old_forces_do_for_a_tenth_of_a_second(which):
    """Forces that are never renewed let the robot fall, with plans that call themselves good."""
    planner = planners(STANDING, 0.0)[which]
    assert planner.solve(estimate(1000)).status == "ok"
    solve = planner.law.forces
    planner.law.forces = lambda now: solve(now)._replace(status="time_limit")
    statuses = [planner.solve(estimate(1000 + since)).status for since in (10, 90, 110, 500)]
    assert statuses == ["time_limit", "time_limit", "failed", "failed"]


def test_a_foot_that_lost_the_ground_is_pushed_down_and_carries_nothing_in_the_qp():
    path = CommandedPath(PathOptions(), STANDING, 0.0)
    planner = instant_qp(InstantQpOptions(search=25.0), A1, path, in_real_time=False)
    lost = planner.solve(estimate(contact=np.array([1.0, 1.0, 1.0, 0.0])))
    data = MODEL.createData()
    gravity = pin.computeGeneralizedGravity(MODEL, data, STAND)
    alone = np.zeros((4, 3))
    alone[3, 2] = 25.0
    torque = foot_torques(A1.legs, STAND, alone)[9:]
    # The body turns without its fourth foot, so the legs' inertia adds a little.
    assert_allclose(lost.inputs[0][9:], gravity[15:] - torque, atol=1.0)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", BAD)
def test_an_estimate_that_cannot_be_is_answered_by_a_failed_plan(which, name):
    planner = planners(WALK)[which]
    planner.solve(estimate())
    plan = planner.solve(estimate(10, **BAD[name]))
    assert plan.status == "failed"
    assert all(np.isfinite(a).all() for a in (plan.states_q, plan.states_v, plan.inputs))
    assert planner.solve(estimate(20)).status == "ok"  # and the next one is a plan again
