"""What came of a launch: its summary, with the keys that scripts rely on, and what went wrong."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from runtime.messages import RobotStatus
from runtime.topics import (
    GROUND_TRUTH,
    MOTOR_COMMAND,
    PLAN,
    SENSOR_READING,
    STATE_ESTIMATE,
)
from saltus.common.console import Fact
from saltus.configuration.launch import LaunchConfig
from saltus.launch import assembly
from saltus.launch.supervisor import Death
from saltus.metrics.run import RunMetrics

SHARE = 0.03  # of solves, ticks or frames that may go wrong without a word
MOST = 0.5  # of the solves; a planner that fails in more has not done its job

Report = Mapping[str, Any]
Reports = Mapping[str, Mapping[str, Any]]


class LaunchProblem(NamedTuple):
    """One thing that a person must know.

    Attributes:
        what: one word for scripts.
        words: a clause for people.
        failure: the launch did not do its job.
        detail: the cause, and what to look at or to do; may be empty.
    """

    what: str
    words: str
    failure: bool = False
    detail: str = ""


def find_problems(
    config: LaunchConfig, summary: Report, reports: Reports, deaths: Sequence[Death],
    end: Literal["complete", "interrupted", "broken"] = "complete", stall: str = "",
    recording: str = "",
) -> list[LaunchProblem]:  # fmt: skip
    """Everything that went wrong, in the order in which a person wants to know.

    Args:
        config: of the launch.
        summary: of `saltus.launch.outcome.launch_summary`.
        reports: of the processes; empty for one that died.
        deaths: processes that ended without a request.
        end: how the launch ended: "interrupted" by the user, "broken" for another reason.
        stall: which process waited for which, where it stood still.
        recording: why the recording is incomplete; empty where it is whole, or not asked for.
    """
    found = _of_robot(config, summary)
    found += [
        LaunchProblem(
            "hung" if death.hung else "died",
            f"the {death.name} {'hung' if death.hung else 'died'}", True,
            f"{death.name}: {death.cause}; {_log(death.name)}",
        )
        for death in deaths
    ]
    at = f"{summary['simulated_s']:.2f} s of {config.duration:g} s"
    if end == "interrupted":
        found.append(LaunchProblem("interrupted", f"you stopped the launch at {at}"))
    elif end == "broken":
        found.append(LaunchProblem("broke_off", f"the launch broke off at {at}", True, stall))
    found += _of_solves(reports.get("planner", {}))
    found += _of_commands(reports.get("simulation", {}).get("in_force", {}))
    found += _of_ticks(reports.get("tracker", {}))
    found += _of_estimates(reports.get("estimator", {}))
    found += _of_black_box(reports)
    if recording:
        words = f"the recording is incomplete: {recording}"
        found.append(LaunchProblem("recording_incomplete", words))
    for name, report in reports.items():
        found += _of_process(name, report, config.mode == "realtime")
    return found


def _of_robot(config: LaunchConfig, summary: Report) -> list[LaunchProblem]:
    """A fall, or a robot whose bridge ended the run."""
    if summary["fell"]:
        at = summary["fell_at_s"]
        when = "" if at is None else f" at {at:.2f} s of {config.duration:g} s"
        return [LaunchProblem("fell", f"the robot fell{when}", True)]
    robot = summary.get("robot", {})
    if robot.get("ended_well", True):
        return []
    seconds = summary["simulated_s"]
    words = f"the robot was stopped after {seconds:.1f} s" if seconds else "the robot did not run"
    return [LaunchProblem("stopped", words + _after(robot.get("cause", "")), True)]


def _of_solves(planner: Report) -> list[LaunchProblem]:
    """Solves that gave no plan, or came late."""
    statuses: Mapping[str, int] = planner.get("statuses", {})
    solves, found = sum(statuses.values()), []
    error = planner.get("first_error", "")
    cause = f"planner: {error}; {_log('planner')}" if error else _log("planner")
    cases = {
        "failed": ("planner_failed", "the planner failed in {}", cause),
        "not_converged": (
            "not_converged", "the planner did not converge in {}", "look at the cost weights",
        ),
        "time_limit": (
            "solves_late", "{} took longer than their time limit",
            "this machine is too slow or too busy; `saltus doctor` measures it",
        ),
    }  # fmt: skip
    for status, (what, words, detail) in cases.items():
        count = statuses.get(status, 0)
        if count > SHARE * solves:
            failure = status != "time_limit" and count > MOST * solves
            words = words.format(f"{count} of {solves} solves")
            found.append(LaunchProblem(what, words, failure, detail))
    return found


def _of_commands(in_force: Mapping[str, int]) -> list[LaunchProblem]:
    """Ticks under another command than one from a plan.

    Args:
        in_force: the simulated robot's ticks by status of the command.
    """
    ticks, down = sum(in_force.values()), in_force.get("stand_down", 0)
    before = in_force.get("none", 0) + in_force.get("waiting", 0)  # the first plan
    others = {key: in_force[key] for key in ("hold", "damp") if key in in_force}
    found = []
    if down:
        words = f"the robot stood down for {1e-3 * down:.2f} s"
        cause = f"stand-down: there was no plan or no estimate; {_log('tracker')}"
        found.append(LaunchProblem("stood_down", words, True, cause))
    if before > MOST * ticks:
        words = f"no plan came for {1e-3 * before:.2f} s"
        found.append(LaunchProblem("no_plan", words, True, _log("planner")))
    if sum(others.values()) > SHARE * ticks:
        words = f"{sum(others.values())} of {ticks} ticks followed no fresh plan"
        counts = ", ".join(f"{count} {key}" for key, count in others.items())
        found.append(LaunchProblem("not_tracking", words, False, f"other commands: {counts}"))
    return found


def _of_ticks(tracker: Report) -> list[LaunchProblem]:
    """Ticks in real time that were left out or began late."""
    ticks, found = tracker.get("ticks", 0) + tracker.get("missed", 0), []
    remedy = "close other programs; `saltus doctor` says what this machine lacks"
    for key, words in (("missed", "were missed"), ("late", "began late")):
        count = tracker.get(key, 0)
        if count > SHARE * ticks:
            words = f"{count} of {ticks} ticks of the tracker {words}"
            found.append(LaunchProblem(f"ticks_{key}", words, False, remedy))
    return found


def _of_estimates(estimator: Report) -> list[LaunchProblem]:
    """Estimates that lacked a sensor."""
    updates, count = estimator.get("updates", 0), estimator.get("degraded", 0)
    if count <= SHARE * updates:
        return []
    named = estimator.get("faults", [])[:3]
    words = "; ".join((f"{count} of {updates} estimates were degraded", *named))
    return [LaunchProblem("degraded", words, False, _log("estimator"))]


def _of_black_box(reports: Reports) -> list[LaunchProblem]:
    """Frames of a robot that were not kept."""
    black_box, robot = reports.get("black_box", {}), reports.get("tracker", {}).get("robot", {})
    counts = {
        "not sent to it": robot.get("black_box_lost", 0), "not written": black_box.get("lost", 0),
        "refused by the disk": black_box.get("failures", 0),
    }  # fmt: skip
    lost = ", ".join(f"{count} times {what}" for what, count in counts.items() if count)
    if not lost:
        return []
    advice = f"its disk is full, or this machine too busy; {_log('black_box')}"
    return [LaunchProblem("black_box", f"the black box lacks frames: {lost}", False, advice)]


def _of_process(name: str, report: Report, real_time: bool) -> list[LaunchProblem]:
    """Frames that did not decode, and functions that were compiled while the robot waited."""
    found = []
    frames, count = _frames(report), report.get("undecodable", 0)
    if count > SHARE * frames:
        words = f"{count} frames to the {name} could not be decoded"
        advice = "is another program on the same bus?"
        found.append(LaunchProblem("undecodable", words, False, advice))
    functions = ", ".join(report.get("compiled_late", ()))
    if functions and real_time:  # in lock step the robot has time
        words = f"the {name} compiled while the robot waited: {functions}"
        found.append(LaunchProblem("compiled_late", words))
    if losses := report.get("rollouts", {}).get("losses", 0):
        times = "once" if losses == 1 else f"{losses} times"
        words = f"the rollout server was lost {times}; local MuJoCo replaced it"
        found.append(LaunchProblem("server_lost", words))
    return found


def _after(reason: str) -> str:
    """A reason as the end of a clause."""
    return f": {reason}" if reason else ""


def _frames(report: Report) -> int:
    """How many messages a process took in, by what it counts."""
    return max(report.get(key, 0) for key in ("ticks", "updates", "solves"))


def _log(process: str) -> str:
    return f"see logs/{process}.log"


START_S = 200.0  # until the first tick: longer than the processes wait for each other
STALL_S = 10.0  # between two ticks
HANG_S = 2.0  # between two ticks of a robot that the watchdog damps


def describe_stall(config: LaunchConfig, ticks: Mapping[str, int]) -> str:
    """Who waits for whom, in words.

    In lock step the messages of a tick come one after the other: truth and reading of the robot,
    the reading passed on, the estimate, a plan where one is due, the command. Who sends the first
    one that is missing is waited for.

    Args:
        config: of the launch.
        ticks: newest tick by name of topic, -1 before the first.
    """
    tick = ticks[GROUND_TRUTH.name]
    if config.kind.bridged:
        return "the tracker is silent"
    if tick < 0:
        return "nobody has sent anything"
    if config.mode == "realtime":
        return "the simulation is silent"
    if ticks[SENSOR_READING.name] < tick:
        return f"the simulation waits for the tracker at tick {tick}"
    if ticks[STATE_ESTIMATE.name] < tick:
        return f"the tracker waits for the estimator's estimate of tick {tick}"
    if ticks[MOTOR_COMMAND.name] >= tick:
        return f"the tracker waits for the simulation after tick {tick}"
    due = next((solve for solve in assembly.solve_schedule(config) if solve.arrival >= tick), None)
    if due is not None and due.arrival == tick and ticks[PLAN.name] < due.estimate:
        return f"the tracker waits for the planner's plan of tick {due.estimate}"
    return f"the simulation waits for the tracker's command of tick {tick}"


LATENESS = ("p50", "p99", "p999")
MEDIAN_AND_TAIL = ("p50", "p99")
WITH_LONGEST = ("p50", "p99", "max")
_ERRORS = (("position", "m"), ("velocity", "m_s"), ("tilt", "rad"))


def launch_summary(
    config: LaunchConfig, metrics: RunMetrics, plans: int, planner: dict[str, Any],
    tracker: dict[str, Any], estimator: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """Put a run's metrics and its processes' reports together.

    Args:
        config: of the launch.
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
            "name": config.planner,
            "solves": solves,
            "solve_ms": _quantiles(planner.get("solve_ms"), MEDIAN_AND_TAIL),
            "rate_hz": solves / seconds if seconds else 0.0,
            "rate_clock": "simulated" if config.mode == "paused" else "wall",
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
            "name": config.estimator,
            **metrics.estimator(),
            "update_us": _quantiles(estimator.get("update_us"), MEDIAN_AND_TAIL),
        },
    }


