"""Convex MPC and Instant QP: consistent plans, safe answers to bad estimates, their own clock."""

import numpy as np
import pinocchio as pin
import pytest

from controller.centroidal.convex_mpc import convex_mpc
from controller.centroidal.instant_qp import instant_qp
from controller.centroidal.path import CommandedPath
from controller.centroidal.planner import FootSchedule, PlanKnots, foot_torques
from controller.centroidal.rigid_body import BodyObserver, standing_body
from controller.gaits import STAND, WALK
from controller.plan_function import PlanFunction
from controller.planner_options import (
    BodyFeedback,
    ConvexMpcOptions,
    InstantQpOptions,
    PathOptions,
    SteppingOptions,
)
from robots.conventions import GRAVITY
from robots.legs import foot_positions_in_base
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from runtime.messages import StateEstimate
from tests.a1 import A1

MODEL = load_pinocchio(A1)
Q_STAND = np.concatenate([[0.0, 0.0, A1.stand_height], [0.0, 0.0, 0.0, 1.0], A1.stand])


STILL, TOUCHING = np.zeros(18), np.ones(4)


def estimate(time=0.0, q=Q_STAND, v=STILL, contact=TOUCHING):
    return StateEstimate(tick=round(1e3 * time), time=time, q=q, v=v, contact=contact, status="ok")


def planners(gait, speed=0.2):
    convex, instant = ConvexMpcOptions(), InstantQpOptions()
    return (
        convex_mpc(convex, A1, CommandedPath(convex.path, gait, speed), in_real_time=False),
        instant_qp(instant, A1, CommandedPath(instant.path, gait, speed), in_real_time=False),
    )


def random_state(rng):
    q = pin.integrate(
        MODEL, Q_STAND, np.concatenate([rng.uniform(-0.2, 0.2, 6), 0.2 * rng.normal(size=12)])
    )
    return q, rng.normal(size=18)


def test_the_observed_body_moves_as_the_robot_does():
    rng, observer, h = np.random.default_rng(0), BodyObserver(A1), 1e-7
    for _ in range(5):
        q, v = random_state(rng)
        now, later = observer.observe(q, v), observer.observe(pin.integrate(MODEL, q, h * v), v)
        np.testing.assert_allclose((later.com - now.com) / h, now.com_velocity, atol=1e-5)
        np.testing.assert_allclose((later.base - now.base) / h, now.rotation @ v[:3], atol=1e-5)
        spin = (later.rotation - now.rotation) @ now.rotation.T / h
        np.testing.assert_allclose(pin.unSkew(spin), now.angular_velocity, atol=1e-5)


def test_foot_torques_are_pinocchios_jacobian_transposed():
    rng, data = np.random.default_rng(1), MODEL.createData()
    q, _ = random_state(rng)
    forces = rng.normal(size=(4, 3))
    pin.computeJointJacobians(MODEL, data, q)
    expected = np.zeros(18)
    for foot, frame in enumerate(foot_frame_ids(MODEL)):
        jacobian = pin.getFrameJacobian(MODEL, data, frame, pin.LOCAL_WORLD_ALIGNED)
        expected += jacobian[:3].T @ forces[foot]
    np.testing.assert_allclose(foot_torques(A1.legs, q, forces), expected[6:], atol=1e-12)


def test_knots_obey_the_legs_dynamics_and_keep_standing_feet_where_they_are():
    """With feet still and forces that carry the weight, the whole body's equations hold."""
    period, count = 0.01, 5
    feet = foot_positions_in_base(A1.legs, A1.stand) + [0.0, 0.0, A1.stand_height]
    body = BodyObserver(A1).observe(Q_STAND, np.zeros(18))
    forces = np.zeros((count, 4, 3))
    arms = feet - body.com
    balance = np.vstack([np.ones(4), arms[:, 1], -arms[:, 0]])
    forces[:, :, 2] = np.linalg.lstsq(balance, [13.741 * GRAVITY, 0.0, 0.0], rcond=None)[0]
    schedule = FootSchedule(
        np.ones((count, 4)), forces, np.tile(feet, (count + 1, 1, 1)),
        np.zeros((count + 1, 4, 3)),
    )  # fmt: skip
    knots = PlanKnots(SteppingOptions(), A1, standing_body(A1), period).make(body, schedule)
    np.testing.assert_allclose(knots.q, np.tile(Q_STAND, (count + 1, 1)), atol=1e-6)
    data = MODEL.createData()
    gravity = pin.computeGeneralizedGravity(MODEL, data, Q_STAND)
    np.testing.assert_allclose(
        knots.inputs[0], (gravity[6:] - foot_torques(A1.legs, Q_STAND, forces[0])), atol=1e-6
    )


