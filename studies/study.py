"""Interface of a study: its arguments, its result, and the registry.

A study is a function under ``@study`` in a file of its own, ``studies/SOURCE/NAME.py``; what
several of them share stands beside them. `studies.runner` runs one, prints its tables and saves
its figures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from saltus.common.criterion import Criterion
from saltus.common.errors import BadRequest
from saltus.launch.plugins import load_module

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Option = Literal["trials", "seed", "full", "set"]
Progress = Callable[[int, int, str], None]  # (done, total, what)
Row = dict[str, Any]  # JSON values, numbers and arrays of numpy, by key
T = TypeVar("T")


def silent(done: int, total: int, what: str) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class StudyOptions:
    """Options of the command line, and where to report progress."""

    trials: int | None = None  # None: the study's own number
    seed: int = 0
    full: bool = False  # the size that the source has, where the default is smaller
    settings: tuple[str, ...] = ()  # KEY=VALUE over the keys of the study's launch
    progress: Progress = silent

    def count(self, default: int, full: int | None = None) -> int:
        """Number of trials: the user's, else that of the full size or the default."""
        if self.trials is not None:
            return self.trials
        return full if self.full and full is not None else default

    def track(self, items: Iterable[T], label: str = "") -> Iterator[T]:
        """Yield the items; report before each how many are done, and a label or the item's name."""
        items = list(items)
        for done, item in enumerate(items):
            self.progress(done, len(items), label or str(getattr(item, "name", item)))
            yield item
        self.progress(len(items), len(items), "done")


@dataclass(frozen=True)
class StudyResult:
    """Rows of the table, criteria on them, figures and notes."""

    rows: Sequence[Row]  # all with the same keys; numbers that are not finite become null
    figures: Mapping[str, Figure] = field(default_factory=dict)  # by file name without suffix
    # Keys of the table on the terminal, ", " between; "KEY=HEADING" too. All keys where empty.
    columns: str = ""
    criteria: Sequence[Criterion] = ()


class Study(NamedTuple):
    """One study.

    Attributes:
        run: computes it.
        source: author and section, table or figure.
        options: of ``trials``, ``seed``, ``full`` and ``set``, those that have an effect.
    """

    run: Callable[..., StudyResult]  # of StudyOptions
    source: str
    options: tuple[Option, ...] = ()

    def __call__(self, options: StudyOptions) -> StudyResult:
        """Compute rows, criteria and figures."""
        return self.run(options)


def study(source: str, *options: Option) -> Callable[[Callable[..., StudyResult]], Study]:
    """Make a function of `StudyOptions` a study; the first line of its module describes it.

    Args:
        source: author and section, table or figure.
        options: those that have an effect; others are refused.
    """
    return lambda run: Study(run, source, options)


class Entry(NamedTuple):
    """Place of a study, and the first line of its module."""

    module: str
    description: str


def name_of(path: Path) -> str:
    """Name of the study in a file: ``table-5.1`` of ``table_5_1.py``."""
    return re.sub(r"(?<=\d)_(?=\d)", ".", path.stem).replace("_", "-")


def _studies() -> Iterator[tuple[str, Entry]]:
    root = Path(__file__).parent
    for path in sorted(root.glob("*/*.py")):
        text = path.read_text(encoding="utf-8")
        if "\n@study(" in text:
            description = text.partition("\n")[0].strip('".')
            yield name_of(path), Entry(f"studies.{path.parent.name}.{path.stem}", description)


STUDIES = dict(_studies())  # by name; the list is read without importing any of them


def find(place: str) -> tuple[str, Study]:
    """Name and study of ``NAME``, ``FILE.py``, or where it has several ``FILE.py:FUNCTION``.

    Raises:
        BadRequest: there is no such study, or its module cannot be imported.
    """
    file, _, function = place.partition(":")
    if not file.endswith(".py") and place not in STUDIES:
        raise BadRequest(f"no study {place!r}; accepted: {', '.join(STUDIES)}")
    module = load_module(STUDIES[file].module if file in STUDIES else file, f"study {place}")
    found = {name: each for name, each in vars(module).items() if isinstance(each, Study)}
    if not function and len(found) == 1:
        return name_of(Path(file)) if file.endswith(".py") else file, next(iter(found.values()))
    if function not in found:
        has = ", ".join(found) or "no function under @study"
        raise BadRequest(f"study {place}: give FILE.py:FUNCTION of a study in it; it has {has}")
    return function, found[function]
