"""What a full disk costs a launch: recording, reports and summary, a line for each; not the run."""

import gc
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from runtime.messages import GroundTruth
from runtime.recording import read_recording
from saltus.cli.main import run
from saltus.common import console
from saltus.common.errors import BadRequest
from saltus.common.files import write_file
from saltus.configuration.launch import load_launch, write_config
from saltus.launch import processes
from saltus.launch.launcher import open_recorder
from saltus.launch.run_folder import RunFolder, say_missing_reports
from saltus.launch.supervisor import Death
from saltus.launch.warmup import ensure_compiled

ROOT = Path(__file__).parents[3]


def test_a_launch_goes_on_when_its_recording_cannot(tmp_path, room_for):
    ensure_compiled(load_launch("stand"))  # for the compiler's caches would find no room either
    launch = ["launch", "stand", "--duration", "0.3", "--json"]
    launch += ["--set", "bus.transport=zmq"]  # a full disk leaves shared memory room, this does not
    command = [sys.executable, "-m", "saltus.cli.main", *launch]
    with room_for(500_000):  # of some 700 kB, in chunks of 300 kB
        done = subprocess.run(
            [*command, "--record", str(tmp_path / "run")], capture_output=True, text=True,
            timeout=120, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["simulated_s"] == 0.3
    assert [problem["what"] for problem in summary["problems"]] == ["recording_incomplete"]
    told = [line for line in done.stderr.splitlines() if "recording stopped" in line]
    assert len(told) == 1 and "File too large" in told[0] and "Traceback" not in done.stderr

    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["recording"] == {"complete": False, "cause": "File too large"}
    assert summary["completed"] and summary["deaths"] == []
    messages = [message for _, message in read_recording(tmp_path / "run" / "run.mcap")]
    assert f"({len(messages)} frames)" in told[0]
    ticks = [message.tick for message in messages if isinstance(message, GroundTruth)]
    assert ticks == list(range(len(ticks))) and len(ticks) > 20


def test_no_room_before_the_start_is_one_line_and_nothing_starts(tmp_path, room_for, capsys):
    ensure_compiled(load_launch("stand"))
    capsys.readouterr()
    with room_for(1000):
        status = run(["launch", "stand", "--record", str(tmp_path / "run")])
    told = capsys.readouterr()
    assert status == 2 and told.out == ""
    assert len(told.err.splitlines()) == 1 and "File too large" in told.err
    assert not (tmp_path / "run" / "logs").exists()


def test_a_recording_that_cannot_begin_is_refused(tmp_path, room_for):
    folder, config = RunFolder(tmp_path / "run"), load_launch("stand")
    with room_for(20), pytest.raises(BadRequest, match="File too large"):
        open_recorder(folder, config)


def test_a_process_without_room_for_its_report_ends_well(tmp_path, monkeypatch, room_for, caplog):
    monkeypatch.setenv("MUJOCO_GL", "disable")  # the process sets it, and later tests draw
    monkeypatch.setattr(gc, "disable", lambda: None)
    monkeypatch.setattr(processes, "die_with_parent", lambda _parent: None)
    monkeypatch.setattr(processes, "StopFlag", lambda: bool)
    monkeypatch.setitem(processes.PROCESSES, "planner", lambda *_: {"solves": 3, "pad": "x" * 500})
    config, report = tmp_path / "launch.yaml", tmp_path / "planner.json"
    write_config(load_launch("stand"), config)
    with room_for(100), caplog.at_level(logging.ERROR):
        assert processes.main(["planner", str(config), str(tmp_path), str(report), "0"]) == 0
    assert "no report of the planner" in caplog.text and "File too large" in caplog.text
    assert not report.exists()


def test_a_summary_without_room_is_one_line(tmp_path, room_for, capsys):
    folder = RunFolder(tmp_path / "run")
    with room_for(100):
        folder.write_summary({"fell": False, "pad": "x" * 500})
    told = capsys.readouterr().err
    assert len(told.splitlines()) == 1
    assert "summary.json could not be written" in told and "File too large" in told
    assert not (folder.path / "summary.json").exists()


def test_a_device_is_never_removed():
    with pytest.raises(OSError, match="no regular file"):
        write_file(Path("/dev/full"), b"x")
    assert Path("/dev/full").exists()


def test_reports_are_missed_of_those_that_lived_to_the_end(capsys):
    reports = {"planner": {}, "estimator": {}, "tracker": {"ticks": 1}}
    dead = [Death("planner", "killed by SIGKILL", False)]
    say_missing_reports(reports, dead, True)
    told = capsys.readouterr().err
    assert "estimator" in told and "planner" not in told and "tracker" not in told
    say_missing_reports(reports, dead, False)  # stopped early: nobody had begun to count, perhaps
    assert capsys.readouterr().err == ""


def test_a_line_that_the_log_has_no_room_for_ends_nothing(monkeypatch):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(console, "stderr", Console(file=full))
        console.say("a line")
        monkeypatch.undo()
        with pytest.raises(OSError):
            full.close()