@pytest.mark.parametrize("which", [0, 1])
def test_a_standing_robot_is_held_up_by_its_plan(which):
    plan = planners(STAND, 0.0)[which].solve(estimate())
    assert plan.status == "ok"
    data = MODEL.createData()
    gravity = pin.computeGeneralizedGravity(MODEL, data, Q_STAND)
    load = np.zeros(18)
    pin.computeJointJacobians(MODEL, data, Q_STAND)
    rows = [
        pin.getFrameJacobian(MODEL, data, frame, pin.LOCAL_WORLD_ALIGNED)[:3]
        for frame in foot_frame_ids(MODEL)
    ]
    jacobian = np.vstack(rows)
    forces = np.linalg.solve(jacobian[:, 6:].T, gravity[6:] - plan.inputs[0])
    load = jacobian[:, :6].T @ forces
    assert load[2] == pytest.approx(gravity[2], rel=0.02)
    assert forces.reshape(4, 3)[:, 2].min() > 10.0


@pytest.mark.parametrize("which", [0, 1])
def test_knots_move_without_jumps_and_within_the_limits(which):
    planner = planners(WALK)[which]
    rng = np.random.default_rng(3)
    for k in range(60):
        v = np.concatenate([0.1 * rng.normal(size=6), np.zeros(12)])
        plan = planner.solve(estimate(0.01 * k, v=v))
        assert plan.status == "ok" and np.abs(plan.inputs).max() <= A1.torque_limit[0]
        np.testing.assert_allclose(np.linalg.norm(plan.states_q[:, 3:7], axis=1), 1.0, atol=1e-9)
        step = np.abs(np.diff(plan.states_q[:, 7:], axis=0)).max()
        assert step < 0.35, "no joint jumps"
        PlanFunction(plan).policy(Q_STAND, v, plan.time)


@pytest.mark.parametrize("which", [0, 1])
def test_swing_feet_are_planned_by_the_gait_whatever_the_solve_took(which):
    """The clock is the estimates': a planner that missed a second is where the gait is."""
    planner = planners(WALK)[which]
    planner.solve(estimate(0.0))
    late = WALK.lift_off(0, 1) + 0.3 * WALK.swing_duration
    plan = planner.solve(estimate(late, contact=np.array([0.0, 1.0, 1.0, 1.0])))
    assert plan.time == late
    np.testing.assert_array_equal(plan.contacts[0], [0.0, 1.0, 1.0, 1.0])
    np.testing.assert_array_equal(plan.contacts[5], WALK.contacts(late + 0.055))


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("where", ["q", "v", "contact"])
def test_an_estimate_that_is_not_finite_is_answered_by_a_failed_plan(which, where):
    planner = planners(WALK)[which]
    planner.solve(estimate(0.0))
    bad = {"q": Q_STAND.copy(), "v": np.zeros(18), "contact": np.ones(4)}
    bad[where][2] = np.nan
    plan = planner.solve(estimate(0.01, **bad))
    assert all(np.isfinite(a).all() for a in (plan.states_q, plan.states_v, plan.inputs))
    assert plan.status == ("failed" if where != "contact" else plan.status)
    assert planner.solve(estimate(0.02)).status == "ok", "and the next one is a plan again"


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("scale", [1e20, 1e40, 1e200])
def test_numbers_without_bounds_are_answered_by_a_plan_never_by_an_exception(which, scale):
    rng, planner = np.random.default_rng(4), planners(WALK)[which]
    planner.solve(estimate(0.0))
    for k in range(4):
        plan = planner.solve(estimate(0.01 * k, v=scale * rng.normal(size=18)))
        assert plan.status == "failed", "no forces answer that, and old ones are not the answer"
        assert all(np.isfinite(a).all() for a in (plan.states_q, plan.states_v, plan.inputs))
    assert planner.solve(estimate(0.05)).status == "ok"


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("time", [float("nan"), float("inf")])
def test_a_time_that_is_none_neither_raises_nor_sets_the_clock(which, time):
    planner = planners(WALK)[which]
    never = StateEstimate(tick=0, time=time, q=Q_STAND, v=STILL, contact=TOUCHING, status="ok")
    assert planner.solve(never).status == "failed"
    assert planner.solve(estimate(5.0)).status == "ok"
    np.testing.assert_array_equal(planner.solve(estimate(5.1)).contacts[0], np.ones(4))


