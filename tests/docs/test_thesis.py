"""docs/thesis.md: every file, name and command on it exists, and its lines are counted."""

import re
import shlex
from collections import Counter
from pkgutil import resolve_name

import pytest
import typer
from typer.exceptions import TyperException

from saltus.bench.catalogue import BENCHMARKS
from saltus.cli.app import app
from saltus.common.files import names_in
from studies.study import STUDIES
from tests.saltus.programs import ROOT

PAGE = (ROOT / "docs" / "thesis.md").read_text()
LINES = [line for line in PAGE.splitlines() if line.startswith("- **")]
LINE = re.compile(r"- \*\*(.+?)\*\*, (\w+)( \(.*?\))?(?:: (`.*`) → (`.*`))?")
NAMES = {
    "study": STUDIES, "bench": BENCHMARKS, "report": ("DIR",),
    "perturb": names_in("config").split(", "), "launch": names_in("launch").split(", "),
}  # fmt: skip


def mistakes(line):
    """What a line names and is not there."""
    if not (match := LINE.fullmatch(line)):
        yield "form"
        return
    _, state, difference, here, shown = match.groups()
    if state not in ("faithful", "differs", "missing") or (state == "differs") > bool(difference):
        yield f"state {state}"
    if (state == "missing") != (here is None):
        yield "a line has a place and what shows it, or is missing"
    yield from (name for name in re.findall(r"`([^`]+)`", here or "") if not exists(name))
    yield from (command for command in re.findall(r"`([^`]+)`", shown or "") if not runs(command))


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


def test_all_that_a_line_names_exists():
    assert [(line[:40], mistake) for line in LINES for mistake in mistakes(line)] == []
    named = {name for line in LINES for name in " ".join(line.split("`")).split()}
    sources = ("kong", "anderson_revzen", "halm_posa", "seghete_murphey")
    theirs = {name for name, entry in STUDIES.items() if entry.module.split(".")[1] in sources}
    assert theirs <= named
    count = Counter(LINE.fullmatch(line)[2] for line in LINES)
    assert (
        f"{count['faithful']} are faithful, {count['differs']} differ and {count['missing']} are"
        " missing."
    ) in PAGE


@pytest.mark.parametrize(
    "line",
    [
        "- **A**, faithful: `saltation.saltations.no` → `floquet`",
        "- **B**, faithful: `saltation.no.saltation` → `floquet`",
        "- **C**, faithful: `saltation/no.py` → `floquet`",
        "- **D**, faithful: `saltation/run.py` → `no`",
        "- **E**, faithful: `saltation/run.py` → `saltus study floquet --no`",
        "- **F**, faithful: `saltation/run.py` → `saltus perturb no`",
        "- **G**, faithful: `saltation/run.py` → `saltus bench no`",
        "- **H**, faithful: `saltation/run.py` → `tests/no.py`",
        "- **I**, partly: `saltation/run.py` → `floquet`",
        "- **J**, differs: `saltation/run.py` → `floquet`",
        "- **K**, faithful",
    ],
)
def test_a_wrong_line_is_found(line):
    assert len(list(mistakes(line))) == 1
