"""The nine candidates of a line search while the A1 flips backwards and is pushed sideways.

Figure 6.1. The thesis prints the push of 0.5 m/s and the number of candidates; when the push comes
is chosen here: late in the take-off. A candidate is a step size of the backward pass's policy;
the ninth is the trajectory before the step. Other than in the launch `backflip`, the horizon
reaches beyond the landing, all step sizes are tried at once, and the planner keeps no limits.
continuation is the cost of the previous plan's continuation from the state after the push, and
plan_cost that of the plan after all iterations; deviation_m is how far the flip goes aside.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import mujoco
import numpy as np
from matplotlib.figure import Figure
from scipy.spatial import ConvexHull

from controller.hilqr_planner import HilqrPlanner
from controller.robot_model import RolloutBackend, RolloutResult
from hybrid.hilqr import Policies, Rollouts
from hybrid.systems import Array
from robots.conventions import FOOT_NAMES
from robots.mujoco_model import load_mujoco
from robots.robot import load_robot
from robots.rotations import rotation_from_quaternion
from robots.state import mujoco_from_pinocchio
from runtime.messages import GroundTruth
from saltus.configuration.launch import AT_ORIGIN, LaunchConfig, load_launch
from saltus.launch.lock_step import LockStep, Tick
from studies.figures import COLOURS, figure
from studies.study import Criterion, Progress, StudyOptions, StudyResult, silent, study

CANDIDATES = 9
INSTANTS = (10, 30, 45, 60, 70, 80)  # knots
SIDES = {"from the side": (0, 2), "from behind": (1, 2)}  # axes to the right and up
REACH = 0.48  # from the middle of a picture to its edge [m]
TOP, BOTTOM = 1.14, -0.06  # of a picture [m]
BEFORE = 0.0  # step size of the trajectory before the step
SHOWN = {
    "step_size": "step size", "cost": "cost", "change_percent": "change [%]",
    "height_m": "height [m]", "lateral_m": "lateral [m]", "chosen": "chosen",
}  # fmt: skip


@study("Kong, figure 6.1", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row for each candidate."""
    flip = pushed_flip(flip_config(options.seed), options.progress)
    return StudyResult(
        rows_of(flip), {"figure-6.1": flip_figure(flip)}, columns=SHOWN, digits=3,
        criteria=criteria(flip),
    )


def rows_of(flip: Flip) -> list[dict[str, Any]]:
    """The rows, from the largest step size to zero; no cost where a candidate diverged."""
    search, rows = flip.search, []
    before = float(search.costs[-1])
    for candidate, (size, cost) in enumerate(zip(search.step_sizes, search.costs, strict=True)):
        finite, end = bool(np.isfinite(cost)), search.states[candidate, -1]
        rows.append({
            "step_size": float(size),
            "cost": float(cost) if finite else None,
            "change_percent": 100.0 * (float(cost) / before - 1.0) if finite else None,
            "height_m": float(end[2]),
            "lateral_m": float(end[1]),
            "chosen": candidate == search.chosen,
            "begin": search.begin,
            "continuation": search.continuation,
            "plan_cost": search.plan_cost,
            "deviation_m": flip.deviation,
        })  # fmt: skip
    return rows


def criteria(flip: Flip) -> list[Criterion]:
    """What the figure shows: nine candidates, one better than going on, and a flip that succeeds.

    Costs that differ when rolled out again would mean that the poses are not the planner's.
    """
    search = flip.search
    differences = search.repeated_costs != search.costs
    return [
        Criterion("candidates", len(search.costs), ">=", CANDIDATES),
        Criterion("candidates whose cost differs when rolled out again", int(differences.sum()),
                  "<=", 0),
        Criterion("cost of the chosen candidate over that of the previous plan's continuation",
                  float(search.costs.min()) / search.continuation, "<", 1.0),
        Criterion("turns backwards", -flip.turns, ">", 0.95),
        Criterion("falls, or touches of the trunk", int(flip.fell) + int(flip.trunk_touched),
                  "<=", 0),
        Criterion("stands at the end", int(flip.stands), ">=", 1),
    ]  # fmt: skip


PUSH_AT = 0.45  # [s]: late in the take-off, so that the legs can still answer
PUSH = 0.5  # to the left [m/s]
STEP_SIZES = [1.0, 0.7, 0.49, 0.343, 0.24, 0.118, 0.058, 0.014]
KNOTS = 80  # of the horizon: from the push to past the landing
LOW, TILTED, FAST = 0.05, 0.1, 0.1  # beyond which the A1 does not stand [m], [rad], [m/s]


