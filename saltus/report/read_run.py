"""Reads a folder that ``saltus launch --record`` has left."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from robots.conventions import FALLEN_TILT
from saltus import open_run
from saltus.common.errors import BadRequest
from saltus.common.folders import is_file
from saltus.configuration.launch import LaunchConfig
from saltus.launch.motions import tilt_allowance_of_run
from saltus.launch.summary import rollout_phrase
from saltus.metrics.run import DRIVING_MEASURES
from saltus.recording.reading import summary_of_run
from saltus.report.subject import Row, Subject, TrialRecord
from saltus.trace import Trace, config_of_run, pushes_of_run, trace_of_run

Array = NDArray[np.float64]

RECORD_AGAIN = "record it again with `saltus launch NAME --record DIR`"


def is_run(folder: Path) -> bool:
    """Whether the folder holds a recorded run."""
    return is_file(folder / "run.mcap") or (
        is_file(folder / "launch.yaml") and is_file(folder / "summary.json")
    )


def read_run(folder: Path) -> Subject:
    """A recorded run as a report's subject: one trial.

    Raises:
        BadRequest: its configuration cannot be read.
    """
    config = config_of_run(folder)
    missing: list[str] = []
    summary = summary_of_run(folder) or {}
    if not summary:
        missing.append("The run has no summary: it is still going on, or was broken off. Write the "
                       "report again when it has ended.")  # fmt: skip
    elif not summary.get("completed", True):
        missing.append(_unfinished(summary))
    try:
        trace = trace_of_run(folder)
        recording = open_run(folder)
        if summary and recording.cut:
            missing.append(f"The recording stopped before the run did ({recording.cut}): figures "
                           "and counts drawn from it know of its beginning alone.")  # fmt: skip
        if recording.damage:
            missing.append(f"The recording {recording.damage}. What is drawn and counted from it "
                           "lacks them too.")  # fmt: skip
    except BadRequest as error:
        trace = None
        missing.append(f"The recording cannot be read ({error}): {RECORD_AGAIN}.")
    row = _row(config, summary, trace) | _perturbation(folder, config, trace)
    row["broke_off"] = _broke_off(folder, config, summary, trace)
    row["problems"] = [
        problem["words"] for problem in summary.get("problems", ())
        if problem["what"] not in ("fell", "broke_off")  # which the verdict says itself
    ]  # fmt: skip
    return Subject(
        "run", folder, f"{config.reference}, {config.planner}", _facts(folder, config, summary),
        (folder / "launch.yaml").read_text(errors="replace"), [TrialRecord(row, trace)], 1, missing,
        config.mode == "paused",
    )  # fmt: skip


def _broke_off(
    folder: Path, config: LaunchConfig, summary: dict[str, Any], trace: Trace | None
) -> str:
    """When a run broke off, and the robot's last state; empty of one that came to its end."""
    if summary and summary.get("completed", True):
        return ""
    time, q = _last_state(folder, trace)
    if q is None:
        return "before a state of the robot was recorded"
    time = summary.get("simulated_s", time)
    tilt = np.degrees(np.arccos(np.clip(1.0 - 2.0 * (q[3] ** 2 + q[4] ** 2), -1.0, 1.0)))
    return (f"at {time:.2f} of {config.duration:g} s; in the last state that was recorded the base "
            f"was {q[2]:.2f} m high and tilted by {tilt:.0f} degrees")  # fmt: skip


def _last_state(folder: Path, trace: Trace | None) -> tuple[float, Array | None]:
    """Time [s] and configuration (19,) at the end: the true one, or else the estimate."""
    if trace and len(trace.time):
        return float(trace.time[-1]), trace.q[-1]
    try:
        estimates = open_run(folder)["state_estimate"]
    except BadRequest:
        return 0.0, None
    return float(estimates.time[-1] - estimates.time[0]), estimates.q[-1]


def _unfinished(summary: dict[str, Any]) -> str:
    """What a run that did not come to its end says about the rest: nothing."""
    deaths = [f"{death.get('name')}: {death.get('cause')}" for death in summary.get("deaths", [])]
    why = f" ({'; '.join(deaths)})" if deaths else ""
    seconds = summary.get("simulated_s", 0.0)
    return f"The run was broken off after {seconds:.2f} s{why}; nothing is known of the rest."


def date_of(path: Path) -> str:
    """When a file was last written, in the machine's own time."""
    return datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y-%m-%d %H:%M")


