"""The conditions of a sweep: which trials are repetitions of each other, and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from saltus.sweep.trials import Row
from sim_bridge.suites import UNDISTURBED

_UNITS = {"base_velocity": " m/s", "base_force": " N"}


def push_words(kind: str, magnitude: float, values: Sequence[Sequence[float]]) -> str:
    """Kind, size and direction of an event, such as "base velocity 1.5 m/s along (0, 1, 0)"."""
    if kind == UNDISTURBED:
        return "undisturbed"
    words = [kind.replace("_", " ")]
    if magnitude:
        words.append(f"{magnitude:g}{_UNITS.get(kind, '')}")
        unit = [x / magnitude + 0.0 for x in values[0]] if len(values) == 1 else []
        direction = f"along ({', '.join(f'{x:.3g}' for x in unit)})"
        words.append(direction if unit else f"in {len(values)} directions")
    return " ".join(words)


def budget_words(budget_ms: float | None) -> str:
    """Processor time that a plan may take [ms]; None where each planner has its own settings."""
    return "default settings" if budget_ms is None else f"{budget_ms:g} ms a plan"


_BUDGET = "budget_ms"
_FIELDS = ("for", "every", "reference", "reference_from", "command", "duration", "simulation",
           "timing", _BUDGET)  # fmt: skip


class Condition(NamedTuple):
    """Common properties of the trials of one line of a table.

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
    """The name of the group, and the push and the fields that differ among its conditions.

    Without a name the push is said in any case.
    """
    name, beside = _group(row), [other for other in firsts if _group(other) == _group(row)]
    push = push_words(_kind(row), magnitude_of(row), values)
    pushes = {(_kind(other), magnitude_of(other), str(other.get("value"))) for other in beside}
    told = [push] if not name or len(pushes) > 1 else []
    told += [
        budget_words(row[key]) if key == _BUDGET else f"{key} {_plain_words(row.get(key))}"
        for key in _FIELDS
        if (row.get(key) is not None or key == _BUDGET and key in row)
        and any(other.get(key) != row.get(key) for other in beside)
    ]  # fmt: skip
    rest = ", ".join(told)
    return f"{name}: {rest}" if name and rest else name or rest


def _plain_words(value: Any) -> str:
    """A value as a launch file has it, in a line."""
    if value == {}:
        return "as usual"
    if isinstance(value, dict):
        return " ".join(f"{key} {_plain_words(each)}" for key, each in value.items())
    if isinstance(value, list):
        return f"of {len(value)} steps"
    return f"{value:g}" if isinstance(value, float) else str(value)