class CandidateSet(NamedTuple):
    """The candidates of a plan's first line search, C of them over N knots.

    The last one has step size zero: the trajectory before the step.

    Attributes:
        begin: of the horizon [s].
        period: between knots [s].
        step_sizes: (C,), descending.
        costs: (C,), as the planner's message has them.
        repeated_costs: (C,) of the same candidates, rolled out again.
        states: (C, N+1, 37) of those.
        continuation: cost of the previous plan's continuation from the state after the push.
        plan_cost: of the plan after all iterations.
    """

    begin: float
    period: float
    step_sizes: Array
    costs: Array
    repeated_costs: Array
    states: Array
    continuation: float
    plan_cost: float

    @property
    def chosen(self) -> int:
        """The candidate that the planner takes."""
        return int(np.argmin(self.costs))


class RolloutLog:
    """A rollout backend that keeps the requests for rollouts."""

    def __init__(self, backend: RolloutBackend) -> None:
        """Pass requests on to `backend`."""
        self._backend = backend
        self.requests: list[tuple[Array, Policies]] = []

    def __getattr__(self, name: str) -> Any:
        """All but the rollouts is the backend's own."""
        return getattr(self._backend, name)

    def roll_out(self, x0: Array, policies: Policies) -> RolloutResult:
        """Roll out, and keep x0 (37,) and the policies."""
        self.requests.append((x0.copy(), policies))
        return self._backend.roll_out(x0, policies)

    def take(self) -> list[tuple[Array, Policies]]:
        """The requests since the last call."""
        taken, self.requests = self.requests, []
        return taken


def roll_out_again(
    planner: HilqrPlanner, tick: Tick, requests: list[tuple[Array, Policies]]
) -> CandidateSet:
    """Roll the candidates out again; the planner still tracks the window of this plan."""
    assert tick.search is not None and tick.plan is not None
    count = len(tick.search.step_sizes) - 1
    single = [planner.model.roll_out(*each) for each in requests if each[1].count == 1]
    first = next(each for each in requests if each[1].count == count)
    steps: Rollouts = planner.model.roll_out(*first)
    start = min(single, key=lambda rollouts: rollouts.valid_costs()[0])  # where the solve began
    return CandidateSet(
        tick.plan.time, tick.plan.period, tick.search.step_sizes, tick.search.costs[0],
        np.append(steps.valid_costs(), start.valid_costs()),
        np.concatenate([steps.states, start.states]),
        float(single[0].valid_costs()[0]), tick.plan.cost,
    )  # fmt: skip


class Flip(NamedTuple):
    """How a flip went.

    Attributes:
        search: the first one after the push.
        turns: of the trunk about its lateral axis; backwards is negative.
        trunk_touched: the trunk touched the ground.
        fell: as every run is judged.
        stands: at the end it is upright, at its height and at rest.
        deviation: most that it went aside [m].
    """

    search: CandidateSet
    turns: float
    trunk_touched: bool
    fell: bool
    stands: bool
    deviation: float


def flip_config(seed: int) -> LaunchConfig:
    """The launch `backflip` with the push, as in the thesis: all step sizes at once, no limits."""
    push = f"[{{kind: base_velocity, at: {PUSH_AT}, value: [0.0, {PUSH}, 0.0]}}]"
    return load_launch("backflip", (
        f"perturbations={push}", f"simulation.seed={seed}", f"hilqr.knots={KNOTS}",
        "hilqr.paused.line_search=exhaustive", f"hilqr.paused.step_sizes={STEP_SIZES}",
        "hilqr.limits.penalty=0", AT_ORIGIN,
    ))  # fmt: skip


def pushed_flip(config: LaunchConfig, progress: Progress = silent) -> Flip:
    """Run a launch to its end, and keep the first line search after `PUSH_AT`.

    Raises:
        ValueError: no line was searched after the push.
    """
    run = LockStep(config)
    planner = cast(HilqrPlanner, run.planner)
    log = RolloutLog(planner.model.backend)
    planner.model.backend = cast(RolloutBackend, log)
    searches: list[CandidateSet] = []
    turned, touched = 0.0, False

    def follow(tick: Tick) -> None:
        nonlocal turned, touched
        truth = tick.truth
        turned += 1e-3 * truth.v[4]
        touched = touched or truth.trunk_contact
        requests = log.take()
        if tick.search is not None and truth.time > PUSH_AT and not searches:
            searches.append(roll_out_again(planner, tick, requests))
            log.take()  # of the candidates rolled out again
        if truth.tick % 100 == 0:
            progress(truth.tick, config.ticks, "flip")

    metrics = run.run(follow)
    progress(config.ticks, config.ticks, "done")
    if not searches:
        raise ValueError("no line was searched after the push")
    summary = metrics.summary()
    return Flip(
        searches[0], turned / (2.0 * np.pi), touched, summary["fell"],
        _stands(run.simulation.truth()), summary["max_lateral_deviation_m"],
    )  # fmt: skip


