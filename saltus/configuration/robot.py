"""The robot that a launch or a command names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robots.robot_file import RobotError
from saltus.common.errors import BadRequest

if TYPE_CHECKING:
    from robots.robot import Robot


def robot_named(name: str) -> Robot:
    """Load a robot of this project, or the one in the folder `name`.

    Raises:
        BadRequest: there is none.
    """
    from robots.robot import load_robot  # loads MuJoCo

    try:
        return load_robot(name)
    except RobotError as error:
        raise BadRequest(f"robot: {error}") from error
