"""What went wrong in a launch, the gravest first, each with its count."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from saltus.configuration.launch import LaunchConfig
from saltus.launch.supervisor import Death

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
        summary: of `saltus.launch.summary.launch_summary`.
        reports: of the processes; empty for one that died.
        deaths: processes that ended although nobody asked them to.
        end: how the launch ended: "interrupted" by the user, "broken" for another reason.
        stall: who waited for whom, where it stood still.
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
