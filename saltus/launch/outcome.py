"""Outcome of a launch: its summary, with the keys that scripts rely on, and its problems."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from saltus.common.files import read_table
from saltus.configuration.launch import LaunchConfig
from saltus.launch import assembly
from saltus.launch.supervisor import Death
from saltus.metrics.run import RunMetrics

SHARE = 0.03  # of solves, ticks or frames that may go wrong without a word
DOWN = 0.01  # of the ticks; a robot that stood down for longer has not walked
MOST = 0.5  # of the ticks without a plan, above which the planner has not done its job

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
    """Everything that went wrong, the most important first.

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
    # Ctrl-C meets processes that load the compiler, which does not end in time.
    starting = end == "interrupted" and summary["simulated_s"] < STARTED_S
    for name, cause, _, hung in deaths:
        if hung and starting:
            continue
        what, detail = "hung" if hung else "died", f"{name}: {cause}; {_log(name)}"
        found.append(LaunchProblem(what, f"the {name} {what}", True, detail))
    at = f"{summary['simulated_s']:.2f} s of {config.duration:g} s"
    if end == "interrupted":
        found.append(LaunchProblem("interrupted", f"you stopped the launch at {at}"))
    elif end == "broken":
        found.append(LaunchProblem("broke_off", f"the launch broke off at {at}", True, stall))
    dead = {death.name for death in deaths}
    silent = [name for name, report in reports.items() if not report and name not in dead]
    if end == "complete" and silent:
        words = f"counts are missing: {', '.join(silent)} left no report"
        advice = f"is the disk full?; {_log(silent[0])}"
        found.append(LaunchProblem("no_report", words, False, advice))
    ran = () if starting else (*_shares(reports), *_stood_still(reports))
    found += sorted(ran, key=lambda problem: not problem.failure)
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
    return [LaunchProblem("stopped", ": ".join(filter(None, (words, robot.get("cause")))), True)]


def _stood_still(reports: Reports) -> Iterator[LaunchProblem]:
    """Time in which the simulated robot followed no plan at all."""
    in_force = reports.get("simulation", {}).get("in_force", {})  # ticks by status of the command
    ticks = sum(in_force.values())
    if down := in_force.get("stand_down", 0):
        detail = f"stand-down: there was no plan or no estimate; {_log('tracker')}"
        words = f"the robot stood down for {1e-3 * down:.2f} s of {1e-3 * ticks:.2f} s"
        yield LaunchProblem("stood_down", words, down > DOWN * ticks, detail)
    before = in_force.get("none", 0) + in_force.get("waiting", 0)  # the first plan
    if before > MOST * ticks:
        words = f"no plan came for {1e-3 * before:.2f} s"
        yield LaunchProblem("no_plan", words, True, _log("planner"))


def _shares(reports: Reports) -> Iterator[LaunchProblem]:
    """Rows of `SHARES` that are more than a few."""
    for row in SHARES:
        count, total = _sum(reports, row["count"]), _sum(reports, row["of"])
        if count > SHARE * total:
            words = row["words"].replace("{}", f"{count} of {total}" if row["of"] else f"{count}")
            also = _at(reports, row.get("also", "")) or ()
            detail = row.get("detail") or _log(row["log"])
            if cause := _at(reports, row.get("cause", "")):
                detail = f"{row['log']}: {cause}; {detail}"
            failure = count > row.get("fails", math.inf) * total
            yield LaunchProblem(row["what"], "; ".join((words, *also[:3])), failure, detail)


def _sum(reports: Reports, keys: Iterable[str]) -> int:
    found = (_at(reports, key) or 0 for key in keys)
    return sum(sum(each.values()) if isinstance(each, Mapping) else each for each in found)


def _at(values: Any, keys: str) -> Any:
    """A value by its dotted keys; None where there is none."""
    for key in keys.split("."):
        values = values.get(key) if isinstance(values, Mapping) else None
    return values


def _of_process(name: str, report: Report, real_time: bool) -> list[LaunchProblem]:
    """Frames that did not decode, and functions that were compiled while the robot waited."""
    found = []
    frames = max(report.get(key, 0) for key in ("ticks", "updates", "solves"))  # that it took in
    count = report.get("undecodable", 0)
    if count > SHARE * frames:
        words = f"{count} frames to the {name} could not be decoded"
        advice = "is another program on the same bus?"
        found.append(LaunchProblem("undecodable", words, False, advice))
    functions = ", ".join(report.get("compiled_late", ()))
    if functions and real_time:  # in lock step the robot has time
        words = f"the {name} compiled while the robot waited: {functions}"
        found.append(LaunchProblem("compiled_late", words))
    return found


