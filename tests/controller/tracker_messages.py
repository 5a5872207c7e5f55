"""Messages of a standing robot, and random variations of them, for the tracker's tests."""

from collections import namedtuple

import numpy as np
from msgspec.structs import replace

from controller.options import TrackerOptions
from controller.plan_function import PlanFunction, nominal_at, policy_at, unpack
from controller.tracker import Tracker
from robots.motor_law import motor_torque
from robots.state import integrate
from tests import a1
from tests.a1 import A1

Policy = namedtuple("Policy", "knot ended q v dx torque finite")  # what `policy_at` returns


def policy(p, q, v, now):
    """The policy of a plan."""
    return Policy(*policy_at(unpack(PlanFunction(p).flat), q, v, now))


def nominal(p, now):
    """The nominal state of a plan."""
    return nominal_at(unpack(PlanFunction(p).flat), now)


TICK = 0.001
TRACKER = Tracker(TrackerOptions(), A1)


def standing():
    """q (19), v (18) of the robot at rest on its feet."""
    return a1.STAND.copy(), np.zeros(18)


def near_standing(rng, size=0.05):
    """A random state near `standing`, `size` in every direction of the tangent space."""
    return integrate(*standing(), size * rng.normal(size=36))


def estimate(tick, q, v, status="ok"):
    return a1.estimate(tick, q=q, v=v, status=status)


def reading(tick, q, v):
    return a1.reading(
        tick, quaternion_imu_in_world=q[3:7].copy(), angular_velocity_imu=v[3:6].copy(),
        joint_position=q[7:].copy(), joint_velocity=v[6:].copy(),
    )  # fmt: skip


def torque_of(command, q, v):
    """What the motors make of a command in a state."""
    return motor_torque(command.q, command.dq, command.kp, command.kd, command.tau, q[7:], v[6:])


def plan(plan_id=1, tick=0, rng=None, knots=20, size=0.05, gain=20.0, status="ok"):
    """A plan that starts at `tick`: standing still, or random near it when `rng` is given."""
    still = a1.plan(tick, knots, id=plan_id, status=status)
    if rng is None:
        return still
    q, v = zip(*(near_standing(rng, size) for _ in range(knots + 1)), strict=True)
    return replace(
        still, states_q=np.array(q), states_v=np.array(v),
        inputs=3.0 * rng.normal(size=(knots, 12)), gains=gain * rng.normal(size=(knots, 12, 36)),
    )  # fmt: skip
