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

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from matplotlib.figure import Figure

from controller.planner_options import CostOptions
from controller.robot_model import input_weights, trajectory_costs
from controller.rollout_planner import reference_policy
from hybrid.hilqr import Policies
from hybrid.systems import Array
from robots.robot import load_robot
from robots.state import difference_batch
from saltus.common.console import say
from sim_bridge.options import WarpOptions
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.threaded import ThreadedRollout
from sim_bridge.rollouts.unavailable import Unavailable
from studies.a1.systems.planner_cases import make_cases, make_parts, make_workbench
from studies.figures import Panel, draw, over
from studies.study import StudyOptions, StudyResult, study

KNOTS, PERIOD, SUBSTEPS = 50, 0.01, 2  # of the planner
STEP_SIZES = (1.0, 0.7, 0.49, 0.343, 0.24, 0.118, 0.058, 0.028, 0.0)  # of its line search
STIFFNESS, DAMPING = 60.0, 1.5  # of the joints, where they are held [N m/rad], [N m s/rad]
WALKING = "walking"
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
            input_weights(rolled.normal_forces, cost.input_loaded, cost.input_unloaded),
        )  # fmt: skip
        return np.where(rolled.finite & np.isfinite(costs), costs, np.inf)


def random_motions(starts: int, seed: int) -> list[Case]:
    """Free fall, standing and sliding, each from `starts` states with random torques."""
    rng = np.random.default_rng(seed)
    motions: dict[str, Callable[[np.random.Generator], tuple[Array, Policies]]] = {
        "free fall": _falling, "standing": _standing, "sliding": _sliding,
    }  # fmt: skip
    states, inputs = np.tile(STAND, (KNOTS + 1, 1)), np.zeros((KNOTS, 12))
    return [
        Case(name, *motion(rng), states, inputs)
        for name, motion in motions.items()
        for _ in range(starts)
    ]


def walking(starts: int, seed: int) -> list[Case]:
    """The planner's own line searches, exhaustive, from `starts` pushed states of a walk.

    Found with MuJoCo on the CPU; what another backend would have gone on to is not followed.
    """
    bench = make_workbench()
    recorder, cases = _Recorder(A1, KNOTS, PERIOD, SUBSTEPS), []
    options = bench.paused.options
    search = msgspec.structs.replace(options.search, line_search="exhaustive")
    options = msgspec.structs.replace(options, search=search)
    _, _, model, solver = make_parts(options)
    model.backend = recorder
    for case in make_cases(bench, starts, seed):
        window = case.window
        model.track(window)
        trajectory = solver.start(case.x0, reference_policy(window))
        solver.regularisation.reset()
        for _ in range(SEARCHES):
            if trajectory is None:
                break
            recorder.policies = None
            step = solver.iterate(case.x0, trajectory)
            trajectory = step.trajectory
            if recorder.policies is not None:
                reference = np.hstack([window.q, window.v])
                cases.append(Case(WALKING, case.x0, recorder.policies, reference, window.inputs))
    return cases


class _Recorder(ThreadedRollout):
    """MuJoCo on the CPU, which keeps the last policies that it was asked for."""

    policies: Policies | None = None

    def roll_out(self, x0: Array, policies: Policies) -> RolloutBatch:
        """Roll every candidate out from x0 (37,)."""
        self.policies = policies
        return super().roll_out(x0, policies)


def _falling(rng: np.random.Generator) -> tuple[Array, Policies]:
    """High up in any attitude, tumbling; torques without feedback."""
    x = STAND.copy()
    x[2] = 4.0
    x[3:7] = rng.normal(size=4)
    x[3:7] /= np.linalg.norm(x[3:7])
    x[19:] = np.concatenate([rng.normal(size=3), 3.0 * rng.normal(size=3), rng.normal(size=12)])
    return x, _policies(rng, 0.3, held=False)


def _standing(rng: np.random.Generator) -> tuple[Array, Policies]:
    """On its feet, pushed a little; the joints are held."""
    x = STAND.copy()
    x[19:25] = 0.1 * rng.normal(size=6)
    return x, _policies(rng, 1.0, held=True)


def _sliding(rng: np.random.Generator) -> tuple[Array, Policies]:
    """On its feet, which slide at some 1 m/s until friction has stopped them."""
    x, heading = STAND.copy(), rng.uniform(0.0, 2.0 * np.pi)
    x[19:21] = np.cos(heading), np.sin(heading)
    return x, _policies(rng, 1.0, held=True)


def _policies(rng: np.random.Generator, noise: float, held: bool) -> Policies:
    """The stand with random torques [N m], and random changes of them at every step size."""
    gains = np.zeros((KNOTS, 12, 36))
    if held:
        gains[:, range(12), range(6, 18)] = -STIFFNESS
        gains[:, range(12), range(24, 36)] = -DAMPING
    return Policies.of(
        np.tile(STAND, (KNOTS + 1, 1)), noise * rng.normal(size=(KNOTS, 12)), gains,
        noise * rng.normal(size=(KNOTS, 12)), STEP_SIZES,
    )  # fmt: skip


QUANTILES = (50, 99)  # [%], over candidates
FAR_OFF = 1e-4  # relative error of the cost, well above what rounding alone comes to
_FLOOR = 1e-10  # smaller errors are drawn here


class Drift(NamedTuple):
    """One line search by a backend beside MuJoCo's; C' candidates that are finite in both."""

    position: Array  # of the base (C', N+1) [m]
    joints: Array  # farthest joint (C', N+1) [rad]
    velocity: Array  # of the base (C', N+1) [m/s]
    force: Array  # largest error of a foot's normal force (C', N) [N]
    cost: Array  # |J - J_cpu| / J_cpu (C')
    same_finite: bool  # the same candidates diverged
    same_choice: bool
    lost: float  # (J_cpu of its choice - best J_cpu) / best J_cpu


