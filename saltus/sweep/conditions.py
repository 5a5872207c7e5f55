"""The conditions of a sweep: which trials are repetitions of each other, and in words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from saltus.sweep.trials import Row
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


_EVENT = ("for", "every")
_LAUNCH = ("reference", "reference_from", "command", "duration")
_WORLD = ("simulation", "timing")
_BUDGET = "budget_ms"
_FIELDS = (*_EVENT, *_LAUNCH, *_WORLD, _BUDGET)
_USUAL_TIMING = 0.0  # [s] of a solve, and age of an estimate


class Condition(NamedTuple):
    """What the trials of one line of a table have in common.

    Attributes:
        key: equal for no two conditions.
        words: the condition as a person reads it, such as "100 N sideways for 0.6 s".
        group: name of their group; empty in a suite without groups.
        kind: of their event.
        magnitude: length of the event's value, [m/s] or [N]; 0 without one.
        values: the different values of the event, in the order of the trials.
        fields: the other fields of their rows in which conditions may differ.
    """

    key: str
    words: str
    group: str
    kind: str
    magnitude: float
    values: list[list[float]]
    fields: Row

    @property
    def budget_words(self) -> str:
        """The processor time that a plan may take; empty in a sweep without budgets."""
        return budget_words(self.fields[_BUDGET]) if _BUDGET in self.fields else ""


class Conditions:
    """The conditions of a sweep's rows; groups, and conditions in them, as they first come.

    Trials are repetitions of one condition where they differ in their seed and in the instant of
    their event alone. In a group, whose name joins them, they may differ in direction too.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        """Rows of all planners; those of older sweeps lack fields, and agree in them."""
        rows = list(rows)
        groups = list(dict.fromkeys(map(_group, rows)))
        members: dict[str, list[Row]] = {}
        for row in sorted(rows, key=lambda row: groups.index(_group(row))):
            members.setdefault(_key(row), []).append(row)
        firsts = [trials[0] for trials in members.values()]
        self._conditions = {key: _condition(trials, firsts) for key, trials in members.items()}

    def __iter__(self) -> Iterator[Condition]:
        """All conditions, in order."""
        return iter(self._conditions.values())

    def of(self, row: Row) -> Condition:
        """The condition of one of the rows."""
        return self._conditions[_key(row)]


def magnitude_of(row: Row) -> float:
    """Length of the event's value; rounded, because components are written rounded too."""
    return round(float(np.linalg.norm(row.get("value") or [])), 3)


def _kind(row: Row) -> str:
    return str(row.get("kind") or UNDISTURBED)


def _group(row: Row) -> str:
    return str(row.get("group") or "")


def _key(row: Row) -> str:
    """Equal for trials of one condition."""
    group, value = _group(row), row.get("value")
    direction = None if group or value is None else [round(each, 3) for each in value]
    fields = [row.get(name) for name in _FIELDS]
    key = [group, _kind(row), magnitude_of(row), direction, fields]
    return msgspec.json.encode(key, order="sorted").decode()


def _condition(trials: Sequence[Row], firsts: Sequence[Row]) -> Condition:
    """The condition of some trials; `firsts` has a row of every condition of the sweep."""
    row = trials[0]
    found = [tuple(trial["value"]) for trial in trials if trial.get("value") is not None]
    values = [list(value) for value in dict.fromkeys(found)]
    return Condition(
        _key(row), _words(row, values, firsts), _group(row), _kind(row), magnitude_of(row), values,
        {name: row[name] for name in _FIELDS if name in row},
    )  # fmt: skip


def _words(row: Row, values: list[list[float]], firsts: Sequence[Row]) -> str:
    """The name of the group, and what it does not say.

    Of the push nothing where all of the group are of one kind and of a size that the name holds; of
    reference, command and duration what differs in the group; of the world what is not as usual,
    unless all of the sweep have it.
    """
    name, kind, magnitude = _group(row), _kind(row), magnitude_of(row)
    beside = [other for other in firsts if _group(other) == name]
    one_push = len({(_kind(other), magnitude_of(other)) for other in beside}) == 1
    named = bool(name) and one_push and says_size(name, kind, magnitude)
    event = {key: row.get(key) for key in _EVENT if not named or _differ(key, beside)}
    push = "" if named else push_words(kind, magnitude, values)
    told = [" ".join(filter(None, (push, repetition_words(event))))]
    told += launch_words({key: row[key] for key in _LAUNCH if _differ(key, beside)})
    told += [words for words in _world(row, firsts) if words not in name]
    told += [budget_words(row[_BUDGET])] if _BUDGET in row else []
    rest = ", ".join(filter(None, told))
    return f"{name}: {rest}" if name and rest else name or rest


def _world(row: Row, firsts: Sequence[Row]) -> list[str]:
    """Words for those options of the world that are not as usual, nor the same in all rows."""
    simulation, timing = ({
        key: value for key, value in (row.get(section) or {}).items()
        if any((other.get(section) or {}).get(key) != value for other in firsts)
    } for section in _WORLD)  # fmt: skip
    return world_words(simulation, {k: v for k, v in timing.items() if v != _USUAL_TIMING})


def _differ(key: str, rows: Sequence[Row]) -> bool:
    found: list[Any] = [row[key] for row in rows if key in row]
    return len(found) == len(rows) and any(value != found[0] for value in found)