def _log(process: str) -> str:
    return f"see logs/{process}.log"


STARTED_S = 0.01  # of the robot's time
START_S = 200.0  # until the first tick: longer than the processes wait for each other
STALL_S = 10.0  # between two ticks
HANG_S = 2.0  # between two ticks of a robot that the watchdog damps


def describe_stall(config: LaunchConfig, ticks: Mapping[str, int]) -> str:
    """Which process waits for which, in words.

    In lock step the messages of a tick come one after the other: truth and reading of the robot,
    the reading passed on, the estimate, a plan where one is due, the command. The sender of
    the first one that is missing is waited for.

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
    for topic, words in (
        (SENSOR_READING, "the simulation waits for the tracker at"),
        (STATE_ESTIMATE, "the tracker waits for the estimator's estimate of"),
    ):
        if ticks[topic.name] < tick:
            return f"{words} tick {tick}"
    if ticks[MOTOR_COMMAND.name] >= tick:
        return f"the tracker waits for the simulation after tick {tick}"
    due = next((solve for solve in assembly.solve_schedule(config) if solve.arrival >= tick), None)
    if due is not None and due.arrival == tick and ticks[PLAN.name] < due.estimate:
        return f"the tracker waits for the planner's plan of tick {due.estimate}"
    return f"the simulation waits for the tracker's command of tick {tick}"


LATENESS = ("p50", "p99", "p999")
MEDIAN_AND_TAIL = ("p50", "p99")
WITH_LONGEST = ("p50", "p99", "max")


def launch_summary(
    config: LaunchConfig, metrics: RunMetrics, plans: int, reports: Reports
) -> dict[str, Any]:
    """Put a run's metrics and its processes' reports together.

    Args:
        config: of the launch.
        metrics: from truth and estimates.
        plans: number of plans that were seen, for a planner that died without a report.
        reports: of the processes, possibly empty.
    """
    names = ("planner", "tracker", "estimator")
    planner, tracker, estimator = (reports.get(name, {}) for name in names)
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
        status: the last one received, None without any.
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


Numbers = Mapping[str, list[list[Any]]]  # by label: what, keys, unit, digits
NUMBERS: Numbers = read_table(__file__, "summary.yaml")
SHARES: list[dict[str, Any]] = read_table(__file__, "problems.yaml")


def numbers_in(table: Numbers, values: Mapping[str, Any]) -> list[Fact]:
    """Lines of a table, without those of which nothing is known."""
    facts = []
    for label, numbers in table.items():
        texts = [text for number in numbers if (text := _text(values, *number))]
        if texts:
            facts.append(Fact(label, "; ".join(texts)))
    return facts


def _text(value: Any, what: str, keys: str, unit: str, digits: int) -> str:
    shown = shown_value(_at(value, keys), digits)
    return " ".join(filter(None, (what, shown, unit))) if shown else ""


def shown_value(value: Any, digits: int = 0) -> str:
    """A number, a word, or several, by their names too; empty where nothing is known."""
    if hasattr(value, "tolist"):
        return shown_value(value.tolist(), digits)
    if isinstance(value, Mapping):
        parts = {name: shown_value(each, digits) for name, each in value.items()}
        return ", ".join(f"{name} {text}" for name, text in parts.items() if text)
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    if isinstance(value, list | tuple):
        return " ".join(shown_value(each, digits) for each in value)
    return "" if value is None else str(value)


def launch_facts(
    summary: Mapping[str, Any], problems: Sequence[LaunchProblem], reports: Reports
) -> list[Fact]:
    """All that `saltus launch` prints at its end: verdict, problems, and the measurements."""
    recording = Path(summary["folder"]) / "run.mcap"
    kept = "logs, reports, summary.json" + (", run.mcap" if recording.exists() else "")
    folder = Fact("folder", f"{summary['folder']}: {kept}")
    values = {**summary, "processes": reports}
    if "planner" not in reports:
        emulator = numbers_in({"emulator": NUMBERS["emulator"]}, values)
        return [*(emulator or [Fact("FAILED", "The emulated robot left no report")]), folder]
    facts = [headline(summary, problems)]
    facts += [Fact("", problem.detail) for problem in problems if problem.detail]
    measured = bool(summary["simulated_s"])
    local = _at(reports, "planner.rollouts.backend") in (None, "mujoco")
    shown = {
        label: numbers for label, numbers in NUMBERS.items()
        if (measured or label in ("robot", "link", "black box"))
        and not (local and label == "rollouts")
    }  # fmt: skip
    return [*facts, *numbers_in(shown, values), folder]


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


def _quantiles(values: Any, names: tuple[str, ...]) -> dict[str, float | None]:
    return {name: (values or {}).get(name) for name in names}