def _stands(truth: GroundTruth) -> bool:
    up = rotation_from_quaternion(truth.q[3:7])[2, 2]
    return bool(
        abs(truth.q[2] - load_robot("a1").stand_height) < LOW
        and np.arccos(np.clip(up, -1.0, 1.0)) < TILTED
        and np.linalg.norm(truth.v[:3]) < FAST
    )


class Pose(NamedTuple):
    """Points in world [m]: corners (8, 3) of trunk and head; trunk, hip, knee, foot of each leg."""

    boxes: Array  # (2, 8, 3)
    legs: Array  # (4, 4, 3)


def poses(states: Array) -> list[Pose]:
    """The A1's parts in configurations (k, 19)."""
    model = load_mujoco(load_robot("a1"))
    data, found = mujoco.MjData(model), []
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    for q in states:
        data.qpos[:] = mujoco_from_pinocchio(q, np.zeros(18))[0]
        mujoco.mj_kinematics(model, data)
        boxes = [
            data.geom(name).xpos
            + (corners * model.geom(name).size) @ data.geom(name).xmat.reshape(3, 3).T
            for name in ("trunk_body", "head_body")
        ]
        legs = [
            [*(data.body(f"{foot}_{part}").xpos.copy() for part in ("hip", "thigh", "calf")),
             data.geom(f"{foot}_foot").xpos.copy()]
            for foot in FOOT_NAMES
        ]  # fmt: skip
        found.append(Pose(np.array(boxes), np.array(legs)))
    return found


def flip_figure(flip: Flip) -> Figure:
    """Two rows of pictures, from the side and from behind, over the costs."""
    search = flip.search
    made, axes = figure(len(INSTANTS), 3, width=11.0, height=7.4)
    for column, knot in enumerate(INSTANTS):
        candidates = poses(search.states[:, knot, :19])
        for panel, (side, view) in zip(axes[:, column], SIDES.items(), strict=False):
            for pose, size in reversed(list(zip(candidates, search.step_sizes, strict=True))):
                _robot(panel, pose, list(view), *_look(search, size))
            middle = np.mean([pose.boxes[0].mean(axis=0)[view[0]] for pose in candidates])
            panel.axhspan(BOTTOM, 0.0, color="0.88", zorder=0)
            panel.set(xlim=(middle - REACH, middle + REACH), ylim=(BOTTOM, TOP), aspect="equal",
                      xticks=[], yticks=[], ylabel=side if column == 0 else "")  # fmt: skip
            if view[0] == 1:
                panel.invert_xaxis()  # its left is on the left
        since = 1e3 * (search.begin + knot * search.period - PUSH_AT)
        axes[0, column].set_title(f"push + {since:.0f} ms")
        axes[2, column].remove()
    bars = made.add_subplot(axes[2, 0].get_gridspec()[2, :])
    sizes, costs = search.step_sizes[::-1], search.costs[::-1]
    shown = np.where(np.isfinite(costs), costs, 0.0)
    drawn = bars.bar(range(len(sizes)), shown, color=[_look(search, size)[0] for size in sizes])
    bars.bar_label(drawn, [f"{cost:.3g}" if np.isfinite(cost) else "diverged" for cost in costs])
    bars.set_xticks(range(len(sizes)), [f"{size:g}" if size else "0\n(before)" for size in sizes])
    bars.set(xlabel="step size", ylabel="cost")
    return made


def _look(search: CandidateSet, size: float) -> tuple[str, float]:
    """Colour and layer of a candidate: the chosen one and the one before the step stand out."""
    if size == search.step_sizes[search.chosen]:
        return COLOURS["dxr"], 4.0
    return ("black", 3.0) if size == BEFORE else (COLOURS["initial"], 2.0)


def _robot(axes: Any, pose: Pose, view: list[int], colour: str, layer: float) -> None:
    """Trunk and head as outlines, legs as lines."""
    look: dict[str, Any] = {"color": colour, "lw": 0.5 * layer, "zorder": layer, "alpha": 0.8}
    for box in pose.boxes[:, :, view]:
        axes.fill(*box[ConvexHull(box).vertices].T, fill=False, **look)
    for leg in pose.legs[:, 1:, view]:
        axes.plot(*leg.T, marker="o", markevery=[2], ms=layer, **look)
