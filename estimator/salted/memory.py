"""State of the salted filter, and the indices of its error state.

The error state has 45 numbers, and 3 more of the tick before. The first 36 are the robot's tangent
vector, `robots.state`: position and rotation in base axes, joints, then their velocities.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numba import njit

from estimator import record
from estimator.record import RobotRecord, memory_type
from estimator.rows import STARTING
from robots.record import Record
from robots.rotations import Array

POSITION, ROTATION, JOINTS = 0, 3, 6
VELOCITY, ANGULAR, RATES = 18, 21, 24
"""Linear and angular velocity of the base in its own axes, and the joints' (12)."""
ROBOT = 36
GYRO_BIAS, ACCELEROMETER_BIAS, MISALIGNMENT = 36, 39, 42
"""Constant errors of the IMU, in base axes [rad/s, m/s2, rad]; the last one is of its attitude."""
STATES = 45
PREVIOUS = 45
"""Linear velocity at the tick before, turned into today's base: what the accelerometer spans."""
SIZE = 48

AGE, PROBABILITY, TRUST, OFFSET, CROSSED, HELD = range(6)
"""Rows of `Memory.contact`."""
LEVEL, VARIANCE = 0, 1
"""Rows of `Memory.ground`."""


class Memory(record.Memory, Protocol):
    """All that the filter remembers; the compiled functions write it in place."""

    without: float
    """Why there is no state: DIVERGED or STARTING."""
    seen: float
    """Time of the last reading that said anything of the pose [s]."""
    q: Array
    """(19) configuration, `robots.state`."""
    v: Array
    """(18) velocity."""
    bias: Array
    """(9) of gyroscope [rad/s], accelerometer [m/s2] and attitude [rad], base axes."""
    previous: Array
    """(3) linear velocity at the tick before, in today's base axes [m/s]."""
    P: Array
    """(48, 48) covariance of the errors, in the order of the module."""
    contact: Array
    """(6, 4) rows: time since touchdown [s], -1 in the air; probability that the foot stands; how
    firmly it holds; zero of its force sensor [N]; probability that its guard is crossed; time for
    which it has held firmly [s]."""
    torque: Array
    """(12) last sound joint torques [N m]."""
    force: Array
    """(3) last sound specific force, base axes [m/s2]."""
    jump: Array
    """(5) how long the feet have agreed on a jump, what is left of its window [s], and the jump's
    direction in the world."""
    ground: Array
    """(2, 4) of the plane n x = c of the ground at each foot: c [m]; its variance [m2], 0 where the
    ground is known."""
    normal: Array
    """(4, 3) unit normal n of that plane, world axes; upwards where the ground is unknown."""
    footprint: Array
    """(4, 3) where each foot stood last: its contact point [m]."""


_TYPE = memory_type(
    without=(), seen=(), q=(19,), v=(18,), bias=(9,), previous=(3,), P=(SIZE, SIZE),
    contact=(6, 4), torque=(12,), force=(3,), jump=(5,), ground=(2, 4), normal=(4, 3),
    footprint=(4, 3),
)  # fmt: skip


def new_memory(robot: Record) -> Record:
    """Memory (1,) of a filter of a robot (1,) that has seen nothing: standing still, no contact."""
    memory = record.new_memory(_TYPE, forget_state, robot[0])
    memory["without"] = STARTING
    return memory


@njit(cache=True)
def forget_state(m: Memory, robot: RobotRecord) -> None:
    """Stand still without contact, with unit covariance, in place."""
    m.q[:], m.q[2], m.q[6], m.q[7:] = 0.0, robot.stand_height, 1.0, robot.stand
    m.v[:], m.bias[:], m.previous[:], m.P[:] = 0.0, 0.0, 0.0, np.eye(SIZE)
    m.contact[:], m.contact[AGE] = 0.0, -1.0
    m.torque[:], m.force[:], m.jump[:], m.ground[:] = 0.0, 0.0, 0.0, 0.0
    m.normal[:], m.normal[:, 2], m.footprint[:] = 0.0, 1.0, 0.0
