"""Run a study by name, print its table, criteria and notes, and save its figures."""

import inspect
import os
import sys
import textwrap
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from saltus.common.console import RunProgress, print_json, print_lines, print_table, say
from saltus.common.errors import BadRequest
from saltus.common.figures import save
from studies.study import Criterion, Study, StudyOptions, StudyResult

_WIDTH = 80  # columns of a note


def run_study(name: str, study: Study, options: StudyOptions, folder: Path, json: bool) -> int:
    """Run, print and save; exit status 1 when a criterion is not met or there are no rows.

    Raises:
        BadRequest: the folder cannot be written to, or the trials need too much memory.
    """
    _check_writable(folder)
    started = time.monotonic()
    result = _run(name, study, options)
    seconds = time.monotonic() - started
    if not result.rows:
        say(f"study {name} has no rows")
    closing = [*_notes(study), *_save(result, folder)]
    if json:
        criteria = [criterion.record() for criterion in result.criteria]
        print_json(
            {"study": name, "rows": result.rows, "seconds": seconds, "criteria": criteria}
        )
    else:
        headings = list(result.columns.values()) if isinstance(result.columns, Mapping) else None
        rows = [_readable(row, result) for row in result.rows]
        print_table(f"study {name}: {study.source}", rows, headings)
        if result.criteria:
            print_table("criteria", [_verdict(each) for each in result.criteria])
    for line in closing:
        if json:
            say(line)
        else:
            print_lines(textwrap.wrap(line, _WIDTH, break_long_words=False))
    met = all(criterion.met for criterion in result.criteria)
    return 0 if met and result.rows else 1


def _notes(study: Study) -> list[str]:
    """Paragraphs of the module's docstring below its first line."""
    text = inspect.cleandoc(sys.modules[study.run.__module__].__doc__ or "")
    return [" ".join(part.split()) for part in text.split("\n\n")[1:]]


def _verdict(criterion: Criterion) -> dict[str, str]:
    """The criterion as a row of a table."""
    value = "none" if criterion.value is None else f"{criterion.value:.4g}"
    bound = f"{criterion.op} {criterion.bound:g}"
    met = "met" if criterion.met else "NOT MET"
    return {"criterion": criterion.what, "value": value, "bound": bound, "": met}


def _run(name: str, study: Study, options: StudyOptions) -> StudyResult:
    try:
        with _ProgressBar() as bar:
            return study.run(replace(options, progress=bar.show))
    except MemoryError as error:
        trials = "" if options.trials is None else f" --trials {options.trials}"
        reason = error or "no memory"
        raise BadRequest(f"study {name}{trials}: {reason}; give fewer --trials") from error


def _check_writable(folder: Path) -> None:
    """Refuse before the study runs what could not be written after it."""
    parent = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not parent.is_dir():
        raise BadRequest(f"--output {folder}: {parent} is not a folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise BadRequest(f"--output {folder}: {parent} cannot be written to; name another folder")


def _save(result: StudyResult, folder: Path) -> list[str]:
    """Write the figures; one line that names them, or none."""
    if not result.figures:
        return []
    try:
        written = save(result.figures, folder)
    except OSError as error:
        raise BadRequest(f"--output {folder}: {error.strerror or error}") from error
    return [f"Written to {folder}: {', '.join(path.name for path in written)}"]


def _readable(row: Mapping[str, Any], result: StudyResult) -> dict[str, Any]:
    return {key: _cell(row[key], result.digits) for key in result.columns or row}


def _cell(value: Any, digits: int) -> Any:
    """Numbers with some significant digits, complex ones, as [real, imaginary], with an i."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, (list, tuple)):
        return " ".join(_item(item, digits) for item in value)
    return value


def _item(item: Any, digits: int) -> str:
    if isinstance(item, (list, tuple)) and len(item) == 2:
        real, imaginary = item
        end = f"{imaginary:+.{digits}g}i" if imaginary else ""
        return f"{real:.{digits}g}{end}"
    return str(_cell(item, digits))


class _ProgressBar:
    """Progress of a study, whose total is known only from its first report on."""

    def __init__(self) -> None:
        self._bar: RunProgress | None = None
        self._total = 0

    def show(self, done: int, total: int, what: str) -> None:
        if self._bar is None or total != self._total:
            self.__exit__()
            self._bar, self._total = RunProgress(total, "done").__enter__(), total
        self._bar.show(done, what)

    def __enter__(self) -> "_ProgressBar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.__exit__()