def _row(config: LaunchConfig, summary: dict[str, Any], trace: Trace | None) -> Row:
    """The run with the keys that a sweep's rows have."""
    solve_ms = summary.get("planner", {}).get("solve_ms", {})
    statuses = trace.statuses if trace else {}
    commands = trace.commands if trace else {}
    simulation = summary.get("processes", {}).get("simulation", {})
    fall_time = _fall_time(config, trace)
    return {
        "planner": config.planner, "trial": 0, "fell": summary.get("fell", fall_time is not None),
        "fell_at": simulation.get("fell_at_s", fall_time),
        "max_lateral_deviation_m": (
            None if config.is_driven else summary.get("max_lateral_deviation_m", _furthest(trace))
        ),
        "solve_ms_p50": solve_ms.get("p50"), "solve_ms_p99": solve_ms.get("p99"),
        "plans_failed": statuses.get("failed", 0), "plans_late": statuses.get("time_limit", 0),
        "not_tracking_ticks": sum(commands.values()) - commands.get("ok", 0),
        "robot": config.robot, "terrain": msgspec.to_builtins(config.terrain),
        "seed": config.simulation.seed,
    } | {key: summary.get(key) for key in DRIVING_MEASURES if config.is_driven}  # fmt: skip


def _furthest(trace: Trace | None) -> float | None:
    return float(abs(trace.q[:, 1]).max()) if trace and len(trace.time) else None


def _perturbation(folder: Path, config: LaunchConfig, trace: Trace | None) -> Row:
    """The keys about the first perturbation; an emulated robot's are its emulator's pushes."""
    event = msgspec.to_builtins(config.perturbations[0]) if config.perturbations else {}
    if pushes := pushes_of_run(folder):
        event = {"kind": "base_velocity", "value": pushes[0].value}
    elif not event and trace and trace.events:
        event = {"kind": "by_hand"}
    at = trace.events[0] if trace and trace.events else None
    return {"kind": event.get("kind", "none"), "at": at, "value": event.get("value")}


def _fall_time(config: LaunchConfig, trace: Trace | None) -> float | None:
    """When the body first tilts past 60 degrees, and past what its reference adds to them [s].

    None where it does not, or nobody knows.
    """
    if trace is None:
        return None
    x, y = trace.q[:, 3], trace.q[:, 4]
    cosine = 1.0 - 2.0 * (x * x + y * y)
    if (cosine >= np.cos(FALLEN_TILT)).all():
        return None  # and a motion need not be planned, to know how far it tilts
    allowance = tilt_allowance_of_run(config)
    most = FALLEN_TILT + np.array([allowance(time) for time in trace.time.tolist()])
    tilted = np.flatnonzero(~(cosine >= np.cos(np.minimum(np.pi, most))))
    return float(trace.time[tilted[0]]) if tilted.size else None


def _task(config: LaunchConfig) -> str:
    if isinstance(config.command, tuple):
        return f"driven by a script of {len(config.command)} steps"
    if config.drive.source != "none":
        return f"driven: {config.drive.source}"
    return f"{config.reference}, {config.speed:g} m/s forward"


def _facts(folder: Path, config: LaunchConfig, summary: dict[str, Any]) -> dict[str, str]:
    version = summary.get("code")
    done = config.perturbations or (config.emulator.events if config.kind.emulated else ())
    events = ", ".join(str(msgspec.to_builtins(event)["kind"]) for event in done)
    by_hand = summary.get("processes", {}).get("simulation", {}).get("pushes", {})
    if pushes := by_hand.get("applied"):
        events = ", ".join([*([events] if events else []), f"{pushes} by hand"])
    facts = {
        "Run": folder.resolve().name,
        "Robot's task": _task(config),
        "Planner": config.planner,
        "Estimator": config.estimator,
        "Time passes": "in lock step" if config.mode == "paused" else "in real time",
        "Perturbations": events or "none",
        "Begun": date_of(folder / "launch.yaml"),
        "Code": str(version or "not noted in this run"),
    }
    rolled = summary.get("processes", {}).get("planner", {}).get("rollouts", {})
    if phrase := rollout_phrase(rolled):
        facts["Rollouts"] = phrase
    if summary:
        seconds, metres = summary["simulated_s"], summary["distance_m"]
        where = "of way" if config.is_driven else "forward"
        facts["Simulated"] = f"{seconds:.2f} s, {metres:.2f} m {where}"
    return facts