def compare(case: Case, rolled: RolloutBatch, expected: RolloutBatch) -> Drift:
    """Distances of `found` from `expected`, and what the line search takes."""
    both = rolled.finite & expected.finite
    dx = _differences(expected.states[both], rolled.states[both])
    force = np.abs(rolled.normal_forces - expected.normal_forces)[both].max(axis=2)
    ours, theirs = case.costs(expected), case.costs(rolled)
    best, choice = int(ours.argmin()), int(theirs.argmin())
    return Drift(
        np.linalg.norm(dx[..., :3], axis=2),
        np.abs(dx[..., 6:18]).max(axis=2),
        np.linalg.norm(dx[..., 18:21], axis=2),
        force,
        np.abs(theirs - ours)[both] / ours[both],
        bool((rolled.finite == expected.finite).all()),
        choice == best,
        float((ours[choice] - ours[best]) / ours[best]),
    )


def _differences(reference: Array, states: Array) -> Array:
    """x (-) x_ref of states (C, N+1, 37): (C, N+1, 36)."""
    flat, flat_reference = states.reshape(-1, 37), reference.reshape(-1, 37)
    dx = difference_batch(
        flat_reference[:, :19], flat_reference[:, 19:], flat[:, :19], flat[:, 19:]
    )
    return dx.reshape(*states.shape[:2], 36)


def drift_row(motion: str, backend: str, device: str, drifts: Sequence[Drift]) -> dict[str, Any]:
    """One row of the table: errors at the horizon's end, the force's and cost's over all of it."""
    values: dict[str, Any] = {
        "motion": motion, "backend": backend, "device": device, "searches": len(drifts),
        "candidates": sum(len(drift.cost) for drift in drifts),
    }  # fmt: skip
    quantities = (
        ("position_m", "position"), ("joints_rad", "joints"), ("velocity_m_s", "velocity"),
    )  # fmt: skip
    for key, field in quantities:
        values |= _quantiles(key, np.concatenate([getattr(d, field)[:, -1] for d in drifts]))
    values |= _quantiles("force_N", np.concatenate([drift.force.ravel() for drift in drifts]))
    cost = np.concatenate([drift.cost for drift in drifts])
    values |= _quantiles("cost_relative", cost)
    lost = [drift.lost for drift in drifts]
    return values | {
        "far_off": int((cost > FAR_OFF).sum()),
        "same_finite": all(drift.same_finite for drift in drifts),
        "same_choice": float(np.mean([drift.same_choice for drift in drifts])),
        "cost_lost_mean": float(np.mean(lost)),
        "cost_lost_worst": float(max(lost)),
    }


def _quantiles(key: str, values: Array) -> dict[str, float]:
    quantiles = {f"{key}_p{q}": float(np.percentile(values, q)) for q in QUANTILES}
    return quantiles | {f"{key}_worst": float(values.max())}


def figure_of(times: Array, drifts: Mapping[tuple[str, str, str], Sequence[Drift]]) -> Figure:
    """Median (solid) and 99 % (dashed) over candidates, by (motion, backend, device).

    `times` (N+1,) [s] of the knots.
    """
    panels, motions = [], dict.fromkeys(motion for motion, _, _ in drifts)
    for field, label in (("position", "base position [m]"), ("joints", "farthest joint [rad]")):
        for motion in motions:
            errors = {
                f"{name} ({device})": np.concatenate([getattr(each, field) for each in rolled])
                for (of, name, device), rolled in drifts.items()
                if of == motion
            }
            curves = {
                f"{mark}{name}": over(times, np.percentile(found, q, axis=0).clip(_FLOOR),
                                      color=f"C{i}", linestyle=line)
                for i, (name, found) in enumerate(errors.items())
                for mark, q, line in (("", 50, "-"), ("_", 99, "--"))
            }  # fmt: skip
            panels.append(Panel(curves, "time [s]", label,
                                settings={"yscale": "log", "title": motion}))  # fmt: skip
    return draw(*panels, columns=len(motions), width=2.5, height=2.3)


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
    contenders = find_contenders(judge)
    drifts: dict[tuple[str, str, str], list[Drift]] = {}
    for case in options.track(cases, lambda case: case.motion):
        expected = judge.roll_out(case.x0, case.policies)
        for contender in contenders:
            rolled = contender.roll_out(case.x0, case.policies)
            key = (case.motion, contender.name, contender.device)
            drifts.setdefault(key, []).append(compare(case, rolled, expected))
    rows = [drift_row(*key, members) for key, members in drifts.items()]
    times = PERIOD * np.arange(KNOTS + 1, dtype=np.float64)
    return StudyResult(rows, {"rollout-drift": figure_of(times, drifts)}, SHOWN, 2)


def find_contenders(judge: ThreadedRollout) -> list[Contender]:
    """Every backend to compare; says what is not here.

    Without a GPU, warp is measured on Warp's CPU device, which runs the same kernels sequentially;
    a GPU sums in another order.
    """
    contenders = [Contender(ROUNDED, "cpu", judge)]
    for device in ("cpu", "auto"):
        try:
            from sim_bridge.rollouts.warp_rollout import WarpRollout

            rollout = WarpRollout(load_robot("a1"), PERIOD, SUBSTEPS, WarpOptions(device=device))
        except Unavailable as error:
            say(f"warp ({device}) is not measured: {error}")
            continue
        if rollout.device not in [contender.device for contender in contenders[1:]]:
            contenders.append(Contender("warp", rollout.device, rollout))
    return contenders
