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
from saltus.metrics.run import RunMetrics
from saltus.soak import schedule, soak
from saltus.soak.samples import MEMORY, FallFrames, read_samples
from saltus.soak.schedule import draw_schedule
from saltus.soak.soak import SoakOptions, judge, run_soak
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


KEYS = {"hours", "falls", "restarts", "missed", "memory_growth_mb_per_h", "tick_us"}
TILTED = "the trunk is tilted by 61 deg (limit 60)"
HOT = "FR_calf at 61 degC (limit 60)"


def outcome(ran_s, cause="", fell=False, pushes=(), interrupted=False, ticks_us=(100.0,)):
    """How a launch ended; a push is a time of the robot's clock [ms] and a velocity."""
    histogram = LogHistogram(1.0)
    for each in ticks_us:
        histogram.add(each)
    counts = {str(number): count for number, count in histogram.counts.items()}
    tracker = {"missed": 2, "ticks": 1000, "tick_us": {"max": histogram.max},
               "tick_us_counts": counts}  # fmt: skip
    summary = {"simulated_s": ran_s, "fell": fell, "robot": {"cause": cause}}
    reports = {"tracker": tracker, "emulator": {"pushes": list(pushes)}}
    problems = [LaunchProblem("broke_off", "the launch broke off", True)]
    return LaunchOutcome(
        summary, [], True, interrupted, reports, problems,
    )  # fmt: skip


def metrics(last_ms, fell_at_s=None):
    return RunMetrics(
        fell=fell_at_s is not None, fell_at_s=fell_at_s, first_tick=8000, last_tick=last_ms
    )


def test_a_whole_launch_counts_as_nothing():
    end = judge(0, 60.0, outcome(60.0), metrics(68_000))
    assert end.whole and not end.counts_as_fall and end.restarts == 0


@pytest.mark.parametrize("size, ago_ms, hard", [
    (1.9, 1000, False), (2.1, 1000, True), (2.1, 4900, True), (2.1, 5100, False),
    (2.1, -10, False),  # after the fall
])  # fmt: skip
def test_a_fall_counts_apart_soon_after_a_push_above_2_m_s(size, ago_ms, hard):
    fallen = outcome(20.0, TILTED, pushes=[(28_000 - ago_ms, [0.0, size, 0.0])])
    end = judge(0, 60.0, fallen, metrics(28_000))
    assert end.fell and not end.whole
    assert (end.after_hard_push, end.counts_as_fall) == (hard, not hard)
    assert end.restarts == int(not hard)


def test_the_time_of_a_fall_is_when_it_was_seen_and_not_the_end():
    pushes = [(25_000, [0.3, 0.4, 0.0]), (29_000, [2.5, 0.0, 0.0])]
    end = judge(0, 60.0, outcome(22.0, fell=True, pushes=pushes), metrics(30_000, 18.0))
    assert (end.push_m_s, end.push_ago_s) == (approx(0.5), approx(1.0))
    assert end.counts_as_fall and "1.0 s after a push of 0.50 m/s" in end.words


def test_a_robot_that_falls_and_goes_on_is_a_fall_but_no_restart():
    fallen = outcome(60.0, fell=True, pushes=[(25_000, [1.4, 0.0, 0.0])])
    end = judge(0, 60.0, fallen, metrics(68_000, 18.0))
    assert end.whole and end.counts_as_fall and end.restarts == 0
    assert end.words == "the robot fell at 18.0 s (1.0 s after a push of 1.40 m/s)"
    hard = outcome(60.0, fell=True, pushes=[(25_000, [2.1, 0.0, 0.0])])
    assert judge(0, 60.0, hard, metrics(68_000, 18.0)).after_hard_push


def test_a_robot_that_is_stopped_for_another_cause_is_no_fall_but_a_restart():
    end = judge(0, 60.0, outcome(20.0, HOT), metrics(28_000))
    assert not end.counts_as_fall and end.restarts == 1 and end.cause == HOT


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
            metrics=metrics(last),
        )  # fmt: skip
        meddle(SimpleNamespace(children=[]), listener)  # a harm has no victim
        return given


