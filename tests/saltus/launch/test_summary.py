"""The summary of a launch: exact keys for scripts; for people, failures first."""

import pytest
import yaml

from saltus.configuration.launch import load_launch
from saltus.launch.outcome import find_problems, headline, launch_facts, launch_summary
from saltus.launch.supervisor import Death
from saltus.metrics.run import RunMetrics
from tests.tables import table

REPORTS = yaml.safe_load("""
planner:
  {solves: 300, solve_ms: {p50: 12.3, p99: 17.0, max: 20.0}, statuses: {ok: 295, time_limit: 5}}
tracker:
  {ticks: 6000, missed: 3, late: 9, lateness_us: {p50: 30.0, p99: 60.0, p999: 200.0},
   command_interval_ms: {p50: 1.0, p99: 1.2, p999: 1.8, max: 4.2},
   estimate_age_ms: {p50: 1.2, p99: 2.0, p999: 2.4, max: 3.0},
   plan_arrival_ms: {p50: -5.0, p99: 1.0, p999: 2.0, max: 2.0}}
estimator: {updates: 6000, update_us: {p50: 180.0, p99: 300.0, p999: 400.0, max: 500.0}}
simulation: {in_force: {waiting: 10, ok: 5990}}
""")

PAUSED, REALTIME = load_launch("push"), load_launch("push", mode="realtime")


def summary_of(metrics=None, **more):
    """The summary of a run of 6 s."""
    metrics = metrics or RunMetrics(last_tick=6000)
    return launch_summary(PAUSED, metrics, 7, REPORTS) | more


def problems_of(summary=None, deaths=(), end="complete", stall="", **reports):
    """The problems of a run whose processes reported all well but `reports`."""
    return find_problems(REALTIME, summary or summary_of(), REPORTS | reports, deaths, end, stall)


def first_line(summary=None, problems=()):
    return " ".join(headline(summary or summary_of(), problems))


def test_keys_are_those_that_scripts_rely_on():
    summary = summary_of()
    assert set(summary) >= set(
        """
        fell simulated_s distance_m max_lateral_deviation_m planner tracker estimator
    """.split()
    )
    assert set(summary["planner"]) >= {"solves", "solve_ms", "rate_hz"}
    assert list(summary["planner"]["solve_ms"]) == ["p50", "p99"]
    assert summary["planner"]["statuses"] == {"ok": 295, "time_limit": 5}
    assert summary["planner"]["plan_arrival_ms"] == {"p50": -5.0, "p99": 1.0, "max": 2.0}
    assert list(summary["tracker"])[:3] == ["ticks", "missed", "lateness_us"]
    assert list(summary["tracker"]["lateness_us"]) == ["p50", "p99", "p999"]
    assert summary["tracker"]["command_interval_ms"] == {"p50": 1.0, "p99": 1.2, "max": 4.2}
    assert summary["tracker"]["estimate_age_ms"] == {"p50": 1.2, "p99": 2.0, "max": 3.0}
    assert set(summary["estimator"]) >= {
        "position_rmse_m", "velocity_rmse_m_s", "tilt_rmse_rad", "update_us",
    }  # fmt: skip
    assert summary["estimator"]["update_us"] == {"p50": 180.0, "p99": 300.0}


def test_a_run_in_which_all_is_well_has_no_problem():
    assert problems_of() == []
    line = first_line()
    assert line.startswith("OK The robot ran for 6.0 s without a fall")
    assert "planner hilqr" in line and "estimator salted" in line


@pytest.mark.parametrize("reports, what, words, verdict", table("""
    planner: {statuses: {ok: 60, time_limit: 40}} => solves_late => 40 of 100 solves => WARNING
    planner: {statuses: {ok: 96, failed: 4}} => planner_failed => 4 of 100 solves => WARNING
    planner: {statuses: {ok: 30, failed: 71}, first_error: "ValueError: no"} \
        => planner_failed => 71 of 101 solves => FAILED
    planner: {statuses: {not_converged: 51}} => not_converged => 51 of 51 solves => FAILED
    simulation: {in_force: {ok: 989, stand_down: 11}} \
        => stood_down => the robot stood down for 0.01 s of 1.00 s => FAILED
    simulation: {in_force: {ok: 991, stand_down: 9}} \
        => stood_down => the robot stood down for 0.01 s of 1.00 s => WARNING
    simulation: {in_force: {ok: 700, hold: 200, waiting: 100}} \
        => not_tracking => 200 of 1000 ticks => WARNING
    simulation: {in_force: {none: 20, waiting: 980}} => no_plan => no plan came for 1.00 s => FAILED
    tracker: {ticks: 900, missed: 100} => ticks_missed => 100 of 1000 ticks => WARNING
    tracker: {ticks: 1000, late: 40} => ticks_late => 40 of 1000 ticks => WARNING
    tracker: {ticks: 90, undecodable: 10} \
        => undecodable => 10 frames to the tracker could not be decoded => WARNING
    estimator: {updates: 100, degraded: 50} => degraded => 50 of 100 estimates => WARNING
    planner: {compiled_late: [f]} => compiled_late => the planner compiled => WARNING
    black_box: {lost: 3} => black_box => lacks 3 frames => WARNING
    black_box: {failures: 2} => black_box => lacks 2 frames => WARNING
    tracker: {robot: {black_box_lost: 4}} => black_box => lacks 4 frames => WARNING
    planner: {rollouts: {losses: 2}} => server_lost => lost 2 times => WARNING
    tracker: {} => no_report => tracker left no report => WARNING
"""))  # fmt: skip
def test_what_goes_wrong_is_in_the_first_line_with_its_count(reports, what, words, verdict):
    problems = problems_of(**yaml.safe_load(reports))
    assert [(each.what, each.failure) for each in problems] == [(what, verdict == "FAILED")]
    line = first_line(problems=problems)
    assert line.startswith(verdict) and words.lower() in line.lower()
    assert "planner hilqr, estimator salted" in line


