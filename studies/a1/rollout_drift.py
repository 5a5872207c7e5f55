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

import msgspec
import numpy as np

from controller.planner_options import CostOptions
from controller.robot_model import input_weights, trajectory_costs
from controller.rollout_planner import reference_policy
from robots.robot import load_robot
from robots.state import difference
from saltation.hilqr import Policies
from saltation.systems import Array
from saltus.common.console import say
from sim_bridge.options import WarpOptions
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.threaded import ThreadedRollout
from sim_bridge.rollouts.unavailable import Unavailable
from studies.a1.systems.planner_cases import make_cases, make_parts, make_workbench
from studies.study import Row, StudyOptions, StudyResult, study

KNOTS, PERIOD, SUBSTEPS = 50, 0.01, 2  # of the planner
STEP_SIZES = (1.0, 0.7, 0.49, 0.343, 0.24, 0.118, 0.058, 0.028, 0.0)  # of its line search
STIFFNESS, DAMPING = 60.0, 1.5  # of the joints, where they are held [N m/rad], [N m s/rad]
MOTIONS, WALKING = ("free fall", "standing", "sliding"), "walking"
SEARCHES = 2  # line searches from one walking state, as many as a planner in real time has
# Feet 1 mm in the floor: where they just touch it, the last digit decides whether they do.
A1 = load_robot("a1")
STAND = np.concatenate([[0, 0, A1.stand_height - 0.001, 0, 0, 0, 1], A1.stand, np.zeros(18)])


class Case(NamedTuple):
    """A line search: where it starts, its candidates, and what their cost is measured against."""

    motion: str
    x0: Array  # (37,)
    policies: Policies
    reference_states: Array  # (N+1, 37)
    reference_inputs: Array  # (N, 12)

    def costs(self, rolled: RolloutBatch) -> Array:
        """The planner's cost (6.1) of every candidate (C,), inf for those that diverged."""
        cost = CostOptions()
        weights = cost.state_weights()
        costs = trajectory_costs(
            rolled.states, rolled.inputs, self.reference_states, self.reference_inputs,
            weights, cost.terminal_scale * weights,
            input_weights(rolled.normal_forces, cost.input_loaded, cost.input_unloaded)
        )  # fmt: skip
        return np.where(rolled.finite & np.isfinite(costs), costs, np.inf)


def random_motions(starts: int, seed: int) -> list[Case]:
    """Each motion from `starts` states with random torques, and random changes of them.

    Free fall: high up in any attitude, tumbling; torques without feedback. Standing: on its feet,
    pushed a little; the joints are held. Sliding: the feet slide at some 1 m/s until friction has
    stopped them.
    """
    rng, cases = np.random.default_rng(seed), []
    states, inputs = np.tile(STAND, (KNOTS + 1, 1)), np.zeros((KNOTS, 12))
    for motion in MOTIONS:
        for _ in range(starts):
            x, gains, noise = STAND.copy(), np.zeros((KNOTS, 12, 36)), 1.0
            if motion == "free fall":
                x[2], noise = 4.0, 0.3
                x[3:7] = rng.normal(size=4)
                x[3:7] /= np.linalg.norm(x[3:7])
                x[19:] = np.concatenate(
                    [rng.normal(size=3), 3.0 * rng.normal(size=3), rng.normal(size=12)]
                )
            else:
                gains[:, range(12), range(6, 18)] = -STIFFNESS
                gains[:, range(12), range(24, 36)] = -DAMPING
            if motion == "standing":
                x[19:25] = 0.1 * rng.normal(size=6)
            if motion == "sliding":
                heading = rng.uniform(0.0, 2.0 * np.pi)
                x[19:21] = np.cos(heading), np.sin(heading)
            torques, changes = (noise * rng.normal(size=(KNOTS, 12)) for _ in range(2))
            policies = Policies.of(states, torques, gains, changes, STEP_SIZES)
            cases.append(Case(motion, x, policies, states, inputs))
    return cases


def walking(starts: int, seed: int) -> list[Case]:
    """The planner's own line searches, exhaustive, from `starts` pushed states of a walk.

    Found with MuJoCo on the CPU; what another backend would have gone on to is not followed.
    """
    bench = make_workbench()
    asked, cases = list[Policies](), []
    options = bench.paused.options
    search = msgspec.structs.replace(options.search, line_search="exhaustive")
    options = msgspec.structs.replace(options, search=search)
    _, _, model, solver = make_parts(options)
    backend: Any = ThreadedRollout(A1, KNOTS, PERIOD, SUBSTEPS)
    roll_out = backend.roll_out

    def kept(x0: Array, policies: Policies) -> RolloutBatch:
        asked.append(policies)
        return roll_out(x0, policies)

    model.backend, backend.roll_out = backend, kept
    for case in make_cases(bench, starts, seed):
        window = case.window
        model.track(window)
        trajectory = solver.start(case.x0, reference_policy(window))
        solver.regularisation.reset()
        for _ in range(SEARCHES):
            if trajectory is None:
                break
            asked.clear()
            trajectory = solver.iterate(case.x0, trajectory).trajectory
            reference = np.hstack([window.q, window.v])
            cases += [Case(WALKING, case.x0, each, reference, window.inputs) for each in asked[-1:]]
    return cases


