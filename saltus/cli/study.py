"""``saltus study``: reproduce one table or figure of a source."""

import importlib
import os
import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saltus.cli import completion
from saltus.cli.common import JsonOption, print_catalogue
from saltus.common.console import print_json, print_lines, print_table, say
from saltus.common.errors import BadRequest
from saltus.common.progress import RunProgress
from saltus.studies.catalogue import STUDIES

if TYPE_CHECKING:
    from saltus.studies.engine import Criterion, StudyResult


_WIDTH = 80  # columns of a note


def study(
    name: Annotated[
        str | None,
        typer.Argument(
            help=f"One of {', '.join(STUDIES)}.", autocompletion=completion.study_names
        ),
    ] = None,
    trials: Annotated[int | None, typer.Option(help="Instead of the study's own number.")] = None,
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 0,
    full: Annotated[bool, typer.Option("--full", help="The size that the source has.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Folder of the pictures; left out, runs/studies/NAME.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Reproduce one table or figure; without a name, list those that there are.

    Exit status 1 when a criterion of the study is not met.
    """
    if name is None:
        return print_catalogue("studies", STUDIES, json)
    _check(name, trials, seed)
    folder = output or Path("runs/studies") / name
    _check_writable(folder)
    started = time.monotonic()
    result = _run(name, trials, seed, full)
    seconds = time.monotonic() - started
    if not result.rows:
        say(f"study {name} has no rows")
    unmet = [criterion for criterion in result.criteria if not criterion.met]
    closing = [*result.notes, *_judge(result, unmet), *_save(result, folder)]
    if json:
        for line in closing:
            say(line)
        criteria = [criterion.record() for criterion in result.criteria]
        print_json(
            {"study": name, "rows": list(result.rows), "seconds": seconds, "criteria": criteria}
        )
    else:
        headings = list(result.shown.values()) if isinstance(result.shown, Mapping) else None
        print_table(f"study {name}", [_readable(row, result) for row in result.rows], headings)
        for line in closing:
            print_lines(textwrap.wrap(line, _WIDTH, break_long_words=False))
    return 1 if unmet or not result.rows else 0


def _judge(result: "StudyResult", unmet: "Sequence[Criterion]") -> list[str]:
    """How many criteria are met, and which are not; nothing where nothing is asked."""
    if not result.criteria:
        return []
    count = len(result.criteria)
    met = f"{count - len(unmet)} of {count} criteria are met."
    return [met, *(f"NOT MET: {criterion}." for criterion in unmet)]


def _check(name: str, trials: int | None, seed: int) -> None:
    """Refuse what no study accepts, as a BadRequest."""
    if name not in STUDIES:
        raise BadRequest(f"no study {name!r}; accepted: {', '.join(STUDIES)}")
    if trials is not None and trials < 1:
        raise BadRequest(f"--trials {trials}: give 1 or more")
    if trials is not None and not STUDIES[name].has_trials:
        having = ", ".join(other for other, study in STUDIES.items() if study.has_trials)
        raise BadRequest(f"--trials: study {name} has no trials; those that have: {having}")
    if seed < 0:
        raise BadRequest(f"--seed {seed}: give 0 or more")


def _check_writable(folder: Path) -> None:
    """Refuse before the study runs what could not be written after it."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise BadRequest(f"--output {folder}: {there} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise BadRequest(f"--output {folder}: {there} cannot be written to; name another folder")


def _run(name: str, trials: int | None, seed: int, full: bool) -> "StudyResult":
    from saltus.studies.engine import StudyOptions  # loads matplotlib

    module = importlib.import_module(STUDIES[name].module)
    try:
        with _Bar() as bar:
            return module.run(StudyOptions(trials, seed, full, bar.show))
    except MemoryError as error:
        asked = f"study {name}" + ("" if trials is None else f" --trials {trials}")
        raise BadRequest(f"{asked}: {error or 'no memory'}; give fewer --trials") from error


def _save(result: "StudyResult", folder: Path) -> list[str]:
    """Write the figures; one line that names them, or none."""
    from saltus.studies.style import save

    if not result.figures:
        return []
    try:
        written = save(result.figures, folder)
    except OSError as error:
        raise BadRequest(f"--output {folder}: {error.strerror or error}") from error
    return [f"Written to {folder}: {', '.join(path.name for path in written)}"]


def _readable(row: Any, result: "StudyResult") -> dict[str, Any]:
    return {key: _cell(row[key], result.digits) for key in result.shown or row}


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


class _Bar:
    """Progress of a study, whose total is known only from its first report on."""

    def __init__(self) -> None:
        self._shown: RunProgress | None = None
        self._total = 0

    def show(self, done: int, total: int, what: str) -> None:
        if self._shown is None or total != self._total:
            self.__exit__()
            self._shown, self._total = RunProgress(total, "done").__enter__(), total
        self._shown.show(done, what)

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown.__exit__()
