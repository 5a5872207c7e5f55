"""Words for what a trial is: the push, when it comes again, the motion, the world."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sim_bridge.suites import UNDISTURBED

Fields = Mapping[str, Any]
_WITHOUT_SIZE = {
    UNDISTURBED: "undisturbed", "motor_block": "motors blocked", "by_hand": "pushed by hand",
}  # fmt: skip
# Headings of pushes in the plane, counted from forward to the left [degrees].
_ALONE = {0: "forward", 180: "back", 90: "to the left", -90: "to the right"}
_TOGETHER = {
    frozenset({90, -90}): "sideways", frozenset({0, 180}): "forward and back",
    frozenset({45, -45, 135, -135}): "diagonally",
}  # fmt: skip
_LEVEL = 1e-3  # share of a push that may point up or down in a push along the ground


def push_words(kind: str, magnitude: float, values: Sequence[Sequence[float]]) -> str:
    """Kind, size and directions of a push, such as "1.5 m/s sideways".

    Args:
        kind: of the event.
        magnitude: of its value, [m/s] or [N].
        values: the different values that it has, in the world's axes.
    """
    if kind in _WITHOUT_SIZE:
        return _WITHOUT_SIZE[kind]
    return " ".join(filter(None, (_size(kind, magnitude), _direction_words(values))))


def says_size(name: str, kind: str, magnitude: float) -> bool:
    """Whether a group's name holds the size of its pushes, or they have none to say."""
    sizes = {_size(kind, magnitude), _size(kind, magnitude).replace(".0 ", " ")}
    return kind == UNDISTURBED or any(
        re.search(rf"(?<![\d.]){re.escape(size)}", name) for size in sizes
    )


def repetition_words(event: Fields) -> str:
    """How long an event lasts and how often it comes, such as "for 0.1 s every 5 s"."""
    return " ".join(
        f"{word} {event[word]:g} s" for word in ("for", "every") if event.get(word) is not None
    )


def launch_words(launch: Fields) -> list[str]:
    """Reference, command and duration, as far as they are given."""
    words = [launch["reference"]] if "reference" in launch else []
    if "reference_from" in launch:
        words.append(f"reference from {launch['reference_from']}")
    command = launch.get("command")
    if isinstance(command, dict) and "velocity_x" in command:
        words.append(f"command {_number(command['velocity_x'])} m/s")
    elif command is not None:
        words.append("random commands" if isinstance(command, dict) else "a script of commands")
    if "duration" in launch:
        words.append(f"{launch['duration']:g} s long")
    return words


def world_words(simulation: Fields, timing: Fields) -> list[str]:
    """The world's options, such as "friction 0.4", and the times of lock step."""
    words = [_option_words(name, value) for name, value in _flat(simulation)]
    solve, estimate = timing.get("solve"), timing.get("estimate")
    if isinstance(solve, str):
        words.append(f"solves as in {solve}")
    elif solve is not None:
        words.append(f"solves of {1e3 * solve:g} ms")
    return words + ([f"estimates {1e3 * estimate:g} ms late"] if estimate is not None else [])


def budget_words(budget_ms: float | None) -> str:
    """Processor time that a plan may take [ms]; None where each planner has its own settings."""
    return "default settings" if budget_ms is None else f"{budget_ms:g} ms a plan"


def _size(kind: str, magnitude: float) -> str:
    if kind == "base_velocity":
        return f"{magnitude} m/s"
    return f"{magnitude:g} N" if kind == "base_force" else f"{kind.replace('_', ' ')} {magnitude:g}"


def _direction_words(values: Sequence[Sequence[float]]) -> str:
    """Forward is where the robot looks at the start: along x of the world."""
    pushes = [value for value in values if len(value) == 3 and math.hypot(*value) > 0.0]
    if not pushes:
        return ""
    if any(abs(z) > _LEVEL * math.hypot(x, y, z) for x, y, z in pushes):
        return _direction_in_space(pushes)
    headings = {round(math.degrees(math.atan2(y, x))) for x, y, _ in pushes}
    headings = frozenset(180 if heading == -180 else heading for heading in headings)
    if len(headings) > 1:
        return _TOGETHER.get(headings, f"in {len(headings)} directions")
    (heading,) = headings
    side = "left" if heading > 0 else "right"
    return _ALONE.get(heading, f"diagonally, {abs(heading)}° to the {side}")


def _direction_in_space(pushes: Sequence[Sequence[float]]) -> str:
    if len(pushes) > 1:
        return f"in {len(pushes)} directions"
    x, y, z = pushes[0]
    if math.hypot(x, y) <= _LEVEL * abs(z):
        return "upward" if z > 0.0 else "downward"
    return f"along ({x:g}, {y:g}, {z:g})"


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _option_words(name: str, value: Any) -> str:
    if name == "mass_scale":
        return f"mass {100.0 * (value - 1.0):+.4g} %"
    if name == "input_delay":
        return f"delay {1e3 * value:g} ms"
    units = {"payload_mass": ("payload", " kg"), "floor_slope": ("slope", " rad"),
             "timestep": ("timestep", " s")}  # fmt: skip
    word, unit = units.get(name, (name.replace("_", " "), ""))
    return f"{word} {_number(value)}{unit}"


def _flat(options: Fields, path: str = "") -> list[tuple[str, Any]]:
    """Options and those of their sections, the names dotted."""
    found: list[tuple[str, Any]] = []
    for name, value in options.items():
        inner = isinstance(value, dict)
        found += _flat(value, f"{path}{name}.") if inner else [(f"{path}{name}", value)]
    return found
