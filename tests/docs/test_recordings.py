"""The pages on recordings and topics: their code runs, and the tables are those of the code."""

import shlex
from pathlib import Path

import pytest
from numpy.testing import assert_array_equal

import saltus
from saltus.cli import main
from saltus.launch.plugins import load_module
from saltus.recording.fields import PARTS
from tests.docs.doc_code import blocks
from tests.saltus.short_walk import record_walk

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "recordings.md"
tables = load_module(str(DOCS / "tables.py"), "docs/tables.py")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a recorded run in it, where the page has it."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "runs" / "walk").mkdir(parents=True)
    record_walk(folder / "runs" / "walk")
    return folder


def test_its_code_runs(place, monkeypatch, capsys):
    """Commands first: they write what the code reads."""
    monkeypatch.chdir(place)
    commands = [line for block in blocks(PAGE, "sh") for line in block.splitlines()]
    assert len(commands) == 3
    for command in commands:
        program, *arguments = shlex.split(command, comments=True)
        assert program == "saltus" and main.run(arguments) == 0
    names = {}
    code = blocks(PAGE, "python")
    assert len(code) == 5
    for block in code:
        exec(block, names)
    out = capsys.readouterr().out
    assert "30 plans, 6 with knots" in out and "velocity error" in out
    run = saltus.open_run("runs/walk")
    assert names["path"].shape == (51, 3)
    assert_array_equal(names["q"], run["ground_truth"].q[-1])  # of the last message


def test_its_tables_are_those_of_the_code():
    text = (DOCS / "topics.md").read_text()
    assert tables.topics_page(text) == text, "generate them: python docs/tables.py"


def test_it_has_the_columns_of_the_parts_of_a_state():
    text = PAGE.read_text()
    for parts in PARTS.values():
        for name, (slots, _) in parts.items():
            assert f"| `{name}` | {slots.start} to {slots.stop - 1} |" in text