def robot_summary(
    status: RobotStatus | None, tracker: dict[str, Any], watchdog: dict[str, Any],
    deaths: Sequence[Death],
) -> dict[str, Any]:  # fmt: skip
    """Report of a robot's bridge on the run, or what is known of one that hung or died.

    Args:
        status: the last one heard, None without any.
        tracker, watchdog: reports of these processes, possibly empty.
        deaths: processes that died; one explains a cause better than its consequence does.
    """
    robot = dict(tracker.get("robot", {}))
    if not robot and (cause := watchdog.get("cause", "")):
        if died := next((d for d in deaths if d.name == "tracker" and not d.hung), None):
            cause = f"tracker died ({died.cause}); the watchdog damps"
        return {"state": "damped by the watchdog", "cause": cause, "ended_well": False}
    if not robot:
        cause = (status.cause if status else "") or "the tracker left no report"
        robot = {"state": "silent", "cause": cause, "ended_well": False}
    if deaths:
        robot |= {"cause": f"{deaths[0].name} died ({deaths[0].cause})", "ended_well": False}
    return robot


def launch_facts(
    summary: Mapping[str, Any], problems: Sequence[LaunchProblem],
    reports: Mapping[str, Mapping[str, Any]],
) -> list[Fact]:  # fmt: skip
    """All that `saltus launch` prints at its end."""
    recording = Path(summary["folder"]) / "run.mcap"
    kept = "logs, reports, summary.json" + (", run.mcap" if recording.exists() else "")
    folder = Fact("folder", f"{summary['folder']}: {kept}")
    if "planner" not in reports:
        return [*emulator_facts(reports["emulator"]), folder]
    facts = readable_summary(summary, problems)
    if phrase := rollout_phrase(reports.get("planner", {}).get("rollouts", {})):
        facts.append(Fact("rollouts", phrase))
    if limits := reports.get("planner", {}).get("limits"):
        words = f"largest violation in a plan {limits['worst']:.2f} ({limits['of'] or 'none'})"
        facts.append(Fact("limits", words))
    if "ended_well" in summary["robot"]:
        facts += robot_facts(summary["robot"])
    if black_box := reports.get("black_box"):
        facts.append(black_box_fact(black_box))
    return [*facts, folder]


