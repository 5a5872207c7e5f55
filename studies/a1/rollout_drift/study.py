"""Drift of float32 rollouts on a device from MuJoCo in float64 on the CPU.

The same candidates of 50 knots of 10 ms, 2 substeps a knot, by every backend that this process can
run. The yardstick is MuJoCo itself from a start that is rounded to float32 once: its drift is due
to the motion, not to a backend.

Errors are at the end of the horizon, over all candidates; for forces, the largest of the four feet
over all knots. The cost is that of the planner (6.1), as a relative error. far_off counts
candidates whose error of the cost is above 1e-4: in the cases that were examined, a foot was within
1e-7 m of the floor, so that rounding decided in which step it touched. same_choice is the share of
line searches that choose the same candidate as MuJoCo; cost_lost_worst the largest increase of the
cost by another choice, over the best cost. Warp solves contacts to a tolerance of 1e-6, MuJoCo to
1e-8.
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
from studies.a1.rollout_drift.drift import Drift, compare, draw, drift_row
from studies.a1.rollout_drift.motions import (
    KNOTS,
    PERIOD,
    SUBSTEPS,
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
    "cost_lost_worst": "cost lost", "far_off": "far off", "same_finite": "same finite",
}  # fmt: skip


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
        rows, {"rollout-drift": draw(times, drifts)}, missing,
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
