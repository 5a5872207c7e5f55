"""Records that compiled filters work on: their memory, their options and the robot.

A record, unlike a named tuple of arrays, is handed to compiled functions as one pointer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from msgspec import to_builtins
from numba import njit
from numpy.typing import NDArray

from estimator.health import thresholds
from estimator.rows import JUDGED, POSITION, ROW
from robots.legs import Legs
from robots.record import Record, record
from robots.robot import Robot
from robots.rotations import Array

Mask = NDArray[np.bool_]

UNKNOWN = 1e3
"""Tolerance around an expected angle that nothing is known of [rad]."""
LONG = 1e9
"""Longer than any run [s]."""
JOINT = 3
"""First joint in `drift` and `carry`, after the three axes of the attitude."""
LARGEST_SUM = 1.25
"""A leaky sum is kept within this many times its threshold, so that it soon comes back."""
BODY, VERTICAL, LEG = 0, 3, 4
"""In `force`: by the legs' torques (3), by the foot sensors (1), between the two (4)."""


class Past(Protocol):
    """A record of the type `PAST`, written in place by the compiled monitor."""

    clock: float
    """Time of the last reading [s], NaN before the first."""
    row: Array
    """(50) the last reading."""
    run: Array
    """(50) for how long each number has been equal [s]."""
    lively: Array
    """(50) share of the last readings at which each number changed."""
    stuck: Array
    """(50) one for a number that is frozen until it changes."""
    since: Array
    """(43) time since something was last wrong with a sensor [s]."""
    expected: Array
    """(16) quaternion and joints: the last accepted, carried on by the velocities."""
    spread: Array
    """(13) how far the attitude and each joint may be from there [rad]."""
    consistent: Array
    """(13) for how long attitude and joints have moved as their velocities say [s]."""
    startled: Array
    """(12) time since each joint's velocity last jumped [s]."""
    drift: Array
    """(15) leaky sums of what attitude (3) and joints (12) moved beyond their velocities [rad]."""
    carry: Array
    """(15) what the velocities have moved while attitude (3) and joints (12) stayed equal [rad]."""
    force: Array
    """(8) filtered disagreements [m/s2 (3, 1), N (4)]."""
    gravity: Array
    """(3) mean acceleration, world axes [m/s2]."""
    watched: float
    """For how long that mean has been taken, one tick a reading [s]."""
    doubt: Array
    """(2) why accelerometer and gyroscope are at fault, if it may be their unit: the mean when it
    was first impossible [m/s2]; one where the attitude turns otherwise. Zero otherwise."""
    repeats: float
    """Readings in a row whose time did not go on."""
    railed: float
    """For how long the accelerometer has been at its rail [s]."""
    sound: Array
    """(43) one for a sensor of the last reading that may be used."""
    faulty: float
    """One where the last reading has a fault."""


_ARRAYS = {"row": ROW, "run": ROW, "lively": ROW, "stuck": ROW, "since": JUDGED, "expected": 16}
_ARRAYS |= {"spread": 13, "consistent": 13, "startled": 12, "drift": 15, "carry": 15, "force": 8}
_ARRAYS |= {"gravity": 3, "doubt": 2, "sound": JUDGED}
PAST = np.dtype(
    (
        np.record,
        [(name, np.float64) for name in ("clock", "railed", "watched", "repeats", "faulty")]
        + [(name, np.float64, (size,)) for name, size in _ARRAYS.items()],
    )
)


@njit(cache=True)
def forget(past: Past) -> None:
    """Make a record of zeros that of a monitor that has seen nothing, in place."""
    past.clock, past.since[:], past.startled[:], past.sound[:] = np.nan, LONG, LONG, 1.0


@njit(cache=True)
def forget_motion(past: Past, row: Array) -> None:
    """Compare nothing with what was before `row` (50): a first reading, or one after a gap."""
    past.run[:], past.stuck[:], past.carry[:], past.drift[:] = 0.0, 0.0, 0.0, 0.0
    past.force[:], past.consistent[:], past.startled[:] = 0.0, 0.0, LONG
    past.expected[:4] = row[:4]
    past.spread[0] = 0.0 if np.isfinite(row[:4].sum()) else UNKNOWN
    if past.spread[0] > 0.0:
        past.expected[:4] = np.array([0.0, 0.0, 0.0, 1.0])
    for i in range(12):
        known = np.isfinite(row[POSITION + i])
        past.expected[4 + i] = row[POSITION + i] if known else 0.0
        past.spread[1 + i] = 0.0 if known else UNKNOWN


class Memory(Protocol):
    """State of every filter between readings; compiled functions write it in place."""

    past: Past
    """What the monitor of the sensors remembers."""
    time: float
    """Of the last reading that was used [s]; NaN while there is no state."""
    place: Array
    """(2) where to begin [m]."""
    divergences: float
    """Readings that could not be used, and re-initialisations."""


def memory_type(**arrays: tuple[int, ...]) -> np.dtype[np.void]:
    """The type of a `Memory` with a filter's own arrays of these shapes; () is a number."""
    shapes = {"time": (), "place": (2,), "divergences": (), **arrays}
    own = [(name, np.float64, shape) for name, shape in shapes.items()]
    return np.dtype((np.record, [("past", PAST), *own]))


def new_memory(kind: np.dtype[np.void], begin: Callable[..., None], *arguments: Any) -> Record:
    """One record (1,) of a filter that has seen nothing; `begin` writes its own arrays."""
    memory = np.zeros(1, kind)
    _forget(memory[0])
    begin(memory[0], *arguments)
    return memory


@njit(cache=True)
def _forget(m: Memory) -> None:
    forget(m.past)
    m.time = np.nan


class RobotRecord(Protocol):
    """Data of a robot for compiled filters."""

    legs: Legs
    mass: float
    """[kg]"""
    armature: Array
    """(12) inertia of the rotors, seen at the joints [kg m2]."""
    torque_limit: Array
    """(12) [N m]"""
    velocity_limit: Array
    """(12) [rad/s]"""
    stand: Array
    """(12) joints of the stand [rad]."""
    stand_height: float
    """Of the base above level ground in the stand [m]."""
    weight: float
    """Relative to the robot that the monitor's thresholds are for (`thresholds.MASS`)."""
    singular: float
    """Determinant of a leg's Jacobian below which its torques say nothing of the force [m3]."""


def robot_record(robot: Robot) -> Record:
    """Make the record (1,) of a robot."""
    return record(
        {
            "legs": robot.legs._asdict(),
            "mass": robot.mass,
            "armature": robot.armature,
            "torque_limit": robot.torque_limit,
            "velocity_limit": robot.velocity_limit,
            "stand": robot.stand,
            "stand_height": robot.stand_height,
            "weight": robot.mass / thresholds.MASS,
            "singular": thresholds.SINGULAR * (robot.leg_length / thresholds.LEG_LENGTH) ** 3,
        }
    )


def record_of(options: Any) -> Record:
    """Make a record (1,) of options that are numbers and such options."""
    return record(to_builtins(options))
