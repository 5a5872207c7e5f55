"""The record that a filter remembers, and the rows that it reads and writes, for compiled code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from estimator.health import thresholds
from estimator.health.past import PAST, Past, forget
from robots.legs import Legs
from robots.robot import Robot
from robots.rotations import Array

Record = NDArray[np.void]

TIME, SENSORS = 1, 2
"""In a reading's row, behind its tick: the time [s], and the sensors' numbers, `health.layout`."""
Q, V, CONTACT, STATUS = 2, 21, 39, 43
"""In an estimate's row, behind tick and time."""
OK, DEGRADED, DIVERGED, STARTING = 0.0, 1.0, 2.0, 3.0
"""Numbers of an estimate's status."""


class Memory(Protocol):
    """What every filter remembers between readings; compiled functions write it in place."""

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
    """What compiled filters need of a robot; lengths and forces scale with it."""

    legs: Legs
    """With the radius of the feet that the filter's options say, where they say one."""
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
    """Its weight over that of the robot for which the monitor's thresholds are."""
    singular: float
    """Determinant of a leg's Jacobian below which its torques say nothing of the force [m3]."""


def robot_record(robot: Robot, foot_radius: float | None = None) -> Record:
    """What compiled filters need of a robot, as one record (1,): they get it as one pointer."""
    legs = robot.legs
    if foot_radius is not None:
        legs = legs._replace(foot_radius=foot_radius)
    return _record(
        {
            "legs": legs._asdict(),
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
    """A dataclass of numbers and such dataclasses as one record (1,) for compiled functions.

    None is NaN there.
    """
    return _record(asdict(options))


def _record(values: dict[str, Any]) -> Record:
    return np.array([_row_of(values)], _type_of(values))


def _row_of(values: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(
        _row_of(each) if isinstance(each, dict) else np.nan if each is None else each
        for each in values.values()
    )


def _type_of(values: dict[str, Any]) -> np.dtype[np.void]:
    kinds: list[Any] = [
        (name, _type_of(each)) if isinstance(each, dict) else (name, np.float64, np.shape(each))
        for name, each in values.items()
    ]
    return np.dtype((np.record, kinds))
