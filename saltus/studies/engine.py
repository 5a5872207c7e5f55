"""What a study is given and what it returns: options, criteria, rows, figures and notes.

A study is a function under ``@study``; `saltus.studies.catalogue` finds it, and
`saltus.studies.runner` runs it, prints its table and saves its figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from saltus.common.criterion import Criterion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


@dataclass(frozen=True)
class StudyResult:
    """Rows of the table, criteria on them, figures and notes."""

    rows: Sequence[Any]  # frozen dataclasses of JSON values; mappings where columns are data
    figures: Mapping[str, Figure] = field(default_factory=dict)  # by file name without suffix
    notes: Sequence[str] = ()  # one line each
    # Keys of the table on the terminal, all where empty; a mapping gives each its heading.
    columns: Sequence[str] | Mapping[str, str] = ()
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
