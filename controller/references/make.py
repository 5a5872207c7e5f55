"""A reference by its name: a gait, or the file of a recorded trajectory."""

from __future__ import annotations

from pathlib import Path

from controller.gaits import GAITS
from controller.references.kinematic import make_kinematic_reference
from controller.references.recorded import load_reference
from controller.references.trajectory import ReferenceTrajectory
from robots.robot import Robot

GAIT_NAMES = tuple(GAITS)


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
        accepted = ", ".join(GAIT_NAMES)
        raise ValueError(f"unknown reference {name!r}: use {accepted}, or a .npz or .mcap file")
    return load_reference(path, period)
