"""Options of the HiLQR planner that somebody changes while it runs."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from controller.planner_options import PlannerOptions, Search
from runtime.messages import Tuning

if TYPE_CHECKING:
    from runtime.bus import Subscriber

LOG = logging.getLogger(__name__)
SEARCH = frozenset({"iterations", "step_sizes", "line_search"})  # in lock step and in real time
TUNABLE = SEARCH | {"tolerance", "damping", "cost"}


class Tunable(Protocol):
    """A planner whose options may change between two solves."""

    def retune(self, options: PlannerOptions) -> None:
        """Solve with these options from now on. Raises ValueError for what it cannot run on."""
        ...


class Tuner:
    """Takes tunings and hands the planner its new options; raises for no tuning.

    Attributes:
        options: those below `hilqr` of the launch file, as they are now.
        counts: tunings applied and refused.
    """

    def __init__(
        self,
        tunings: Subscriber[Tuning],
        planner: Tunable,
        options: PlannerOptions,
        in_real_time: bool,
    ) -> None:
        """Begin with what the planner was made with.

        Args:
            tunings: from whoever watches.
            planner: whose options they are.
            options: of the launch file.
            in_real_time: the search of `options.realtime` holds.
        """
        self._tunings, self._planner, self._in_real_time = tunings, planner, in_real_time
        self.options = options
        self.counts: Counter[str] = Counter()

    def look(self) -> None:
        """Take what has come; to be called between two solves."""
        for tuning in self._tunings.all():
            self._take(tuning)

    def _take(self, tuning: Tuning) -> None:
        try:
            options = tuned(self.options, tuning.options)
            self._planner.retune(options.in_real_time() if self._in_real_time else options)
        except ValueError as error:
            self.counts["refused"] += 1
            LOG.warning("planner: tuning %d refused: %s", tuning.sequence, error)
            return
        self.options = options
        self.counts["applied"] += 1


def tuned(options: PlannerOptions, changes: str) -> PlannerOptions:
    """The options with changes merged in.

    Args:
        options: as they are.
        changes: JSON of keys below `hilqr` of a launch file, and their values.

    Raises:
        ValueError: it is not JSON of accepted keys and finite values of their type, or changes what
            cannot change while the planner runs; in one line.
    """
    before = msgspec.to_builtins(options)
    try:
        merged = _merge(before, msgspec.json.decode(changes, type=dict[str, Any]))
        after = msgspec.convert(merged, PlannerOptions)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error).replace("$.", "").replace("`", "")) from error
    fixed = _fixed(options, after, TUNABLE | {"realtime"}, "")
    fixed += _fixed(options.realtime, after.realtime, SEARCH, "realtime.")
    if fixed:
        raise ValueError(
            f"{', '.join(fixed)} cannot change while the planner runs; accepted: "
            f"{', '.join(sorted(TUNABLE))}, realtime: {', '.join(sorted(SEARCH))}"
        )
    return after


def _merge(before: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A mapping with the values of `changes`; nested mappings are merged."""
    merged = dict(before)
    for key, value in changes.items():
        inner = before.get(key)
        if isinstance(inner, dict) and isinstance(value, dict):
            merged[key] = _merge(inner, value)
        else:
            merged[key] = value
    return merged


def _fixed(before: Search, after: Search, tunable: frozenset[str], prefix: str) -> list[str]:
    """The fields that differ and are not tunable."""
    names = [name for name in before.__struct_fields__ if name not in tunable]
    return [f"{prefix}{n}" for n in names if getattr(before, n) != getattr(after, n)]