def test_measurements_have_units_and_what_is_unknown_is_left_out():
    summary = summary_of(folder="runs/x", max_lateral_deviation_m=None)
    summary["planner"]["solve_ms"]["p99"] = None
    facts = dict(launch_facts(summary, [], REPORTS))
    assert list(facts) == "OK distance planner tracker estimator folder".split()
    assert facts["distance"] == "0.00 m"
    assert facts["planner"] == "plans 300; a second 50; simulated time; solve p50 12.3 ms"
    assert "lateness p50 30, p99 60, p999 200 us" in facts["tracker"]
    silent = launch_facts(summary, [], {"emulator": {}})
    assert silent[0] == ("FAILED", "The emulated robot left no report")
    remote = {"planner": {"rollouts": {"backend": "remote", "round_trip_ms": {"p50": 2.0}}}}
    assert ("rollouts", "backend remote, round_trip_ms p50 2") in launch_facts(summary, [], remote)


def test_a_few_per_cent_are_no_problem():
    reports = """
    planner: {statuses: {ok: 97, failed: 3}}
    tracker: {ticks: 970, missed: 30}
    simulation: {in_force: {ok: 97, hold: 3}}
    estimator: {updates: 100, degraded: 3}
    """
    assert problems_of(**yaml.safe_load(reports)) == []


def test_the_gravest_comes_first():
    metrics = RunMetrics(fell=True, fell_at_s=2.31, last_tick=2810)
    summary = summary_of(metrics=metrics)
    failing = {"statuses": {"failed": 9}, "first_error": "ValueError: no"}
    problems = problems_of(summary, planner=failing)
    assert [problem.what for problem in problems] == ["fell", "planner_failed"]
    assert first_line(summary, problems).startswith(
        "FAILED The robot fell at 2.31 s of 6 s; the pla"
    )
    facts = launch_facts(summary | {"folder": "runs/x"}, problems, REPORTS)
    details = [fact.text for fact in facts if not fact.label]
    assert details == ["planner: ValueError: no; see logs/planner.log"]


def test_a_death_a_stall_and_a_stop_by_the_user_are_told_apart():
    def line(**how):
        return first_line(problems=problems_of(**how))

    death = Death("planner", "killed by SIGKILL", False)
    assert line(deaths=[death]).startswith("FAILED The planner died")
    assert line(deaths=[death._replace(hung=True)]).startswith("FAILED The planner hung")
    assert line(end="broken", stall="x").startswith("FAILED The launch broke off at 6.00 s of 6 s")
    stopped = line(end="interrupted")
    assert stopped.startswith("STOPPED The robot ran for 6.0 s without a fall until you stopped")
    early, hung = summary_of(simulated_s=0.001), death._replace(hung=True)
    problems = problems_of(early, end="interrupted", deaths=[hung])
    assert [problem.what for problem in problems] == ["interrupted"]


def on_a_robot(ended_well, seconds, cause=""):
    """The first line of a launch on a robot."""
    robot = {"ended_well": ended_well, "cause": cause}
    summary = summary_of(simulated_s=seconds, robot=robot)
    return first_line(summary, problems_of(summary))


def test_a_robot_that_was_stopped_did_not_complete_its_run():
    assert "FAILED The robot was stopped after 3.0 s: too hot" in on_a_robot(False, 3.0, "too hot")
    assert "FAILED The robot did not run" in on_a_robot(False, 0.0)
    assert "OK The robot did not run" in on_a_robot(True, 0.0)
    assert "OK The robot ran for 3.0 s without a fall" in on_a_robot(True, 3.0)
