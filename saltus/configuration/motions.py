"""Motions of `config/motions` that a launch names as its reference, and what they ask of HiLQR."""

from pathlib import Path

from robots.robot_file import folder_of
from saltus.common.files import data_folder, find_file, is_file
from saltus.configuration.options import Settings, read_mapping

FOLDER = "config/motions"


def motion_names() -> list[str]:
    """The motions that have a name."""
    return sorted(path.stem for path in data_folder(FOLDER).glob("*.yaml"))


def own_file(name: str, robot: str) -> Path:
    """The file of a robot's own motion, which need not be there."""
    return folder_of(robot) / "motions" / f"{name}.yaml"


def motion_file(name: str, robot: str) -> Path:
    """The file of a motion: in `motions` of the robot's folder, or of `config/motions`.

    Raises:
        BadRequest: there is none.
    """
    own = own_file(name, robot)
    return own if is_file(own) else find_file(FOLDER, name)


def take_motion(settings: Settings) -> None:
    """Give HiLQR the options of the launch's motion, where the launch has no others.

    Options of the search in real time are left out of a paused launch, where they have no effect.

    Raises:
        BadRequest: the motion's file cannot be read.
    """
    if (name := settings.mapping.get("reference")) not in motion_names():
        return
    file = motion_file(str(name), str(settings.mapping.get("robot") or "a1"))
    options = read_mapping(file).get("hilqr")
    if isinstance(options, dict):
        if settings.mapping.get("mode") != "realtime":
            options.pop("realtime", None)
        settings.lay_below({"hilqr": options})
