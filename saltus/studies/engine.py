"""What a study is given and what it returns: options, criteria, rows, figures and notes.

A study is a function under ``@study``; `saltus.studies.catalogue` finds it, and
`saltus.studies.runner` runs it, prints its table and saves its figures.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPARISONS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}

Option = Literal["trials", "seed", "full"]
Progress = Callable[[int, int, str], None]  # (done, total, what)
T = TypeVar("T")
R = TypeVar("R", bound="Run")


def silent(done: int, total: int, what: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class StudyOptions:
    """Options of the command line, and where to report progress."""

    trials: int | None = None  # None: the study's own number
    seed: int = 0
    full: bool = False  # the size that the source has, where the default is smaller
    progress: Progress = silent

    def count(self, default: int, full: int | None = None) -> int:
        """Number of trials: the user's, else that of the full size or the default."""
        if self.trials is not None:
            return self.trials
        return full if self.full and full is not None else default


def track(items: Iterable[T], progress: Progress, label: Callable[[T], str]) -> Iterator[T]:
    """Yield the items, and report before each how many are done and what comes next."""
    items = list(items)
    for done, item in enumerate(items):
        progress(done, len(items), label(item))
        yield item
    progress(len(items), len(items), "done")


class Criterion(NamedTuple):
    """A bound on a number that the study computes.

    Attributes:
        what: the number, in words.
        value: None where it does not exist.
        op: relation of value to bound: one of `COMPARISONS`.
        bound: the number required.
    """

    what: str
    value: float | None
    op: str
    bound: float

    @property
    def met(self) -> bool:
        """Whether the value exists and satisfies the bound; NaN never does."""
        return self.value is not None and bool(COMPARISONS[self.op](self.value, self.bound))

    def record(self) -> dict[str, Any]:
        """JSON values."""
        return self._asdict() | {"met": self.met}

    def __str__(self) -> str:
        """Such as ``order is 1.9; >= 2 is required``."""
        value = "none" if self.value is None else f"{self.value:.4g}"
        return f"{self.what} is {value}; {self.op} {self.bound:g} is required"


@dataclass(frozen=True)
class StudyResult:
    """Rows of the table, criteria on them, figures and notes."""

    rows: Sequence[Any]  # frozen dataclasses of JSON values; mappings where columns are data
    figures: Mapping[str, Figure] = field(default_factory=dict)  # by file name without suffix
    notes: Sequence[str] = ()  # one line each
    # Keys of the table on the terminal, all where empty; a mapping gives each its heading.
    shown: Sequence[str] | Mapping[str, str] = ()
    digits: int = 4  # significant, in that table
    criteria: Sequence[Criterion] = ()

    @property
    def records(self) -> list[dict[str, Any]]:
        """The rows as JSON objects."""
        return [record(row) for row in self.rows]


def record(row: Any) -> dict[str, Any]:
    """A row as a JSON object: a dataclass by the names of its fields."""
    if isinstance(row, Mapping):
        return dict(row)
    return {each.name: getattr(row, each.name) for each in fields(row)}


Run = Callable[[StudyOptions], StudyResult]
STUDY_FUNCTIONS: dict[str, Run] = {}  # of the modules that are imported


def study(name: str, source: str, options: Sequence[Option] = ()) -> Callable[[R], R]:
    """Make a function a study of ``saltus study``; the first line of its module describes it.

    `saltus.studies.catalogue` reads the arguments from the source, so they must be literals.

    Args:
        name: on the command line.
        source: author and section, table or figure.
        options: those that have an effect; others are refused.
    """

    def register(run: R) -> R:
        STUDY_FUNCTIONS[name] = run
        return run

    return register
