"""The start of every run, by the engine that the options name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robots.robot import Robot
from robots.terrain import Ground, surface_at
from sim_bridge.options import SimulationOptions
from sim_bridge.physics.mujoco_physics import MujocoPhysics

if TYPE_CHECKING:
    from sim_bridge.physics.served import ServedPhysics

Array = NDArray[np.float64]


def begin_physics(
    robot: Robot, options: SimulationOptions, ground: Ground | None = None
) -> tuple[MujocoPhysics | ServedPhysics, Array]:
    """The world at its start, and the command (5, 12) until the first one.

    Where the robot starts, and how it holds itself there, MuJoCo says here for every engine.

    Raises:
        Unavailable: no server answers that simulates this robot.
    """
    here = MujocoPhysics(robot, options, ground)
    slope = options.floor_slope
    normal = np.array([-np.sin(slope), 0.0, np.cos(slope)])
    if ground is not None and slope == 0.0:
        normal = np.array(surface_at(ground, 0.0, 0.0)[1:])
    command = here.start(options.start.posture, normal)
    if options.engine == "mujoco":
        return here, command
    from sim_bridge.physics.served import ServedPhysics  # few runs have a server

    return ServedPhysics(robot, options, here.motion), command
