"""The study of latency: which pushes it takes, its rows, and what it says of them."""

import pytest

from saltus.sweep import running
from saltus.sweep.running import Finished
from studies.a1 import latency
from studies.a1.latency import Point, pushes
from studies.study import StudyOptions

OTHERS = ("convex_mpc", "instant_qp")


def run_trial(trial):
    """In place of a run: HiLQR falls above 50 ms, the others above 10 ms and where pushed hard."""
    hilqr, solve_ms = trial.config.planner == "hilqr", 1e3 * trial.config.timing.solve
    fell = solve_ms > 50.0 if hilqr else solve_ms > 10.0 or trial.labels["value"][1] > 1.0
    row = {"fell": fell, "max_lateral_deviation_m": 9.0 if fell else 0.1, "solve_ms_p50": 4.0}
    return Finished(trial.labels | row, None)


@pytest.fixture
def study(monkeypatch):
    """The study on fake runs, in this process; `prepare` would compile."""
    monkeypatch.setattr(latency, "prepare", list)
    monkeypatch.setattr(running, "cores", lambda: 1)
    return lambda options, run=run_trial: latency.run.run(options, run)


def test_the_point_and_the_seed_reach_every_trial():
    for trial in pushes(Point("convex_mpc", 75), StudyOptions(trials=4, seed=7)):
        config = trial.config
        assert (config.planner, config.mode, config.simulation.seed) == ("convex_mpc", "paused", 7)
        assert (config.timing.solve, config.timing.estimate) == (0.075, 0.0)
    first = pushes(Point("hilqr", 25), StudyOptions())[0].config
    assert (first.timing.solve, first.timing.estimate) == (0.025, 0.0)
    assert first.simulation.input_delay == first.tracker.command_delay == 0.0
    assert first.reference_from == "convex_mpc"


def test_rows_of_a_small_run(study):
    reports = []
    options = StudyOptions(trials=4, progress=lambda *report: reports.append(report))
    result = study(options)
    rows = result.rows
    assert [(row["planner"], row["solve_ms"]) for row in rows] == [
        (planner, ms) for planner in ("hilqr", *OTHERS) for ms in (0, 10, 25, 50, 75, 100)
    ]
    assert [row["success"] for row in rows] == [4, 4, 4, 4, 0, 0] + 2 * [2, 2, 0, 0, 0, 0]
    assert all(row["trials"] == 4 and row["broken"] == 0 for row in rows)
    assert [row["mean_max_lateral_deviation_m"] for row in rows[3:5]] == [0.1, None]
    assert reports[0] == (0, 72, "compiling") and reports[-1] == (72, 72, "24 successful")
