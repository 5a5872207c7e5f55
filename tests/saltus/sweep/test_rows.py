"""One trial alone gives the row that it has in the sweep, whatever ran it."""


import pytest
import yaml

from saltus.launch.launcher import LaunchOutcome
from saltus.launch.trace import load_trace
from saltus.sweep import running, sweep
from saltus.sweep.sweep import SweepRequest, run_sweep

SUITE = """
reference: stand
duration: 0.15
seeds: 2
simulation: {friction: 0.6}
trials: {kind: base_velocity, at: 0.05, value: [0, 0.3, 0]}
"""
KEYS = """
    planner trial start kind at value for every instant reference reference_from command
    simulation timing duration robot terrain terrain_belief settings fell
    max_lateral_deviation_m solve_ms_p50 group seed solve_ms_p99 processor_ms_p50 plans_failed
    plans_late not_tracking_ticks
""".split()


@pytest.fixture
def rows_of(tmp_path, printed, monkeypatch):
    (tmp_path / "suite.yaml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)

    def rows(*arguments):
        found = printed("perturb", "suite.yaml", *arguments)["rows"]
        assert all(sorted(row) == sorted(KEYS) and row["solve_ms_p50"] > 0.0 for row in found)
        times = ("solve_ms_p50", "solve_ms_p99", "processor_ms_p50")
        return [{k: v for k, v in row.items() if k not in times} for row in found]

    return rows


def test_one_trial_alone_gives_the_row_of_the_sweep(rows_of, tmp_path):
    swept = rows_of("--jobs", "2", "--output", "sweep")
    assert [(row["trial"], row["seed"]) for row in swept] == [(0, 0), (1, 1)]
    assert swept[0]["start"]["heading"] != swept[1]["start"]["heading"]
    assert swept[0]["max_lateral_deviation_m"] != swept[1]["max_lateral_deviation_m"]
    assert rows_of("--trial", "1") == [swept[1]]
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("suite-")
    alone = load_trace(folder / "traces" / "hilqr-1.npz")
    trace = load_trace(tmp_path / "sweep" / "traces" / "hilqr-1.npz")
    assert alone.q.tolist() == trace.q.tolist() and alone.costs.tolist() == trace.costs.tolist()
    assert trace.statuses == {"ok": 15} and len(trace.solve_ms) == 15


def by_the_clock(tmp_path, monkeypatch, interrupted):
    """A sweep in real time of which every launch ends with made-up reports."""
    reports = yaml.safe_load("""
        planner: {statuses: {ok: 9, time_limit: 2, failed: 1}}
        tracker: {commands: {damp: 155, waiting: 4, ok: 165, stand_down: 2018}}
        simulation: {in_force: {none: 1, waiting: 4, ok: 145}}
    """)
    summary = yaml.safe_load("""
        {fell: false, max_lateral_deviation_m: 0.1, planner: {solve_ms: {p50: 1, p99: 2}}}
    """)
    outcome = LaunchOutcome(summary, [], not interrupted, interrupted, reports, [])
    monkeypatch.setattr(running, "launch", lambda config: outcome)
    monkeypatch.setattr(sweep, "prepare", lambda trials: None)
    (tmp_path / "suite.yaml").write_text(SUITE)
    return run_sweep(
        SweepRequest(str(tmp_path / "suite.yaml"), mode="realtime", output=tmp_path / "sweep")
    )


def test_rows_by_the_clock_count_what_the_robot_lived_under(tmp_path, monkeypatch):
    """The tracker damps before the robot comes to life and stands down when it is gone."""
    rows = by_the_clock(tmp_path, monkeypatch, interrupted=False).rows
    assert [list(row) for row in rows] == 2 * [[key for key in KEYS if key != "processor_ms_p50"]]
    counts = [(row["plans_failed"], row["plans_late"], row["not_tracking_ticks"]) for row in rows]
    assert counts == [(1, 2, 5), (1, 2, 5)] and not rows[0]["fell"]


def test_trial_by_the_clock_that_the_user_stopped_is_no_fall(tmp_path, monkeypatch):
    """A launch takes the signal for itself, and ends as one that broke off."""
    result = by_the_clock(tmp_path, monkeypatch, interrupted=True)
    assert (result.rows, result.missing, result.interrupted) == ([], 2, True)
