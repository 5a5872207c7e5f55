"""What a study is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure


def silent(done: int, total: int, what: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class StudyOptions:
    """What the command line asks of a study."""

    trials: int | None = None  # None: the study's own number
    seed: int = 0
    full: bool = False  # the size that the source printed, where the default is smaller
    progress: Callable[[int, int, str], None] = silent  # (done, total, what)


@dataclass(frozen=True)
class StudyResult:
    """Rows of the table, and the figures beside it."""

    rows: Sequence[Mapping[str, Any]]  # JSON values
    figures: Mapping[str, Figure] = field(default_factory=dict)  # file name without ending
    notes: Sequence[str] = ()  # one line each, for a person
    # Keys in the table for a person, all where empty; a mapping gives each its heading.
    shown: Sequence[str] | Mapping[str, str] = ()
    digits: int = 4  # significant, in that table
