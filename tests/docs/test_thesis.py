"""docs/thesis.md: every file, name and command in its tables exists, and its rows are counted."""

import re
import shlex
from collections import Counter
from pathlib import Path
from pkgutil import resolve_name

import pytest
import typer
from typer.exceptions import TyperException

from saltus.bench.catalogue import BENCHMARKS
from saltus.cli.app import app
from saltus.common.files import names_in
from studies.study import STUDIES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "thesis.md").read_text()
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
NAMES = {
    "study": STUDIES, "bench": BENCHMARKS, "report": ("DIR",),
    "perturb": names_in("config").split(", "), "launch": names_in("launch").split(", "),
}  # fmt: skip


def mistakes(row):
    """What a row names and is not there."""
    if len(row) != 4:
        yield f"{len(row)} cells"
        return
    _, here, shown, state = row
    word = state.partition(": ")[0]
    if word not in ("faithful", "differs", "missing") or (word == "differs") > (": " in state):
        yield f"state {state}"
    if any((cell == "–") != (word == "missing") for cell in (here, shown)):
        yield "a row has a place and a command, or is missing"
    yield from (name for name in re.findall(r"`([^`]+)`", here) if not exists(name))
    yield from (command for command in re.findall(r"`([^`]+)`", shown) if not runs(command))


def exists(name):
    """Whether a file is there, or a module with a name in it."""
    if "/" in name:
        return (ROOT / name).exists()
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def runs(command):
    """Whether a study, a test, or a command with these options and this argument is there."""
    program, *words = shlex.split(command)
    if program != "saltus":
        return program in STUDIES or program.startswith("tests/") and (ROOT / program).is_file()
    try:
        typer.main.get_command(app).commands[words[0]].make_context(words[0], words[1:])
    except (KeyError, TyperException):
        return False
    return words[1] in NAMES[words[0]]


def test_all_that_a_row_names_exists():
    rows = [row for row in ROWS if row[0] != "in the source"]
    assert [(row[0], mistake) for row in rows for mistake in mistakes(row)] == []
    named = {name for row in rows for name in " ".join(row[2].split("`")).split()}
    sources = ("kong", "anderson_revzen", "halm_posa", "seghete_murphey")
    theirs = {name for name, entry in STUDIES.items() if entry.module.split(".")[1] in sources}
    assert theirs <= named
    count = Counter(row[3].partition(":")[0] for row in rows)
    assert (
        f"Of the rows below {count['faithful']} are faithful, {count['differs']} differ and"
        f" {count['missing']} are missing."
    ) in PAGE


@pytest.mark.parametrize(
    "row",
    [
        "A | `saltation.saltations.no` | `saltus study floquet` | faithful",
        "B | `saltation.no.saltation` | `saltus study floquet` | faithful",
        "C | `saltation/no.py` | `saltus study floquet` | faithful",
        "D | `saltation/run.py` | `saltus study no` | faithful",
        "E | `saltation/run.py` | `saltus study floquet --no` | faithful",
        "F | `saltation/run.py` | `saltus perturb no` | faithful",
        "G | `saltation/run.py` | `saltus bench no` | faithful",
        "H | `saltation/run.py` | `tests/no.py` | faithful",
        "I | `saltation/run.py` | `saltus study floquet` | partly",
        "J | `saltation/run.py` | `saltus study floquet` | differs",
        "K | `saltation/run.py` | – | faithful",
    ],
)
def test_a_wrong_row_is_found(row):
    assert len(list(mistakes(row.split(" | ")))) == 1
