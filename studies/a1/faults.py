"""Faults of the emulated robot, over its wire and in real time, and how each launch ends.

Every row is a launch of its own: the robot stands up, walks, something goes wrong, and it must end
on its feet or damped, within its limits, with the cause in one line and a recording that reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saltus.configuration.options import read_mapping
from saltus.soak.harm import Harm
from studies.a1.faults_failing import WAY
from studies.a1.harmed import End, Trial, run_trials
from studies.study import Row, StudyOptions, StudyResult, study

TABLE = read_mapping(Path(__file__).with_suffix(".yaml"))
ENDS = {"down": ("lying", "fallen", "sinking"), "seated": ("lying",)}
WALKED_S = 3.0  # before a harm from outside is done [s]
TORQUE_MARGIN = 1.02  # the emulator judges with its own encoders: one quantum of tau, and rounding
FAILING = "studies.a1.faults_failing"  # module of a process whose messages go wrong


def trial_of(fault: Mapping[str, Any]) -> Trial:
    """The launch of a fault of the table."""
    harms = [Harm.read(text) for text in fault.get("harm", "").split(", ") if text]
    process, _, way = fault.get("spoiled", "").partition(" ")
    return Trial(
        fault["name"], harms, TABLE["launch"] | fault.get("keys", {}), at=WALKED_S,
        modules=[f"{process}={FAILING}"] if process else [], environment={WAY: way}
    )  # fmt: skip


def row_of(fault: Mapping[str, Any], end: End) -> Row:
    """The row of one fault; `stop_ticks` are from harm or button to the first damping command."""
    robot, emulator, worst = end.robot, end.emulator, end.emulator.get("worst", {})
    posture, cause = emulator["posture"], robot.get("cause", "")
    ended = "sinking" if posture == "moving" and emulator["passive"] else posture
    caused, within, nan = fault.get("caused", ""), fault.get("within", 0.0), float("nan")
    torque, stop_ticks = worst.get("torque_demand", nan), None
    if within:
        pressed = emulator.get("button_pressed_at") or end.done_at
        damped = emulator.get("first_damping_at")
        stop_ticks = nan if pressed is None or damped is None else 1e3 * (damped - pressed)
    wrong = {
        f"the robot was {ended}": ended not in ENDS[fault.get("ends", "seated")],
        f"the cause was {cause!r}": caused not in cause if caused else bool(cause),
        "torque beyond the limit":
            not torque <= TORQUE_MARGIN * end.config.robot_model.torque_limit.max(),
        "damped late, or before": stop_ticks is not None and not 0.0 <= stop_ticks <= within
    }  # fmt: skip
    refused = {k: n for k, n in robot.get("frames", {}).items() if k != "accepted"}
    return {
        "fault": fault["name"], "ended": ended, "cause": cause,
        "walked_s": robot.get("running_s"), "stop_ticks": stop_ticks, "torque_max": torque,
        "excursion_rad": worst.get("excursion", nan),
        "temperature_max": worst.get("temperature", nan),
        "frames_recorded": end.recorded, "refused": refused, "stolen_ms": end.stolen_ms,
        "wrong": "; ".join(end.wrong + [words for words, is_so in wrong.items() if is_so])
    }  # fmt: skip


@study("the emulated robot", "trials", "set")
def run(options: StudyOptions) -> StudyResult:
    """A row for each launch, ``trials`` of each fault; the files of those that fail are kept."""
    faults = [fault for fault in TABLE["faults"] for _ in range(options.count(1))]
    trials = [trial_of(fault) for fault in faults]
    return run_trials(trials, options, lambda k, end: row_of(faults[k], end),
                      "fault, ended, ok, cause, stop_ticks, torque_max, files")  # fmt: skip
