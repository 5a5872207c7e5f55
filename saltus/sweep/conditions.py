"""The conditions of a sweep: which trials are repetitions of each other, and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from saltus.sweep import condition_words as in_words
from saltus.sweep.trials import Row
from sim_bridge.suites import UNDISTURBED

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
        return in_words.budget_words(self.fields[_BUDGET]) if _BUDGET in self.fields else ""


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
    named = bool(name) and one_push and in_words.says_size(name, kind, magnitude)
    event = {key: row.get(key) for key in _EVENT if not named or _differ(key, beside)}
    push = "" if named else in_words.push_words(kind, magnitude, values)
    told = [" ".join(filter(None, (push, in_words.repetition_words(event))))]
    told += in_words.launch_words({key: row[key] for key in _LAUNCH if _differ(key, beside)})
    told += [words for words in _world(row, firsts) if words not in name]
    told += [in_words.budget_words(row[_BUDGET])] if _BUDGET in row else []
    rest = ", ".join(filter(None, told))
    return f"{name}: {rest}" if name and rest else name or rest


def _world(row: Row, firsts: Sequence[Row]) -> list[str]:
    """Words for those options of the world that are not as usual, nor the same in all rows."""
    simulation, timing = ({
        key: value for key, value in (row.get(section) or {}).items()
        if any((other.get(section) or {}).get(key) != value for other in firsts)
    } for section in _WORLD)  # fmt: skip
    return in_words.world_words(simulation, {k: v for k, v in timing.items() if v != _USUAL_TIMING})


def _differ(key: str, rows: Sequence[Row]) -> bool:
    found: list[Any] = [row[key] for row in rows if key in row]
    return len(found) == len(rows) and any(value != found[0] for value in found)