@pytest.mark.parametrize("which", [0, 1])
def test_old_forces_do_for_a_tenth_of_a_second(which, monkeypatch):
    """Forces that are never renewed let the robot fall, with plans that call themselves good."""
    planner = planners(STAND, 0.0)[which]
    solve, late = planner.law.forces, lambda now: solve(now)._replace(status="time_limit")
    monkeypatch.setattr(planner.law, "forces", late)
    assert planner.solve(estimate(0.0)).status == "failed", "there are no earlier ones"
    monkeypatch.setattr(planner.law, "forces", solve)
    assert planner.solve(estimate(1.0)).status == "ok"
    monkeypatch.setattr(planner.law, "forces", late)
    statuses = [planner.solve(estimate(1.0 + since)).status for since in (0.01, 0.09, 0.11, 0.5)]
    assert statuses == ["time_limit", "time_limit", "failed", "failed"]
    monkeypatch.setattr(planner.law, "forces", solve)
    assert planner.solve(estimate(2.0)).status == "ok"


def test_a_foot_that_lost_the_ground_is_pushed_down_and_carries_nothing_in_the_qp():
    path = CommandedPath(PathOptions(), STAND, 0.0)
    planner = instant_qp(InstantQpOptions(search=25.0), A1, path, in_real_time=False)
    lost = planner.solve(estimate(contact=np.array([1.0, 1.0, 1.0, 0.0])))
    data = MODEL.createData()
    gravity = pin.computeGeneralizedGravity(MODEL, data, Q_STAND)
    alone = np.zeros((4, 3))
    alone[3, 2] = 25.0
    torque = foot_torques(A1.legs, Q_STAND, alone)[9:]
    # The body turns without its fourth foot, so the legs' inertia adds a little.
    np.testing.assert_allclose(lost.inputs[0][9:], gravity[15:] - torque, atol=1.0)


def test_two_planners_give_the_same_bits():
    first, second = planners(WALK), planners(WALK)
    for one, other in zip(first, second, strict=True):
        for k in range(10):
            a, b = one.solve(estimate(0.05 * k)), other.solve(estimate(0.05 * k))
            np.testing.assert_array_equal(a.inputs, b.inputs)


@pytest.mark.parametrize(
    ("kind", "change"),
    [(ConvexMpcOptions, {"step": 0.0}), (ConvexMpcOptions, {"steps": 0}),
     (InstantQpOptions, {"force_min": 300.0}), (InstantQpOptions, {"knots": 1}),
     (InstantQpOptions, {"search": -1.0}), (InstantQpOptions, {"period": 1e-4}),
     (ConvexMpcOptions, {"time_limit": float("inf")}),
     (SteppingOptions, {"early": 0.0}), (SteppingOptions, {"capture": float("nan")}),
     (SteppingOptions, {"reach": (0.2, -0.1)}), (PathOptions, {"return_speed": -0.1}),
     (BodyFeedback, {"velocity_kd": (8.0, float("nan"), 20.0)})],
)  # fmt: skip
def test_options_refuse_what_no_planner_can_run_on(kind, change):
    with pytest.raises(ValueError, match=next(iter(change))):
        kind(**change)
