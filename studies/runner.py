"""Run a study by name, print its table, criteria and notes, and save its figures."""

import inspect
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from saltus.common.console import RunProgress, print_json, print_table, say
from saltus.common.errors import BadRequest
from saltus.common.figures import save
from saltus.configuration.options import read_mapping
from studies.study import Criterion, Row, Study, StudyOptions

_WIDTH = 80  # columns of a note
_DIGITS = 4  # significant, in a table
PRINTED = read_mapping(Path(__file__).with_name("printed.yaml"))  # of the sources


def run_study(name: str, study: Study, options: StudyOptions, folder: Path, json: bool) -> int:
    """Run, print and save; exit status 1 when a criterion is not met or there are no rows.

    Raises:
        BadRequest: the folder cannot be written to, or the trials need too much memory.
    """
    _write(folder, lambda: folder.mkdir(parents=True, exist_ok=True))
    started = time.monotonic()
    with RunProgress(100.0, "%") as bar:
        followed = replace(
            options, progress=lambda done, total, what: bar.show(100.0 * done / total, what)
        )
        try:
            result = study.run(followed)
        except MemoryError as error:
            reason = error or "no memory"
            raise BadRequest(f"study {name}: {reason}; give fewer --trials") from error
    seconds, rows = time.monotonic() - started, with_printed(name, study.source, result.rows)
    _write(folder, lambda: save(result.figures, folder))
    text = inspect.cleandoc(sys.modules[study.run.__module__].__doc__ or "")
    notes = [" ".join(part.split()) for part in text.split("\n\n")[1:]]  # below its first line
    if result.figures:
        files = ", ".join(f"{each}.png" for each in result.figures)
        notes.append(f"Written to {folder}: {files}")
    if not rows:
        say(f"study {name} has no rows")
    if json:
        criteria = [criterion.record() for criterion in result.criteria]
        print_json({"study": name, "rows": rows, "seconds": seconds, "criteria": criteria})
        for note in notes:
            say(note)
    else:
        if rows:
            _print_rows(f"study {name}: {study.source}", rows, result.columns)
        if result.criteria:
            print_table("criteria", [_verdict(each) for each in result.criteria])
        for note in notes:
            print("\n".join(textwrap.wrap(note, _WIDTH, break_long_words=False)))
    return 0 if rows and all(criterion.met for criterion in result.criteria) else 1


def _write(folder: Path, do: Callable[[], Any]) -> None:
    try:
        do()
    except OSError as error:
        raise BadRequest(f"--output {folder}: {error.strerror or error}") from error


def with_printed(name: str, source: str, rows: Sequence[Row]) -> list[Row]:
    """The rows; behind a number what the source prints, and by how much the study's is larger."""
    cases, made = PRINTED.get(name, []), list[Row]()
    printed = "thesis" if source.startswith("Kong") else "printed"
    for row in rows:
        own: Row = {}
        for case in cases:
            own = dict.fromkeys(case) | own | (case if case["of"].items() <= row.items() else {})
        made.append({})
        for key, value in row.items():
            made[-1][key] = value
            if key in own:
                off = None if None in (value, own[key]) else value - own[key]
                made[-1] |= {f"{printed}_{key}": own[key], f"{key}_off": off}
    return made


def _print_rows(title: str, rows: list[Row], columns: str) -> None:
    """The table of the shown keys; behind each printed number how far ours is off it."""
    shown: dict[str, str] = {}  # headings by key
    for column in (columns or ", ".join(rows[0])).split(", "):
        key, _, heading = column.partition("=")
        shown[key] = heading or key.replace("_", " ")
        shown.setdefault(f"{key}_off", "off")
    keys = [key for key in shown if key in rows[0]]
    cells = [{key: _cell(row[key]) for key in keys} for row in rows]
    print_table(title, cells, [shown[key] for key in keys])


def _verdict(criterion: Criterion) -> dict[str, str]:
    """The criterion as a row of a table."""
    value = "none" if criterion.value is None else f"{criterion.value:.4g}"
    bound = f"{criterion.op} {criterion.bound:g}"
    met = "met" if criterion.met else "NOT MET"
    return {"criterion": criterion.what, "value": value, "bound": bound, "": met}


def _cell(value: Any) -> Any:
    """Numbers with some significant digits, complex ones, as [real, imaginary], with an i."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:.{_DIGITS}g}"
    if isinstance(value, (list, tuple)):
        return " ".join(_item(item) for item in value)
    return value


def _item(item: Any) -> str:
    if isinstance(item, (list, tuple)) and len(item) == 2:
        real, imaginary = item
        end = f"{imaginary:+.{_DIGITS}g}i" if imaginary else ""
        return f"{real:.{_DIGITS}g}{end}"
    return str(_cell(item))