def readable_summary(summary: Mapping[str, Any], problems: Sequence[LaunchProblem]) -> list[Fact]:
    """The summary in words: verdict and problems first, then the measurements.

    Args:
        summary: of `launch_summary`.
        problems: of `saltus.launch.outcome.find_problems`.
    """
    planner, tracker, estimator = (summary[key] for key in ("planner", "tracker", "estimator"))
    facts = [headline(summary, problems)]
    facts += [Fact("", problem.detail) for problem in problems if problem.detail]
    if not summary["simulated_s"]:
        return facts  # nothing was measured
    return [
        *facts,
        Fact("distance", _distance(summary)),
        *([Fact("motion", _motion(summary))] if "air_s" in summary else []),
        Fact("planner", _solves(planner)),
        Fact("tracker", _ticks(tracker, planner["rate_clock"] == "wall")),
        Fact("estimator", _errors(estimator, "ended_well" in summary.get("robot", {}))),
    ]


def headline(summary: Mapping[str, Any], problems: Sequence[LaunchProblem]) -> Fact:
    """The first line: whether the launch did its job, and every problem with its count."""
    who = f"planner {summary['planner']['name']}, estimator {summary['estimator']['name']}"
    if any(problem.failure for problem in problems):
        words = "; ".join(problem.words for problem in problems)
        return Fact("FAILED", f"{words[0].upper()}{words[1:]} ({who})")
    seconds = summary["simulated_s"]
    well = (
        f"The robot ran for {seconds:.1f} s without a fall" if seconds else "The robot did not run"
    )
    others = [problem.words for problem in problems if problem.what != "interrupted"]
    verdict = "WARNING" if others else "OK"
    if len(others) < len(problems):
        verdict, well = "STOPPED", f"{well} until you stopped the launch"
    return Fact(verdict, "; ".join([well, *others]) + f" ({who})")


