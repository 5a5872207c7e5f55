"""The summary of a launch, with exactly the keys that scripts rely on."""

from collections.abc import Mapping, Sequence
from typing import Any

from runtime.messages import RobotStatus
from saltus.metrics import RunMetrics
from saltus.supervisor import Death

LATENESS = ("p50", "p99", "p999")
MEDIAN_AND_TAIL = ("p50", "p99")
WITH_LONGEST = ("p50", "p99", "max")
WARNING_SHARE = 0.03  # of the solves that may have another status than ok without a warning
REMEDIES = {
    "time_limit": "this machine is too slow or too busy; `saltus doctor` measures it",
    "failed": "no candidate stayed finite, or the planner raised; see logs/planner.log of --record",
    "not_converged": "the backward pass found no descent; look at the cost weights",
}


def launch_summary(
    metrics: RunMetrics, plans: int, planner: dict[str, Any], tracker: dict[str, Any],
    estimator: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """Put a run's metrics and its processes' reports together.

    Args:
        metrics: from truth and estimates.
        plans: number of plans that were seen, for a planner that died without a report.
        planner, tracker, estimator: reports of the processes, possibly empty.
    """
    simulated = metrics.summary()
    solves = int(planner.get("solves", plans))
    seconds = simulated["simulated_s"]
    return {
        **simulated,
        "planner": {
            "solves": solves,
            "solve_ms": _quantiles(planner.get("solve_ms"), MEDIAN_AND_TAIL),
            "rate_hz": solves / seconds if seconds else 0.0,  # per second of the robot's time
            "statuses": dict(planner.get("statuses", {})),
            "plan_arrival_ms": _quantiles(tracker.get("plan_arrival_ms"), WITH_LONGEST),
        },
        "tracker": {
            "ticks": int(tracker.get("ticks", 0)),
            "missed": int(tracker.get("missed", 0)),
            "lateness_us": _quantiles(tracker.get("lateness_us"), LATENESS),
            "command_interval_ms": _quantiles(tracker.get("command_interval_ms"), WITH_LONGEST),
            "estimate_age_ms": _quantiles(tracker.get("estimate_age_ms"), WITH_LONGEST),
        },
        "estimator": {
            **metrics.estimator(),
            "update_us": _quantiles(estimator.get("update_us"), MEDIAN_AND_TAIL),
        },
    }


def planner_warnings(statuses: Mapping[str, int]) -> list[str]:
    """One line for each status other than ok that more than a few per cent of the solves had.

    Args:
        statuses: number of solves by status.
    """
    solves = sum(statuses.values())
    return [
        f"warning: {count} of {solves} solves ended with {status}: {REMEDIES.get(status, '')}"
        for status, count in statuses.items()
        if status != "ok" and count > WARNING_SHARE * solves
    ]


def robot_summary(
    status: RobotStatus | None, tracker: dict[str, Any], deaths: Sequence[Death]
) -> dict[str, Any]:
    """What a robot's bridge says of the run: its report, or what was heard of one that died.

    Args:
        status: the last one heard, None without any.
        tracker: report of the tracker's process, possibly empty.
        deaths: processes that died; one explains a cause better than its consequence does.
    """
    robot = dict(tracker.get("robot", {}))
    if not robot:
        robot = {"state": "silent", "cause": status.cause if status else "", "ended_well": False}
    if deaths:
        robot |= {"cause": f"{deaths[0].name} died ({deaths[0].cause})", "ended_well": False}
    return robot


def readable_summary(
    summary: dict[str, Any], mode: str, filter: str, completed: bool = True
) -> list[str]:
    """The summary in a few lines for a person.

    Args:
        summary: of `launch_summary`.
        mode, filter: those of the launch.
        completed: the run came to its end.
    """
    planner, tracker, estimator = (summary[key] for key in ("planner", "tracker", "estimator"))
    lateness, solve = tracker["lateness_us"], planner["solve_ms"]
    ticks = f"{tracker['missed']} missed, late by {_number(lateness['p50'])} us " + (
        f"(p99 {_number(lateness['p99'])}, p99.9 {_number(lateness['p999'])}), at most "
        f"{_number(tracker['command_interval_ms']['max'], 1)} ms between commands"
    )
    outcome = _outcome(summary, completed)
    errors_known = any(value for key, value in estimator.items() if key != "update_us")
    unknown = "robot" in summary and not errors_known
    errors = "no truth to compare it with" if unknown else (
        f"off by {_number(estimator['position_rmse_m'], 3)} m, "
        f"{_number(estimator['velocity_rmse_m_s'], 3)} m/s, "
        f"{_number(estimator['tilt_rmse_rad'], 4)} rad of tilt (RMS)"
    )
    return [
        f"The A1 {outcome}: {summary['simulated_s']:.1f} s, {_way(summary)}.",
        f"planner    {planner['solves']} plans, {planner['rate_hz']:.0f} a second, "
        f"each in {_number(solve['p50'], 1)} ms (p99 {_number(solve['p99'], 1)})",
        f"tracker    {tracker['ticks']} ticks, {'in lock step' if mode == 'paused' else ticks}",
        f"estimator  {filter}: {errors}",
    ]


def _way(summary: dict[str, Any]) -> str:
    """How far the robot came; of one that is driven, also how well it followed its commands."""
    side = summary["max_lateral_deviation_m"]
    if side is not None:
        return f"{summary['distance_m']:.2f} m forward, at most {side:.2f} m to the side"
    return (
        f"{summary['distance_m']:.2f} m of way, off its command by "
        f"{_number(summary['velocity_rmse_m_s'], 3)} m/s and "
        f"{_number(summary['yaw_rate_rmse_rad_s'], 3)} rad/s (RMS)"
    )


def _outcome(summary: dict[str, Any], completed: bool) -> str:
    """What became of the robot; nobody looks at one that was stopped after it ran."""
    robot = summary.get("robot")
    if summary["fell"]:
        return "fell"
    if robot is None and summary["simulated_s"] and not completed:
        return "was on its feet when the run broke off"
    well = completed if robot is None else robot["ended_well"] and summary["simulated_s"]
    if well:
        return "stayed on its feet"
    return "ran until it was stopped" if summary["simulated_s"] else "did not run"


def rollout_phrase(rollouts: dict[str, Any]) -> str:
    """What a person wants to know of a line search that was not MuJoCo's on this machine.

    Args:
        rollouts: of the planner's report; empty where there is none.

    Returns:
        The empty string where there is nothing to say.
    """
    backend, device = rollouts.get("backend"), rollouts.get("device")
    if backend in (None, "mujoco"):
        return ""
    trip = rollouts.get("round_trip_ms")
    if trip is None:
        dropped = rollouts.get("overflows", 0)
        return f"{backend} on {device}" + (f", {dropped} rollouts lost contacts" if dropped else "")
    added = _number(rollouts["added_ms"]["p50"], 1)
    return (
        f"{backend} ({device}): there and back in {_number(trip['p50'], 1)} ms (p99 "
        f"{_number(trip['p99'], 1)}), {added} ms beyond the physics; "
        f"{rollouts['fallbacks']} of {rollouts['requests']} rolled out here instead"
    )


def robot_lines(robot: dict[str, Any]) -> list[str]:
    """What a person wants to know of a robot's bridge after a run."""
    frames, latency = robot.get("frames", {}), robot.get("state_to_command_us", {})
    good = frames.get("accepted", 0) + frames.get("overtaken", 0)
    refused = ", ".join(
        f"{count} {reason}" for reason, count in frames.items()
        if reason not in ("accepted", "overtaken")
    )
    why = f": {robot['cause']}" if robot["cause"] else ""
    return [
        f"robot      {robot['state']}{why}",
        f"link       {good} frames, refused {refused or 'none'}; a state is answered in "
        f"{_number(latency.get('p50'))} us (p99 {_number(latency.get('p99'))})",
    ]


def emulator_lines(report: dict[str, Any]) -> list[str]:
    """What an emulated A1 lived through; `report` is its process's, empty where it left none."""
    if not report:
        return ["the emulated A1 left no report"]
    worst = report["worst"]
    return [
        f"The emulated A1 lived {report['emulated_s']:.1f} s, took {report['commands']} commands "
        f"and is {report['posture']}.",
        f"worst      {worst['torque_demand']:.1f} N m asked for, {worst['speed']:.1f} rad/s, "
        f"{worst['power']:.0f} W, {worst['temperature']:.0f} degC",
    ]


def _number(value: float | None, digits: int = 0) -> str:
    """A number, or a dash where a process left no report."""
    return "-" if value is None else f"{value:.{digits}f}"


def _quantiles(values: Any, names: tuple[str, ...]) -> dict[str, float | None]:
    values = values if isinstance(values, dict) else {}
    return {name: values.get(name) for name in names}
