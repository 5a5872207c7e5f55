"""The summary of a launch: exact keys for scripts, plain lines for people."""

from saltus.metrics import RunMetrics
from saltus.summary import launch_summary, planner_warnings, readable_summary

PLANNER = {"solves": 300, "solve_ms": {"p50": 12.3, "p99": 17.0, "max": 20.0},
           "statuses": {"ok": 290, "time_limit": 10}}  # fmt: skip
TRACKER = {
    "ticks": 6000, "missed": 3, "lateness_us": {"p50": 30.0, "p99": 60.0, "p999": 200.0},
    "command_interval_ms": {"p50": 1.0, "p99": 1.2, "p999": 1.8, "max": 4.2},
    "estimate_age_ms": {"p50": 1.2, "p99": 2.0, "p999": 2.4, "max": 3.0},
    "plan_arrival_ms": {"p50": -5.0, "p99": 1.0, "p999": 2.0, "max": 2.0},
}  # fmt: skip
ESTIMATOR = {"update_us": {"p50": 180.0, "p99": 300.0, "p999": 400.0, "max": 500.0}}


def test_keys_are_those_that_scripts_rely_on():
    summary = launch_summary(RunMetrics(), 0, PLANNER, TRACKER, ESTIMATOR)
    assert list(summary) == [
        "fell", "simulated_s", "distance_m", "max_lateral_deviation_m", "planner", "tracker",
        "estimator",
    ]  # fmt: skip
    assert list(summary["planner"])[:3] == ["solves", "solve_ms", "rate_hz"]
    assert list(summary["planner"]["solve_ms"]) == ["p50", "p99"]
    assert summary["planner"]["statuses"] == {"ok": 290, "time_limit": 10}
    assert summary["planner"]["plan_arrival_ms"] == {"p50": -5.0, "p99": 1.0, "max": 2.0}
    assert list(summary["tracker"])[:3] == ["ticks", "missed", "lateness_us"]
    assert list(summary["tracker"]["lateness_us"]) == ["p50", "p99", "p999"]
    assert summary["tracker"]["command_interval_ms"] == {"p50": 1.0, "p99": 1.2, "max": 4.2}
    assert summary["tracker"]["estimate_age_ms"] == {"p50": 1.2, "p99": 2.0, "max": 3.0}
    assert list(summary["estimator"]) == [
        "position_rmse_m", "velocity_rmse_m_s", "tilt_rmse_rad", "update_us",
    ]  # fmt: skip
    assert summary["estimator"]["update_us"] == {"p50": 180.0, "p99": 300.0}


def test_statuses_other_than_ok_are_a_warning_beyond_a_few_per_cent():
    assert planner_warnings({}) == planner_warnings({"ok": 100, "time_limit": 3}) == []
    lines = planner_warnings({"ok": 50, "time_limit": 40, "failed": 9, "not_converged": 1})
    assert len(lines) == 2
    assert "40 of 100 solves ended with time_limit" in lines[0] and "saltus doctor" in lines[0]
    assert "9 of 100 solves ended with failed" in lines[1]


def test_lines_say_what_happened():
    summary = launch_summary(RunMetrics(fell=True), 0, PLANNER, TRACKER, ESTIMATOR)
    text = "\n".join(readable_summary(summary, "realtime", "leg_odometry"))
    assert "estimator  leg_odometry: off by" in text
    assert "fell" in text and "3 missed" in text and "p99.9 200" in text and "12.3 ms" in text
    assert "at most 4.2 ms between commands" in text
    assert "in lock step" in "\n".join(readable_summary(summary, "paused", "salted"))


def test_a_planner_that_died_without_a_report_leaves_a_dash():
    summary = launch_summary(RunMetrics(), 7, {}, TRACKER, ESTIMATOR)
    text = "\n".join(readable_summary(summary, "paused", "salted"))
    assert "7 plans" in text and "each in - ms" in text


def of_a_robot(ended_well: bool, seconds: float, **truth: float) -> str:
    """The lines of a launch on a robot."""
    summary = launch_summary(RunMetrics(), 7, PLANNER, TRACKER, ESTIMATOR)
    summary |= {"simulated_s": seconds, "robot": {"ended_well": ended_well}}
    summary["estimator"] |= truth
    return "\n".join(readable_summary(summary, "realtime", "salted"))


def test_a_robot_that_was_stopped_is_not_said_to_have_stayed_on_its_feet():
    assert "ran until it was stopped: 3.0 s" in of_a_robot(False, 3.0)
    assert "did not run" in of_a_robot(False, 0.0) and "did not run" in of_a_robot(True, 0.0)
    assert "stayed on its feet: 3.0 s" in of_a_robot(True, 3.0)


def test_a_run_that_broke_off_is_not_said_to_have_ended_well():
    def first(completed: bool, **truth: float) -> str:
        summary = launch_summary(RunMetrics(), 7, PLANNER, TRACKER, ESTIMATOR) | truth
        return readable_summary(summary, "paused", "salted", completed)[0]

    assert "was on its feet when the run broke off: 3.0 s" in first(False, simulated_s=3.0)
    assert "did not run: 0.0 s" in first(False, simulated_s=0.0)
    assert "stayed on its feet: 3.0 s" in first(True, simulated_s=3.0)
    assert "fell: 3.0 s" in first(False, simulated_s=3.0, fell=True)


def test_without_truth_no_errors_of_the_estimator_are_told():
    assert "salted: no truth to compare it with" in of_a_robot(True, 3.0)
    assert "salted: off by 0.020 m" in of_a_robot(True, 3.0, position_rmse_m=0.02)
