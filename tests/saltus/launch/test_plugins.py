"""Planners and estimators of the user's own: where they are found, and what is said where not."""

from pathlib import Path

import pytest

from saltus.cli.main import BAD_REQUEST, run
from saltus.launch.plugins import load
from tests.saltus.programs import ROOT


def test_a_class_is_found_in_a_file_and_in_a_module(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("class Mine:\n    number = 3\n")
    assert load(f"{file}:Mine").number == 3
    assert load(f"{file}:Mine") is load(f"{file}:Mine")  # loaded once
    assert load("pathlib:Path") is Path


@pytest.mark.parametrize(
    "text, meant",
    [
        (None, "no file"), ("def other(): ...", "has no Mine"), ("import nowhere", "nowhere"),
        ("x = (", "SyntaxError"), ("raise KeyError('gain')", "KeyError: 'gain'"),
        ("None.gain", "AttributeError"),
    ],
)  # fmt: skip
def test_a_plug_in_that_cannot_be_had_is_one_line(tmp_path, capsys, text, meant):
    file = tmp_path / "mine.py"
    if text is not None:
        file.write_text(text)
    for key in ("planner", "estimator"):
        launch = ["launch", "stand", "--set", f"{key}={file}:Mine", "--record", f"{tmp_path}/{key}"]
        assert run(launch) == BAD_REQUEST
        line = capsys.readouterr().err.strip().splitlines()[-1]
        assert line.startswith(f"saltus: {file}:Mine: ") and meant in line


BASE = "from controller.planner import Planner\nclass Mine(Planner):\n"
MAKE, SOLVE = "    def __init__(self, config): {}\n", "    def solve(self, *_): return [][1]\n"


@pytest.mark.parametrize(
    "text, meant, traceback",
    [
        ("class Mine:\n    def __init__(self, config): ...", "derive from controller.planner", ""),
        (BASE + MAKE.format("1 / 0") + SOLVE, "ZeroDivisionError", "line 3, in __init__"),
        (BASE + MAKE.format("...") + SOLVE, "IndexError", "line 4, in solve"),
    ],
)  # fmt: skip
def test_a_planner_that_fails_before_the_robot_moves_shows_where(
    tmp_path, capsys, text, meant, traceback
):
    file = tmp_path / "mine.py"
    file.write_text(text)
    assert run(["launch", "stand", "--set", f"planner={file}:Mine"]) == BAD_REQUEST
    shown = capsys.readouterr().err
    line = shown.strip().splitlines()[-1]
    assert line.startswith(f"saltus: {file}:Mine failed before the robot moved: ") and meant in line
    assert traceback in shown and ("Traceback" in shown) == bool(traceback)


def test_a_planner_that_is_edited_is_tried_again(tmp_path, capsys):
    file, example = tmp_path / "mine.py", ROOT / "examples" / "my_planner.py"
    file.write_text(example.read_text())
    launch = ["launch", "stand", "--duration", "0.1", "--set", f"planner={file}:Player"]
    assert run(launch) == 0
    file.write_text(example.read_text().replace("self._count += 1", "self._count += 1 / 0"))
    assert run(launch) == BAD_REQUEST and "in solve" in capsys.readouterr().err
