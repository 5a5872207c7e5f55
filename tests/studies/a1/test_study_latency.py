"""The study of latency: which pushes it takes, its rows, and what it says of them."""

import pytest

from saltus.common.errors import BadRequest
from saltus.sweep import running, sweep
from saltus.sweep.running import Finished
from studies.a1 import latency
from studies.study import StudyOptions

OTHERS = ("convex_mpc", "instant_qp")
SEEN = []


def run_trial(trial):
    """In place of a run: HiLQR falls above 50 ms, the others above 10 ms and where pushed hard."""
    SEEN.append(trial)
    hilqr, solve_ms = trial.config.planner == "hilqr", 1e3 * trial.config.timing.solve
    fell = solve_ms > 50.0 if hilqr else solve_ms > 10.0 or trial.labels["value"][1] > 1.0
    row = {"fell": fell, "max_lateral_deviation_m": 9.0 if fell else 0.1, "solve_ms_p50": 4.0}
    return Finished(trial.labels | row, None)


@pytest.fixture
def study(monkeypatch, tmp_path):
    """The study on fake runs, in this process; `prepare` would compile."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sweep, "prepare", list)
    monkeypatch.setattr(running, "cores", lambda: 1)
    return lambda options: latency.run.run(options, run_trial)


def test_rows_of_a_small_run(study):
    SEEN.clear()
    reports = []
    report = StudyOptions(trials=4, seed=7, progress=lambda *each: reports.append(each))
    rows = study(report).rows
    assert [(row["planner"], row["solve_ms"]) for row in rows] == [
        (planner, ms) for planner in ("hilqr", *OTHERS) for ms in (0, 10, 25, 50, 75, 100)
    ]
    assert [row["success"] for row in rows] == [4, 4, 4, 4, 0, 0] + 2 * [2, 2, 0, 0, 0, 0]
    assert all(row["trials"] == 4 and row["broken"] == 0 for row in rows)
    assert [row["mean_max_lateral_deviation_m"] for row in rows[3:5]] == [0.1, None]
    assert reports[0] == (0, 6, "sweeps") and reports[-1] == (6, 6, "done")
    last = [trial for trial in SEEN if trial.key[0] == "convex_mpc"][-4:]
    assert [trial.labels["trial"] for trial in last] == [0, 5, 8, 13]
    for config in (trial.config for trial in last):
        assert (config.mode, config.simulation.seed) == ("paused", 7)
        assert (config.timing.solve, config.timing.estimate) == (0.1, 0.0)
        assert config.simulation.input_delay == config.tracker.command_delay == 0.0
        assert config.reference_from == "convex_mpc"


def test_more_pushes_than_the_suite_has_are_refused(study):
    with pytest.raises(BadRequest, match="16 pushes"):
        study(StudyOptions(trials=17))