def test_a_soak_launches_anew_for_what_is_left_and_adds_up(tmp_path):
    launches = Launches(
        outcome(100.0, TILTED, ticks_us=[100.0] * 9), outcome(260.0, ticks_us=[900.0])
    )
    result = run_soak(SoakOptions(0.1, 5), tmp_path / "soak", launches)
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


def test_frames_around_a_fall_outlive_the_ring(tmp_path):
    ring, fall = tmp_path / "ring", tmp_path / "fall"
    ring.mkdir()
    files = [ring / f"{number:06d}-20260101-000000.mcap" for number in range(1, 8)]
    for file in files[:6]:
        file.write_text(file.name)
    frames = FallFrames(ring, fall)
    for fell_at_s, running_s in ((None, 90.0), (100.0, 100.0), (100.0, 119.9)):
        frames.look(fell_at_s, running_s)
        assert not fall.exists()
    frames.look(100.0, 120.0)
    for file in files[:6]:
        file.unlink()
    files[6].touch()
    frames.look(100.0, 120.1)
    assert [file.name for file in sorted(fall.iterdir())] == [file.name for file in files[2:6]]
    assert all(file.read_text() == file.name for file in fall.iterdir())


def test_a_harm_that_is_due_is_done(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(schedule, "do", lambda *arguments: done.append(arguments))
    run_soak(SoakOptions(1.0, 0), tmp_path / "soak", Launches(outcome(3600.0)))
    ((harm, pids, ports),) = done
    assert harm == draw_schedule(0, 0, 3600.0).harms[0]
    assert pids == {} and ports["tracker"] > 0


def test_a_user_who_stops_gets_the_sums(tmp_path):
    launches = Launches(outcome(90.0, interrupted=True))
    result = run_soak(SoakOptions(1.0), tmp_path / "soak", launches)
    assert result.interrupted and result.summary["hours"] == approx(0.025)


@pytest.mark.parametrize("end, status", [
    (outcome(36.0), 0), (outcome(20.0, TILTED), 1), (outcome(20.0, interrupted=True), 130),
])  # fmt: skip
def test_the_command_prints_one_object_and_draws(end, status, tmp_path, printed, monkeypatch):
    monkeypatch.setattr(soak, "LEAST_S", 36.0)
    monkeypatch.setattr(soak, "launch", Launches(end))
    told = printed("soak", "--hours", "0.01", "--folder", str(tmp_path / "soak"), status=status)
    assert set(told) >= KEYS
    assert (tmp_path / "soak/soak.png").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.quiet  # a busy machine may stop the robot
def test_a_short_soak_of_the_whole_stack(tmp_path):
    folder = tmp_path / "soak"
    result = run_soak(SoakOptions(12.0 / 3600.0), folder)
    assert not any(criterion.value for criterion in result.criteria), result.ends
    assert result.summary["ticks"] > 10_000
    assert 1.0 < result.summary["tick_us"]["p50"] < result.summary["tick_us"]["p999"]
    samples = read_samples(folder / "samples.csv")
    assert {name.removeprefix(MEMORY) for name in samples if name.startswith(MEMORY)} == {
        "launcher", "tracker", "planner", "estimator", "watchdog", "emulator", "black_box",
    }  # fmt: skip
    memory = [column[:5] for name, column in samples.items() if name.startswith(MEMORY)]
    assert np.isfinite(memory).all()


def test_restarts_beside_a_stall_of_the_machine_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(soak, "StallWatch", StillMachine)
    launches = Launches(outcome(100.0, HOT), outcome(260.0))
    result = run_soak(SoakOptions(0.1, 5), tmp_path / "soak", launches)
    assert (result.summary["restarts"], result.summary["restarts_at_stalls"]) == (1, 1)
    assert result.summary["stalls"] == {"count": 2, "longest_ms": 90.0}
    assert [end.stall_ms is None for end in result.ends] == [False, True]  # the second is whole