def _solves(planner: Mapping[str, Any]) -> str:
    """Number of plans, their rate in simulated or real time, and the time of a solve."""
    solve, rate = planner["solve_ms"], planner["rate_hz"]
    a_second = "simulated second" if planner["rate_clock"] == "simulated" else "second"
    return (
        f"{planner['solves']} plans, {rate:.0f} per {a_second}; solve time "
        f"{_number(solve['p50'], 1)} ms (p99 {_number(solve['p99'], 1)}) on this computer"
    )


def _ticks(tracker: Mapping[str, Any], real_time: bool) -> str:
    """Ticks of the tracker, and how late they began."""
    if not real_time:
        return f"{tracker['ticks']} ticks, in lock step"
    lateness = tracker["lateness_us"]
    return (
        f"{tracker['ticks']} ticks, {tracker['missed']} missed; lateness "
        f"{_number(lateness['p50'])} us (p99 {_number(lateness['p99'])}, p99.9 "
        f"{_number(lateness['p999'])}); longest gap between commands "
        f"{_number(tracker['command_interval_ms']['max'], 1)} ms"
    )


def _errors(estimator: Mapping[str, Any], on_robot: bool) -> str:
    """RMS errors of the estimates, where the true state is known."""
    errors = [estimator[f"{name}_rmse_{unit}"] for name, unit in _ERRORS]
    if on_robot and not any(errors):
        return "no true state to compare with"
    position, velocity, tilt = errors
    return f"RMS error {position:.3f} m, {velocity:.3f} m/s, {tilt:.4f} rad of tilt"


