"""What a study is given and what it gives back."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from matplotlib.figure import Figure

COMPARISONS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}


def silent(done: int, total: int, what: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class StudyOptions:
    """What the command line asks of a study."""

    trials: int | None = None  # None: the study's own number
    seed: int = 0
    full: bool = False  # the size that the source printed, where the default is smaller
    progress: Callable[[int, int, str], None] = silent  # (done, total, what)


class Criterion(NamedTuple):
    """What a study is asked to show.

    Attributes:
        what: in words.
        value: that was found; None where there is none.
        op: how it must stand to the bound: one of `COMPARISONS`.
        bound: the number asked for.
    """

    what: str
    value: float | None
    op: str
    bound: float

    @property
    def met(self) -> bool:
        """Whether the value is there and fits; NaN never does."""
        return self.value is not None and bool(COMPARISONS[self.op](self.value, self.bound))

    def record(self) -> dict[str, Any]:
        """JSON values."""
        return self._asdict() | {"met": self.met}

    def __str__(self) -> str:
        """Such as ``order is 1.9; >= 2 is asked``."""
        value = "none" if self.value is None else f"{self.value:.4g}"
        return f"{self.what} is {value}; {self.op} {self.bound:g} is asked"


@dataclass(frozen=True)
class StudyResult:
    """Rows of the table, what they must show, and the figures beside them."""

    rows: Sequence[Mapping[str, Any]]  # JSON values
    figures: Mapping[str, Figure] = field(default_factory=dict)  # file name without ending
    notes: Sequence[str] = ()  # one line each, for a person
    # Keys in the table for a person, all where empty; a mapping gives each its heading.
    shown: Sequence[str] | Mapping[str, str] = ()
    digits: int = 4  # significant, in that table
    criteria: Sequence[Criterion] = ()