QUANTILES = (50, 99)  # [%], over candidates
Drift = Row
FAR_OFF = 1e-4  # relative error of the cost, well above what rounding alone comes to


def compare(case: Case, rolled: RolloutBatch, expected: RolloutBatch) -> Drift:
    """Distances of a line search `rolled` out from the `expected`, and what it takes.

    Returns:
        position: error of the base (C', N+1) [m], of C' candidates that are finite in both;
        joints: of the farthest joint (C', N+1) [rad]; velocity: of the base (C', N+1) [m/s]; force:
        largest of a foot's normal force (C', N) [N]; cost: |J - J_cpu| / J_cpu (C');
        same_finite: the same candidates diverged; same_choice; lost: (J_cpu of its choice - best
        J_cpu) / best J_cpu.
    """
    both = rolled.finite & expected.finite
    x_ref, x = (each.states[both].reshape(-1, 37) for each in (expected, rolled))
    pairs = zip(x_ref, x, strict=True)
    dx = np.array([difference(a[:19], a[19:], b[:19], b[19:]) for a, b in pairs])
    dx = dx.reshape(-1, expected.states.shape[1], 36)
    ours, theirs = case.costs(expected), case.costs(rolled)
    best, choice = ours.argmin(), theirs.argmin()
    return {
        "position": np.linalg.norm(dx[..., :3], axis=2),
        "joints": np.abs(dx[..., 6:18]).max(axis=2),
        "velocity": np.linalg.norm(dx[..., 18:21], axis=2),
        "force": np.abs(rolled.normal_forces - expected.normal_forces)[both].max(axis=2),
        "cost": np.abs(theirs - ours)[both] / ours[both],
        "same_finite": (rolled.finite == expected.finite).all(),
        "same_choice": choice == best,
        "lost": (ours[choice] - ours[best]) / ours[best],
    }


def drift_row(motion: str, backend: str, device: str, drifts: Sequence[Drift]) -> Row:
    """One row of the table: errors at the horizon's end, the force's and cost's over all of it."""
    cost = np.concatenate([drift["cost"] for drift in drifts])
    values: Row = {
        "motion": motion, "backend": backend, "device": device, "searches": len(drifts),
        "candidates": len(cost)
    }  # fmt: skip
    for key, field, last in (
        ("position_m", "position", True), ("joints_rad", "joints", True),
        ("velocity_m_s", "velocity", True), ("force_N", "force", False),
        ("cost_relative", "cost", False)
    ):  # fmt: skip
        found = np.concatenate([d[field][:, -1] if last else d[field].ravel() for d in drifts])
        values |= {f"{key}_p{q}": np.percentile(found, q) for q in QUANTILES}
        values[f"{key}_worst"] = found.max()
    lost = [drift["lost"] for drift in drifts]
    return values | {
        "far_off": (cost > FAR_OFF).sum(),
        "same_finite": all(drift["same_finite"] for drift in drifts),
        "same_choice": np.mean([drift["same_choice"] for drift in drifts]),
        "cost_lost_mean": np.mean(lost),
        "cost_lost_worst": max(lost),
    }


STARTS, FULL = 60, 400  # of a motion
ROUNDED = "rounded x0"


@study("the A1's planner", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """A row for every motion and backend; `trials` is the number of starts of a motion."""
    starts = options.count(STARTS, FULL)
    options.progress(0, 1, "the planner's line searches")
    cases = random_motions(starts, options.seed) + walking(starts, options.seed)
    judge = ThreadedRollout(A1, KNOTS, PERIOD, SUBSTEPS)
    backends = {(ROUNDED, "cpu"): judge} | warp_backends()
    drifts: dict[tuple[str, str, str], list[Drift]] = {}
    for case in options.track(cases, "rollouts"):
        expected = judge.roll_out(case.x0, case.policies)
        for key, backend in backends.items():
            x0 = case.x0.astype(np.float32).astype(np.float64) if backend is judge else case.x0
            rolled = backend.roll_out(x0, case.policies)
            drifts.setdefault((case.motion, *key), []).append(compare(case, rolled, expected))
    rows = [drift_row(*key, members) for key, members in drifts.items()]
    columns = (
        "motion, backend, position_m_p50, position_m_p99, joints_rad_p99, force_N_p99,"
        " cost_relative_p99=cost p99, same_choice, cost_lost_worst=cost lost, far_off, same_finite"
    )
    return StudyResult(rows, columns=columns)


def warp_backends() -> dict[tuple[str, str], Any]:
    """Warp's backends by name and device; says which are not here.

    Without a GPU, warp is measured on Warp's CPU device, which runs the same kernels sequentially;
    a GPU sums in another order.
    """
    found = {}
    for device in ("cpu", "auto"):
        try:
            from sim_bridge.rollouts.warp_rollout import WarpRollout

            rollout = WarpRollout(A1, PERIOD, SUBSTEPS, WarpOptions(device=device))
        except Unavailable as error:
            say(f"warp ({device}) is not measured: {error}")
            continue
        found.setdefault(("warp", rollout.device), rollout)
    return found