def _distance(summary: Mapping[str, Any]) -> str:
    """Distance and lateral deviation; of a driven robot the errors against its commands."""
    side = summary["max_lateral_deviation_m"]
    if side is not None:
        return f"{summary['distance_m']:.2f} m forward; peak lateral deviation {side:.2f} m"
    return (
        f"{summary['distance_m']:.2f} m; RMS error of the velocity "
        f"{_number(summary['velocity_rmse_m_s'], 3)} m/s, of the yaw rate "
        f"{_number(summary['yaw_rate_rmse_rad_s'], 3)} rad/s"
    )


def _motion(summary: Mapping[str, Any]) -> str:
    """Height and time of a flight, and what it asked of the motors."""
    return (
        f"base up to {summary['highest_m']:.2f} m, {summary['air_s']:.2f} s in the air, "
        f"{summary['two_legs_s']:.2f} s without front feet; torque "
        f"{summary['largest_torque_n_m']:.1f} N m, speed {summary['largest_speed_rad_s']:.1f} "
        f"rad/s, power {summary['largest_power_w']:.0f} W"
    )


def rollout_phrase(rollouts: Mapping[str, Any]) -> str:
    """The rollout backend of the line search, where it was not MuJoCo on this computer.

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
        f"{backend} ({device}): round trip {_number(trip['p50'], 1)} ms (p99 "
        f"{_number(trip['p99'], 1)}), of which {added} ms are not physics; "
        f"{rollouts['fallbacks']} of {rollouts['requests']} rollouts were local"
    )


def robot_facts(robot: Mapping[str, Any]) -> list[Fact]:
    """State, frames and latency of a robot's bridge after a run."""
    frames, latency = robot.get("frames", {}), robot.get("state_to_command_us", {})
    good = frames.get("accepted", 0) + frames.get("overtaken", 0)
    refused = ", ".join(
        f"{count} {reason}" for reason, count in frames.items()
        if reason not in ("accepted", "overtaken")
    )
    why = f": {robot['cause']}" if robot["cause"] else ""
    return [
        Fact("robot", f"{robot['state']}{why}"),
        Fact(
            "link",
            f"{good} frames, refused {refused or 'none'}; time from state to command "
            f"{_number(latency.get('p50'))} us (p99 {_number(latency.get('p99'))})",
        ),
    ]


def black_box_fact(report: Mapping[str, Any]) -> Fact:
    """Where a robot's frames are kept, and how many are."""
    frames = sum(report["frames"].values())
    words = f"{report['folder']}: {frames} frames both ways, {1e-6 * report['bytes']:.1f} MB"
    return Fact("black box", words)


def emulator_facts(report: Mapping[str, Any]) -> list[Fact]:
    """Duration, commands and largest loads of an emulated robot; `report` is empty without one."""
    if not report:
        return [Fact("FAILED", "The emulated robot left no report")]
    worst = report["worst"]
    return [
        Fact(
            "emulator",
            f"ran for {report['emulated_s']:.1f} s, received {report['commands']} commands, is "
            f"{report['posture']}",
        ),
        Fact(
            "peak",
            f"torque demand {worst['torque_demand']:.1f} N m, speed {worst['speed']:.1f} rad/s, "
            f"power {worst['power']:.0f} W, temperature {worst['temperature']:.0f} degC",
        ),
    ]


def _number(value: float | None, digits: int = 0) -> str:
    """A number, or a dash where a process left no report."""
    return "-" if value is None else f"{value:.{digits}f}"


def _quantiles(values: Any, names: tuple[str, ...]) -> dict[str, float | None]:
    values = values if isinstance(values, dict) else {}
    return {name: values.get(name) for name in names}
