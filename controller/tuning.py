"""Changes of the HiLQR planner's options while it runs."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

from controller.planner_options import HilqrSection, PlannerOptions
from runtime.messages import Tuning

if TYPE_CHECKING:
    from runtime.bus import Subscriber

LOG = logging.getLogger(__name__)
TUNABLE = ("cost", "damping", "tolerance")
SEARCHES = ("paused", "realtime")
SEARCH = ("iterations", "line_search", "step_sizes")  # tunable of each search


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
        options: HilqrSection,
        mode: Literal["paused", "realtime"],
    ) -> None:
        """Begin with what the planner was made with.

        Args:
            tunings: from the live page.
            planner: whose options they are.
            options: of the launch file.
            mode: of the launch, whose search holds.
        """
        self._tunings, self._planner, self._mode = tunings, planner, mode
        self.options = options
        self.counts: Counter[str] = Counter()

    def look(self) -> None:
        """Apply all pending tunings; to be called between two solves."""
        for tuning in self._tunings.all():
            self._take(tuning)

    def _take(self, tuning: Tuning) -> None:
        try:
            options = tuned(self.options, tuning.options)
            self._planner.retune(options.in_mode(self._mode))
        except ValueError as error:
            self.counts["refused"] += 1
            LOG.warning("planner: tuning %d refused: %s", tuning.sequence, error)
            return
        self.options = options
        self.counts["applied"] += 1


def tuned(options: HilqrSection, changes: str) -> HilqrSection:
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
        after = msgspec.convert(merged, type(options))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error).replace("$.", "").replace("`", "")) from error
    fixed = _fixed(options, after, (*TUNABLE, *SEARCHES))
    for name in SEARCHES:
        search = _fixed(getattr(options, name), getattr(after, name), SEARCH)
        fixed += [f"{name}.{key}" for key in search]
    if fixed:
        raise ValueError(
            f"{', '.join(fixed)} cannot change while the planner runs; accepted: "
            f"{', '.join(TUNABLE)}, and {', '.join(SEARCH)} of {' and '.join(SEARCHES)}"
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


def _fixed(before: msgspec.Struct, after: msgspec.Struct, tunable: tuple[str, ...]) -> list[str]:
    """The fields that differ and are not tunable."""
    names = [name for name in before.__struct_fields__ if name not in tunable]
    return [name for name in names if getattr(before, name) != getattr(after, name)]
