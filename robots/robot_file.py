"""`robot.yaml`: what the model of a robot cannot say. Reading it loads no numerics."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

ROBOTS = Path(__file__).parent
FILE = "robot.yaml"
Numbers = float | tuple[float, ...]  # one for all joints, hip thigh calf, or twelve in motor order


class RobotError(ValueError):
    """A robot's folder cannot be used; the message is one line that names file and reason."""


class RobotFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`robot.yaml`. Numbers of joints are one for all, three of a leg (hip, thigh, calf), or 12.

    Attributes:
        model: MJCF beside it, of a floating base with four legs of three joints.
        velocity_limit: speed at which a motor has no torque left [rad/s].
        stand: joints of the stand [rad].
        lie: joints at which the robot lies on the ground [rad].
        label: name for people; the folder's where it is left out.
        corner_speed: up to which a motor has its full torque [rad/s]; half of `velocity_limit`
            where it is left out.
        torque_limit: largest torque of a motor [N m]; the model's where it is left out.
        body: two opposite corners of the box around trunk, head and hips in the base [m]; that of
            the trunk's shapes where it is left out.
        wire: frames of its bridge and of its emulator.
        defaults: options of a launch that this robot needs, below those of launch files.
    """

    model: str
    velocity_limit: Numbers
    stand: tuple[float, ...]
    lie: tuple[float, ...]
    label: str = ""
    corner_speed: Numbers | None = None
    torque_limit: Numbers | None = None
    body: tuple[tuple[float, float, float], tuple[float, float, float]] | None = None
    wire: Literal["unitree-a1", "unitree-go1", "unitree-go2"] = "unitree-a1"
    defaults: dict[str, Any] = {}


def own_robots() -> list[str]:
    """Names of the robots of this project."""
    return sorted(each.parent.name for each in ROBOTS.glob(f"*/{FILE}"))


def is_own(name: str) -> bool:
    """Whether a robot stands here, not in a folder of the user's."""
    return name.isidentifier() and (ROBOTS / name / FILE).is_file()


def folder_of(name: str) -> Path:
    """The folder of a robot of this project, or else the folder `name`."""
    return ROBOTS / name if is_own(name) else Path(name).expanduser()


@cache
def read_robot_file(name: str) -> RobotFile:
    """Return what stands in the file of a robot.

    Raises:
        RobotError: there is no such robot, or its file is none.
    """
    file = folder_of(name) / FILE
    try:
        return msgspec.yaml.decode(file.read_bytes(), type=RobotFile)
    except OSError as error:
        raise RobotError(
            f"cannot read {file} ({error.strerror}); accepted: {', '.join(own_robots())}, or a "
            f"folder with {FILE}"
        ) from error
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise RobotError(f"{file}: {' '.join(str(error).split())}") from error
