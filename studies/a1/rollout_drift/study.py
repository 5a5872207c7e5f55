"""Drift of float32 rollouts on a device from MuJoCo in float64 on the CPU.

The same candidates of 50 knots of 10 ms, 2 substeps a knot, by every backend that this process can
run. The yardstick is MuJoCo itself from a start that is rounded to float32 once: its drift is due
to the motion, not to a backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hybrid.hilqr import Policies
from hybrid.systems import Array
from robots.robot import load_robot
from sim_bridge.options import WarpOptions
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.threaded import ThreadedRollout
from sim_bridge.rollouts.unavailable import Unavailable
from studies.a1.rollout_drift.drift import FAR_OFF, Drift, DriftRow, compare, draw, drift_row
from studies.a1.rollout_drift.motions import (
    KNOTS,
    PERIOD,
    SUBSTEPS,
    WALKING,
    random_motions,
    walking,
)
from studies.study import StudyOptions, StudyResult, study

STARTS, FULL = 60, 400  # of a motion
ROUNDED = "rounded x0"
SHOWN = {
    "motion": "motion", "backend": "backend", "position_m_p50": "position p50 [m]",
    "position_m_p99": "p99 [m]", "joints_rad_p99": "joints p99 [rad]",
    "force_N_p99": "force p99 [N]", "cost_relative_p99": "cost p99", "same_choice": "same choice",
}  # fmt: skip


def notes(rows: Sequence[DriftRow], yardstick: str, walking: str) -> list[str]:
    """One line each: the planner's choices, the yardstick, and how it was measured."""
    lines = []
    for row in rows:
        if row.motion == walking:
            lines.append(_choices(row))
    for row in rows:
        if row.backend != yardstick:
            lines.append(_beside(row, _same_motion(rows, row.motion, yardstick)))
    different = [f"{row.backend} in {row.motion}" for row in rows if not row.same_finite]
    if different:
        lines.append(f"Backends in which other candidates diverged than in MuJoCo:"
                     f" {', '.join(different)}.")
    return [
        *lines,
        *_far_off([row for row in rows if row.backend != yardstick]),
        "Errors are differences from MuJoCo in float64 at the end of the horizon, over all"
        " candidates; for forces, the largest of the four feet over all knots. The cost is that of"
        " the planner (6.1), as a relative error.",
        "Warp solves contacts to a tolerance of 1e-6, MuJoCo to 1e-8.",
    ]


def _choices(row: DriftRow) -> str:
    return (
        f"{row.backend} ({row.device}): {row.same_choice:.1%} of {row.searches} line searches of"
        f" the walk choose the same candidate as MuJoCo; largest increase of the cost by another"
        f" choice: {row.cost_lost_worst:.2g} of the best cost."
    )


def _beside(row: DriftRow, yardstick: DriftRow) -> str:
    ratio = row.position_m_p50 / max(yardstick.position_m_p50, 1e-300)
    return (
        f"{row.motion}, {row.backend} ({row.device}): position error at the end of the horizon"
        f" {row.position_m_p50:.2g} m (median), {row.position_m_p99:.2g} m (99 %),"
        f" {row.position_m_worst:.2g} m (largest); the median is {ratio:.3g} times that of a start"
        f" rounded to float32. Cost error {row.cost_relative_p99:.2g} (99 %),"
        f" {row.cost_relative_worst:.2g} (largest); {row.same_choice:.1%} equal choices."
    )


def _far_off(rows: Sequence[DriftRow]) -> list[str]:
    count = sum(row.far_off for row in rows)
    if not count:
        return []
    return [
        f"{count} of {sum(row.candidates for row in rows)} candidates have a cost error above"
        f" {FAR_OFF:g}. In the cases that were examined, a foot was within 1e-7 m of the floor, so"
        " that rounding decided in which step it touched."
    ]


def _same_motion(rows: Sequence[DriftRow], motion: str, backend: str) -> DriftRow:
    return next(row for row in rows if (row.motion, row.backend) == (motion, backend))


class Contender(NamedTuple):
    """A backend beside MuJoCo's."""

    name: str
    device: str
    backend: Any

    def roll_out(self, x0: Array, policies: Policies) -> RolloutBatch:
        """By this backend; the yardstick's start is rounded."""
        if self.name == ROUNDED:
            x0 = x0.astype(np.float32).astype(np.float64)
        return self.backend.roll_out(x0, policies)


@study("the A1's planner", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """A row for every motion and backend; `trials` is the number of starts of a motion."""
    starts = options.count(STARTS, FULL)
    options.progress(0, 1, "the planner's line searches")
    cases = random_motions(starts, options.seed) + walking(starts, options.seed)
    judge = ThreadedRollout(load_robot("a1"), KNOTS, PERIOD, SUBSTEPS)
    contenders, missing = find_contenders(judge)
    drifts: dict[tuple[str, str, str], list[Drift]] = {}
    for case in options.track(cases, lambda case: case.motion):
        expected = judge.roll_out(case.x0, case.policies)
        for contender in contenders:
            rolled = contender.roll_out(case.x0, case.policies)
            key = (case.motion, contender.name, contender.device)
            drifts.setdefault(key, []).append(compare(case, rolled, expected))
    rows = [drift_row(*key, members) for key, members in drifts.items()]
    times = PERIOD * np.arange(KNOTS + 1, dtype=np.float64)
    return StudyResult(
        rows, {"rollout-drift": draw(times, drifts)}, [*notes(rows, ROUNDED, WALKING), *missing],
        SHOWN, 2,
    )  # fmt: skip


def find_contenders(judge: ThreadedRollout) -> tuple[list[Contender], Sequence[str]]:
    """Every backend to compare, and a line for each that is not here."""
    contenders, missing = [Contender(ROUNDED, "cpu", judge)], []
    for device in ("cpu", "auto"):
        try:
            from sim_bridge.rollouts.warp_rollout import WarpRollout

            rollout = WarpRollout(load_robot("a1"), PERIOD, SUBSTEPS, WarpOptions(device=device))
        except Unavailable as error:
            missing.append(f"warp ({device}) is not measured: {error}.")
            continue
        if rollout.device not in [contender.device for contender in contenders[1:]]:
            contenders.append(Contender("warp", rollout.device, rollout))
    if not any(contender.device != "cpu" for contender in contenders):
        missing.append(
            "No GPU was available: warp is measured on Warp's CPU device, which runs the same"
            " kernels sequentially; a GPU sums in another order."
        )
    return contenders, missing
