"""Messages of a standing robot, and random variations of them, for the tracker's tests."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.plan_function import PlanFunction, nominal_at, policy_at, unpack
from robots.motor_law import motor_torque
from robots.state import integrate
from runtime.messages import MotorCommand, Plan, SensorReading, StateEstimate
from tests import a1

Array = NDArray[np.float64]


class Policy(NamedTuple):
    """What `policy_at` returns."""

    knot: int
    ended: bool
    q: Array
    v: Array
    dx: Array
    torque: Array
    finite: bool


def policy(p: Plan, q: Array, v: Array, now: float) -> Policy:
    """The policy of a plan."""
    return Policy(*policy_at(unpack(PlanFunction(p).flat), q, v, now))


def nominal(p: Plan, now: float) -> tuple[Array, Array]:
    """The nominal state of a plan."""
    return nominal_at(unpack(PlanFunction(p).flat), now)


TICK = 0.001


def standing() -> tuple[Array, Array]:
    """q (19), v (18) of the robot at rest on its feet."""
    return a1.STAND.copy(), np.zeros(18)


def near_standing(rng: np.random.Generator, size: float = 0.05) -> tuple[Array, Array]:
    """A random state near `standing`, `size` in every direction of the tangent space."""
    return integrate(*standing(), size * rng.normal(size=36))


def estimate(tick: int, q: Array, v: Array, status: str = "ok") -> StateEstimate:
    return a1.estimate(tick, q=q, v=v, status=status)


def reading(tick: int, q: Array, v: Array) -> SensorReading:
    return a1.reading(
        tick, quaternion_imu_in_world=q[3:7].copy(), angular_velocity_imu=v[3:6].copy(),
        joint_position=q[7:].copy(), joint_velocity=v[6:].copy(),
    )  # fmt: skip


def torque_of(command: MotorCommand, q: Array, v: Array) -> Array:
    """What the motors make of a command in a state."""
    return motor_torque(command.q, command.dq, command.kp, command.kd, command.tau, q[7:], v[6:])


def plan(
    plan_id: int = 1,
    tick: int = 0,
    rng: np.random.Generator | None = None,
    knots: int = 20,
    size: float = 0.05,
    gain: float = 20.0,
    status: str = "ok",
) -> Plan:
    """A plan that starts at `tick`: standing still, or random near it when `rng` is given."""
    states = [standing() if rng is None else near_standing(rng, size) for _ in range(knots + 1)]
    shape = (knots, 12, 36)
    return Plan(
        id=plan_id, tick=tick, time=tick * TICK, period=0.01,
        states_q=np.array([q for q, _ in states]), states_v=np.array([v for _, v in states]),
        inputs=np.zeros((knots, 12)) if rng is None else 3.0 * rng.normal(size=(knots, 12)),
        gains=np.zeros(shape) if rng is None else gain * rng.normal(size=shape),
        contacts=np.ones((knots, 4)), cost=0.0, iterations=1, solve_s=0.001, status=status,
    )  # fmt: skip
