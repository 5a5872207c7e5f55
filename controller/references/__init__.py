"""Reference trajectories that planners track: gaits, standing, and recordings."""

from __future__ import annotations

from pathlib import Path

from controller.gaits import GAITS
from controller.references.kinematic import make_kinematic_reference
from controller.references.recorded import load_reference, save_reference
from controller.references.trajectory import (
    Reference,
    ReferenceTrajectory,
    ReferenceWindow,
)
from robots.robot import Robot

__all__ = [
    "Reference",
    "ReferenceTrajectory",
    "ReferenceWindow",
    "load_reference",
    "make_reference",
    "save_reference",
]


def make_reference(robot: Robot, name: str, speed: float, period: float) -> ReferenceTrajectory:
    """Reference for a launch.

    Args:
        robot: that tracks it.
        name: stand, walk, trot, bound, or the path of a recorded trajectory (.npz or .mcap).
        speed: forward velocity of a gait [m/s]; a recording has its own.
        period: time between the planner's knots [s].

    Raises:
        ValueError: for an unknown name, a file that holds no trajectory, or a stride that is no
            multiple of the period.
    """
    if name in GAITS:
        return make_kinematic_reference(robot, GAITS[name], speed, period)
    path = Path(name)
    if path.suffix not in (".npz", ".mcap"):
        accepted = ", ".join(GAITS)
        raise ValueError(f"unknown reference {name!r}: use {accepted}, or a .npz or .mcap file")
    return load_reference(path, period)
