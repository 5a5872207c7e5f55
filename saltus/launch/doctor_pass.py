"""A doctor's pass: that a robot passed every essential check of `saltus doctor`, and when.

Each robot has a file of its own below the user's state folder. What cannot be read is no pass.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from pathlib import Path

import msgspec

from hw_bridge.wire.layout import Header
from saltus.common.files import replacing
from saltus.common.folders import state_folder
from saltus.configuration.launch import LaunchConfig
from saltus.launch.hardware import reaches_robot

REMEDY = "`saltus doctor a1` examines the robot and gives it a pass for the day"


class DoctorPass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is stored of a robot that passed.

    Attributes:
        robot_id, serial: of its header; another robot has another one.
        day: of the computer's calendar, such as 2026-01-31.
        braked_s: silence after which it braked its motors [s].
        address: of the robot, over whose link it was examined.
    """

    robot_id: int
    serial: int
    day: str
    braked_s: float
    address: str


def today() -> str:
    """The local day."""
    return date.today().isoformat()


def store_pass(given: DoctorPass) -> Path:
    """Write a pass in place of an older one of the same robot, readable by nobody else.

    Raises:
        OSError: the folder cannot be written.
    """
    path = _file(given.robot_id, given.serial)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with replacing(path) as part:
        part.touch(0o600)
        part.write_bytes(msgspec.json.encode(given) + b"\n")
    return path


def withdraw_pass(header: Header) -> bool:
    """Remove the pass of the robot with this header; whether there was one.

    Raises:
        OSError: it cannot be removed.
    """
    with suppress(FileNotFoundError):
        _file(header.robot_id, header.serial).unlink()
        return True
    return False


def read_passes() -> list[DoctorPass]:
    """All passes of today."""
    try:
        found = [_read(path) for path in sorted(_folder().glob("*.json"))]
    except OSError:
        return []
    return [each for each in found if each is not None and each.day == today()]


def has_pass(header: Header) -> bool:
    """Whether the robot with this header has a pass of today."""
    robot = header.robot_id, header.serial
    return any((each.robot_id, each.serial) == robot for each in read_passes())


def needs_pass(config: LaunchConfig) -> bool:
    """Whether a launch moves a real robot, which needs a pass."""
    return reaches_robot(config) and config.hardware.mode == "full"


def _folder() -> Path:
    return state_folder() / "doctor"


def _file(robot_id: int, serial: int) -> Path:
    return _folder() / f"a1-{robot_id}-{serial}.json"


def _read(path: Path) -> DoctorPass | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=DoctorPass)
    except (OSError, msgspec.DecodeError):
        return None
