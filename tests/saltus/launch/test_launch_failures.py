"""What a person and a script get from a launch that goes wrong: first line, status, JSON, logs."""

import json
from pathlib import Path

import pytest

from saltus.cli.main import run
from saltus.configuration.launch import load_launch
from saltus.launch import launcher
from saltus.launch.outcome import describe_stall
from tests.saltus.programs import ROOT

STAND = ["launch", "stand", "--duration", "0.8"]


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Has launches take the broken planner; they leave their folders below `tmp_path`."""

    def choose(fault):
        monkeypatch.setenv("FAULT", fault)
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        monkeypatch.setattr(launcher, "PROGRAM", "tests.saltus.launch.broken_planner")
        monkeypatch.chdir(tmp_path)

    return choose


def launch(capsys, *arguments):
    """Exit status, first line and summary of a launch."""
    status = run([*STAND, *arguments])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err + captured.out
    first, *_, last = captured.out.splitlines()
    folder = Path(last.split()[1].rstrip(":"))
    summary = json.loads((folder / "summary.json").read_text())
    return status, first, summary | {"folder": str(folder)}


def log_of(summary, process):
    return (Path(summary["folder"]) / "logs" / f"{process}.log").read_text()


def test_a_planner_that_fails_is_the_first_line(broken, capsys):
    broken("fails")
    status, first, summary = launch(capsys)
    assert status == 1 and summary["ok"] is False
    assert first.startswith(
        "FAILED     The planner failed in 51 of 81 solves; the robot stood down"
    )
    failed, stood_down = summary["problems"][:2]
    assert (failed["what"], stood_down["what"]) == ("planner_failed", "stood_down")
    error = "ArithmeticError: no such plan"
    assert error in failed["detail"] and error in log_of(summary, "planner")
    assert summary["planner"]["statuses"] == {"ok": 30, "failed": 51}


def test_a_planner_that_hangs_is_named_and_ends_the_launch(broken, capsys, monkeypatch):
    broken("hangs")
    monkeypatch.setattr(launcher, "STALL_S", 5.0)  # a busy machine may stand still for a second
    status, first, summary = launch(capsys)
    assert status == 1 and summary["simulated_s"] == 0.3
    assert first.startswith("FAILED     The planner hung; the launch broke off at 0.30 s of 0.8 s")
    details = {problem["what"]: problem["detail"] for problem in summary["problems"]}
    assert "the tracker waits for the planner's plan of tick 300" in details["broke_off"]


def test_who_waits_for_whom_follows_the_messages_of_a_tick():
    config, order = load_launch("push"), "sensor_reading state_estimate plan motor_command".split()
    said = [
        "the simulation waits for the tracker at tick 20",
        "the tracker waits for the estimator's estimate of tick 20",
        "the tracker waits for the planner's plan of tick 20",
        "the simulation waits for the tracker's command of tick 20",
        "the tracker waits for the simulation after tick 20",
    ]
    for done, words in enumerate(said):
        ticks = {name: 20 if name in order[:done] else 19 for name in order}
        assert describe_stall(config, ticks | {"ground_truth": 20}) == words
    between = {name: 21 for name in order[:2]} | {"plan": 20, "motor_command": 20}
    assert "command of tick 21" in describe_stall(config, between | {"ground_truth": 21})


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path, refused):
    (tmp_path / "file").touch()  # below which there can be no folder, whoever asks
    line = refused(*STAND, "--record", str(tmp_path / "file" / "run"))
    assert "--record" in line and "Not a directory" in line
