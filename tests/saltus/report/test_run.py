"""The report about a recorded run, and about what is left of one that broke off."""

import json

import numpy as np
import pytest

from runtime.recording import Recorder
from saltus import open_run
from saltus.cli import main
from saltus.configuration.launch import load_launch, write_config
from saltus.launch.outcome import LaunchProblem
from saltus.launch.trace import EVERY_TICKS
from saltus.report import page
from saltus.report import reading as read_run
from tests.saltus.report.fake_sweep import fake_trace
from tests.saltus.short_walk import SECONDS, record_walk

SUMMARY = {
    "fell": False, "simulated_s": 3.0, "distance_m": 0.5, "max_lateral_deviation_m": 0.123,
    "planner": {"name": "hilqr", "solve_ms": {"p50": 18.5, "p99": 31.25}}, "processes": {},
    "estimator": {"name": "salted"}, "completed": True, "problems": [],
}  # fmt: skip


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run of the launch file `push`, its recording replaced by a trace."""
    folder = tmp_path / "run"
    folder.mkdir()
    write_config(load_launch("push"), folder / "launch.yaml")
    (folder / "summary.json").write_text(json.dumps(SUMMARY))
    Recorder(folder / "run.mcap").close()
    trace = fake_trace("hilqr", 1.0, 1.0, fell=False)
    monkeypatch.setattr(read_run, "trace_of_run", lambda folder: trace)
    return folder


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """A recording without a summary."""
    folder = tmp_path_factory.mktemp("walk")
    record_walk(folder)
    return folder


@pytest.fixture
def cut_off(walk, tmp_path):
    """The first half of it, and what it was to be: 20 s."""
    write_config(load_launch("sim", duration=20.0), tmp_path / "launch.yaml")
    data = (walk / "run.mcap").read_bytes()
    (tmp_path / "run.mcap").write_bytes(data[: len(data) // 2])
    return tmp_path


def test_the_problems_of_a_run_come_first_as_its_launch_said_them(run):
    problems = [LaunchProblem("fell", "the robot fell at 2.75 s", True), LaunchProblem("x", "more")]
    summary = SUMMARY | {"fell": True, "problems": [each._asdict() for each in problems]}
    (run / "summary.json").write_text(json.dumps(summary))
    verdict = page.write_report(run).verdict
    assert verdict.startswith("FAILED: The robot fell at 2.75 s; more (planner hilqr")


def test_a_run_is_one_trial(run):
    written = page.write_report(run)
    text = written.path.read_text()
    assert written.rows == 1 and written.verdict.startswith("OK: The robot ran for 3.0 s")
    assert written.path == run / "report.html"
    assert ">Success rate<" not in text  # a rate of one run says nothing
    assert "Cost by step size" in text and "velocity_x" in text


@pytest.mark.parametrize("summary", [None, SUMMARY | {"completed": False, "simulated_s": 0.2}])
def test_a_run_that_was_killed_is_a_failure_that_is_said_first(cut_off, capsys, summary):
    """Whatever its recording shows until then."""
    truth = open_run(cut_off)["ground_truth"]
    last = np.flatnonzero(truth.tick % EVERY_TICKS == 0)[-1]  # that the trace keeps
    end = truth.time[last]
    assert 0.0 < end < SECONDS
    problem = LaunchProblem("broke_off", "the launch broke off at 0.20 s", True)
    if summary is not None:  # the launch knew more than the recording holds
        summary = summary | {"problems": [problem._asdict()]}
        (cut_off / "summary.json").write_text(json.dumps(summary))
    options = [] if summary else ["--json"]
    assert main.run(["report", str(cut_off), *options]) == 1
    told, file = capsys.readouterr().out, cut_off / "report.html"
    if summary:
        verdict, second = told.splitlines()
        assert second == str(file)
    else:
        verdict = json.loads(told)["verdict"]
        assert json.loads(told)["broke_off"] is True
    assert verdict.startswith(
        "FAILED: The launch broke off at 0.20 s" if summary
        else f"FAILED: The run left no summary after {end:.2f} s of 20 s"
    )  # fmt: skip
    text = file.read_text()
    assert verdict in text and ">broke off<" in text  # in the list of trials


def test_a_recording_without_its_configuration_is_one_line(run, refused):
    (run / "launch.yaml").unlink()
    refused("report", str(run))
