"""Motions of `config/motions` that a launch names as its reference, and what they ask of HiLQR."""

from typing import Any

from saltus.common.folders import data_folder
from saltus.configuration.options import read_mapping
from saltus.configuration.settings import Settings

FOLDER = "config/motions"


def motion_names() -> list[str]:
    """The motions that have a name."""
    return sorted(path.stem for path in data_folder(FOLDER).glob("*.yaml"))


def take_motion(settings: Settings) -> None:
    """Give HiLQR the options of the launch's motion, where the launch has no others.

    Options of the search in real time are left out of a paused launch, where they have no effect.

    Raises:
        BadRequest: the motion's file cannot be read.
    """
    mapping, name = settings.mapping, settings.mapping.get("reference")
    if name not in motion_names():
        return
    options = read_mapping(data_folder(FOLDER) / f"{name}.yaml").get("hilqr")
    own = mapping.get("hilqr")
    if isinstance(options, dict) and (own is None or isinstance(own, dict)):
        if mapping.get("mode") != "realtime":
            options.pop("realtime", None)
        mapping["hilqr"] = _merge(options, own or {})


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Two mappings as one, section by section; those above win."""
    merged = below | above
    for key, value in below.items():
        if isinstance(value, dict) and isinstance(above.get(key), dict):
            merged[key] = _merge(value, above[key])
    return merged
