"""A soak of launches that are made up: how ends count, what is summed, and the command."""

import json
import time
from types import SimpleNamespace

import numpy as np
import pytest
from pytest import approx

from runtime.histogram import LogHistogram
from saltus.common.stalls import HEADER, Stall
from saltus.launch.launcher import LaunchOutcome
from saltus.launch.outcome import LaunchProblem
from saltus.launch.supervisor import Death
from saltus.metrics.run import RunMetrics
from saltus.soak import schedule, soak
from saltus.soak.samples import MEMORY, read_samples
from saltus.soak.schedule import draw_schedule
from saltus.soak.soak import judge, run_soak
from tests.a1 import ground_truth, robot_status


class StillMachine:
    """A watch of stalls that finds the machine standing still whenever it is asked."""

    def __init__(self, path, begin):
        self.begin = begin
        path.write_text(HEADER)

    def stalls(self):
        return [Stall(1e-6, 0, 90.0), Stall(time.monotonic() - self.begin, 1, 26.2)]

    def close(self):
        pass


KEYS = set(["hours", "falls", "restarts", "missed", "memory_growth_mb_per_h", "tick_us"])
TILTED = "the trunk is tilted by 61 deg (limit 60)"
HOT = "FR_calf at 61 degC (limit 60)"


def outcome(ran_s, cause="", fell=False, deaths=(), interrupted=False, ticks_us=(100.0,)):
    """How a launch ended."""
    histogram = LogHistogram(1.0)
    for each in ticks_us:
        histogram.add(each)
    counts = {str(number): count for number, count in histogram.counts.items()}
    tracker = {"missed": 2, "ticks": 1000, "tick_us": {"max": histogram.max},
               "tick_us_counts": counts}  # fmt: skip
    summary = {"simulated_s": ran_s, "fell": fell, "robot": {"cause": cause}}
    reports = {"tracker": tracker}
    problems = [LaunchProblem("broke_off", "the launch broke off", True)]
    deaths = [Death(name, "SIGKILL", True) for name in deaths]
    return LaunchOutcome(summary, deaths, not deaths, interrupted, reports, problems)


@pytest.mark.parametrize("ended, fell_at_s, fell, restarts, words", [
    (outcome(60.0), None, False, 0, ""),
    (outcome(60.0, fell=True), 18.0, True, 0, "the robot fell at 18.0 s"),  # and went on
    (outcome(20.0, TILTED), None, True, 1, TILTED),
    (outcome(20.0, HOT), None, False, 1, HOT),
    (outcome(20.0, deaths=["planner"]), None, False, 1, "planner died; the launch broke off"),
])  # fmt: skip
def test_how_a_launch_ended(ended, fell_at_s, fell, restarts, words):
    end = judge(0, 60.0, ended, fell_at_s)
    assert (end.whole, end.fell, end.restarts) == (not restarts, fell, restarts)
    assert end.words == words


class Launches:
    """Launches that end as they are told to, after one look of their follower."""

    def __init__(self, *outcomes):
        self.outcomes, self.configs = list(outcomes), []

    def __call__(self, config, folder, meddle, record):
        self.configs.append(config)
        given = self.outcomes.pop(0)
        if isinstance(given, Exception):
            raise given
        last = 8000 + round(1e3 * given.summary["simulated_s"])
        listener = SimpleNamespace(
            status=robot_status("running", 1), truth=ground_truth(last), plans=3,
            metrics=RunMetrics(first_tick=8000, last_tick=last),
        )  # fmt: skip
        meddle(SimpleNamespace(children=[]), listener)  # a harm has no victim
        return given


def test_a_soak_launches_anew_for_what_is_left_and_adds_up(tmp_path):
    launches = Launches(
        outcome(100.0, TILTED, ticks_us=[100.0] * 9), outcome(260.0, ticks_us=[900.0])
    )
    result = run_soak(0.1, 5, tmp_path / "soak", launches)
    first, second = launches.configs
    assert (first.duration, second.duration) == (360.0, 260.0)
    assert first.terrain != second.terrain
    summary = result.summary
    assert set(summary) >= KEYS and set(summary["tick_us"]) >= {"p50", "p99", "p999"}
    assert (summary["falls"], summary["restarts"], summary["missed"]) == (1, 1, 4)
    assert summary["hours"] == approx(0.1)
    assert summary["tick_us"]["p50"] == approx(100.0, rel=0.03)
    assert summary["tick_us"]["p99"] == approx(900.0, rel=0.03)
    assert summary["memory_growth_mb_per_h"] is None
    assert [criterion.met for criterion in result.criteria] == [False, False]
    assert json.loads((tmp_path / "soak/summary.json").read_text())["falls"] == 1
    assert len((tmp_path / "soak/samples.csv").read_text().splitlines()) == 3


def test_a_harm_that_is_due_is_done(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(schedule, "do", lambda *arguments: done.append(arguments))
    run_soak(1.0, 0, tmp_path / "soak", Launches(outcome(3600.0)))
    ((harm, pids, ports),) = done
    assert harm == draw_schedule(0, 0, 3600.0).harms[0]
    assert pids == {} and ports["tracker"] > 0


def test_a_user_who_stops_gets_the_sums(tmp_path):
    launches = Launches(outcome(90.0, interrupted=True))
    result = run_soak(1.0, 0, tmp_path / "soak", launches)
    assert result.interrupted and result.summary["restarts"] == 0
    assert result.summary["hours"] == approx(0.025)


@pytest.mark.parametrize("end, status", [
    (outcome(36.0), 0), (outcome(20.0, TILTED), 1), (outcome(20.0, interrupted=True), 130),
])  # fmt: skip
def test_the_command_prints_one_object(end, status, tmp_path, printed, monkeypatch):
    monkeypatch.setattr(soak, "LEAST_S", 36.0)
    monkeypatch.setattr(soak, "launch", Launches(end))
    told = printed("soak", "--hours", "0.01", "--folder", str(tmp_path / "soak"), status=status)
    assert set(told) >= KEYS


@pytest.mark.slow
@pytest.mark.quiet  # a busy machine may stop the robot
def test_a_short_soak_of_the_whole_stack(tmp_path):
    folder = tmp_path / "soak"
    result = run_soak(12.0 / 3600.0, 0, folder)
    assert not any(criterion.value for criterion in result.criteria), result.ends
    assert result.summary["ticks"] > 10_000
    assert 1.0 < result.summary["tick_us"]["p50"] < result.summary["tick_us"]["p999"]
    samples = read_samples(folder / "samples.csv")
    assert {name.removeprefix(MEMORY) for name in samples if name.startswith(MEMORY)} == set(
        ["launcher", "tracker", "planner", "estimator", "watchdog", "emulator", "black_box"]
    )
    memory = [column[:5] for name, column in samples.items() if name.startswith(MEMORY)]
    assert np.isfinite(memory).all()


def test_restarts_beside_a_stall_of_the_machine_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(soak, "StallWatch", StillMachine)
    launches = Launches(outcome(100.0, HOT), outcome(260.0))
    result = run_soak(0.1, 5, tmp_path / "soak", launches)
    assert (result.summary["restarts"], result.summary["restarts_at_stalls"]) == (1, 1)
    assert result.summary["stalls"] == {"count": 2, "longest_ms": 90.0}
    assert [end.stall_ms is None for end in result.ends] == [False, True]  # the second is whole
