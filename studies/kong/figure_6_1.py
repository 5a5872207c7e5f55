"""The nine candidates of a line search while the A1 flips backwards and is pushed sideways.

Figure 6.1. The thesis prints the push of 0.5 m/s and the number of candidates; when the push comes
is chosen here: late in the take-off. A candidate is a step size of the backward pass's policy;
the ninth is the trajectory before the step. Other than in the launch `backflip`, the horizon
reaches beyond the landing, all step sizes are tried at once, and the planner keeps no limits.
continuation is the cost of the previous plan's continuation from the state after the push, and
plan_cost that of the plan after all iterations; deviation_m is how far the flip goes aside.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple, cast

import mujoco
import numpy as np
from matplotlib.figure import Figure
from scipy.spatial import ConvexHull

from controller.hilqr_planner import HilqrPlanner
from controller.robot_model import RolloutResult
from robots.conventions import FOOT_NAMES
from robots.mujoco_model import load_mujoco
from robots.robot import load_robot
from robots.rotations import rotation_from_quaternion
from robots.state import mujoco_from_pinocchio
from saltation.hilqr import Policies, Rollouts
from saltation.systems import Array
from saltus.configuration.launch import AT_ORIGIN, LaunchConfig, load_launch
from saltus.launch.lock_step import LockStep, Tick
from studies.figures import COLOURS, figure
from studies.study import Criterion, Progress, Row, StudyOptions, StudyResult, silent, study

CANDIDATES = 9
INSTANTS = (10, 30, 45, 60, 70, 80)  # knots
SIDES = {"from the side": [0, 2], "from behind": [1, 2]}  # axes to the right and up
REACH = 0.48  # from the middle of a picture to its edge [m]
TOP, BOTTOM = 1.14, -0.06  # of a picture [m]
PERIOD = 0.01  # of the planner's knots [s]
SHOWN = {
    "step_size": "step size", "cost": "cost", "change_percent": "change [%]",
    "height_m": "height [m]", "lateral_m": "lateral [m]", "chosen": "chosen",
}  # fmt: skip


PUSH_AT = 0.45  # [s]: late in the take-off, so that the legs can still answer
PUSH = 0.5  # to the left [m/s]
STEP_SIZES = [1.0, 0.7, 0.49, 0.343, 0.24, 0.118, 0.058, 0.014]
KNOTS = 80  # of the horizon: from the push to past the landing
LOW, TILTED, FAST = 0.05, 0.1, 0.1  # beyond which the A1 does not stand [m], [rad], [m/s]


class Flip(NamedTuple):
    """How a flip went, and the candidates of the first line search after the push.

    There are C of them over N knots. The last one has step size zero: the trajectory before the
    step.

    Attributes:
        begin: of the horizon [s].
        step_sizes: (C,), descending.
        costs: (C,), as the planner's message has them.
        repeated_costs: (C,) of the same candidates, rolled out again.
        states: (C, N+1, 37) of those.
        continuation: cost of the previous plan's continuation from the state after the push.
        plan_cost: of the plan after all iterations.
        turns: of the trunk about its lateral axis; backwards is negative.
        trunk_touched: the trunk touched the ground.
        fell: as every run is judged.
        stands: at the end it is upright, at its height and at rest.
        deviation: most that it went aside [m].
    """

    begin: float
    step_sizes: Array
    costs: Array
    repeated_costs: Array
    states: Array
    continuation: float
    plan_cost: float
    turns: float
    trunk_touched: bool
    fell: bool
    stands: bool
    deviation: float


@study("Kong, figure 6.1", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row for each candidate."""
    flip = pushed_flip(flip_config(options.seed), options.progress)
    figures = {"figure-6.1": flip_figure(flip)}
    return StudyResult(rows_of(flip), figures, SHOWN, digits=3, criteria=criteria(flip))


def rows_of(flip: Flip) -> list[Row]:
    """The rows, from the largest step size to zero; no cost where a candidate diverged."""
    rows, before, chosen = [], float(flip.costs[-1]), int(np.argmin(flip.costs))
    for candidate, (size, cost) in enumerate(zip(flip.step_sizes, flip.costs, strict=True)):
        finite, end = bool(np.isfinite(cost)), flip.states[candidate, -1]
        rows.append({
            "step_size": float(size),
            "cost": float(cost) if finite else None,
            "change_percent": 100.0 * (float(cost) / before - 1.0) if finite else None,
            "height_m": float(end[2]),
            "lateral_m": float(end[1]),
            "chosen": candidate == chosen,
            "begin": flip.begin,
            "continuation": flip.continuation,
            "plan_cost": flip.plan_cost,
            "deviation_m": flip.deviation,
        })  # fmt: skip
    return rows


def criteria(flip: Flip) -> list[Criterion]:
    """What the figure shows: nine candidates, one better than going on, and a flip that succeeds.

    Costs that differ when rolled out again would mean that the poses are not the planner's.
    """
    differences = int(np.sum(flip.repeated_costs != flip.costs))
    return [Criterion(*each) for each in (
        ("candidates", len(flip.costs), ">=", CANDIDATES),
        ("candidates whose cost differs when rolled out again", differences, "<=", 0),
        ("cost of the chosen candidate over that of the previous plan's continuation",
         float(flip.costs.min()) / flip.continuation, "<", 1.0),
        ("turns backwards", -flip.turns, ">", 0.95),
        ("falls, or touches of the trunk", int(flip.fell) + int(flip.trunk_touched), "<=", 0),
        ("stands at the end", int(flip.stands), ">=", 1),
    )]  # fmt: skip


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
    backend: Any = planner.model.backend
    roll_out, requests, searches = backend.roll_out, [], list[Any]()
    turned, touched = 0.0, False

    def logged(x0: Array, policies: Policies) -> RolloutResult:
        requests.append((x0.copy(), policies))
        return roll_out(x0, policies)

    def follow(tick: Tick) -> None:
        nonlocal turned, touched
        truth, plan = tick.truth, tick.plan
        turned += 1e-3 * truth.v[4]
        touched = touched or truth.trunk_contact
        if tick.search is not None and plan is not None and truth.time > PUSH_AT and not searches:
            # The candidates are rolled out again; the planner still tracks this plan's window.
            taken, sizes = list(requests), tick.search.step_sizes
            single = [planner.model.roll_out(*each) for each in taken if each[1].count == 1]
            first = next(each for each in taken if each[1].count == len(sizes) - 1)
            steps: Rollouts = planner.model.roll_out(*first)
            start = min(single, key=lambda rolled: rolled.valid_costs()[0])  # of the solve
            searches.append((
                plan.time, sizes, tick.search.costs[0],
                np.append(steps.valid_costs(), start.valid_costs()),
                np.concatenate([steps.states, start.states]),
                float(single[0].valid_costs()[0]), plan.cost,
            ))  # fmt: skip
        requests.clear()
        if truth.tick % 100 == 0:
            progress(truth.tick, config.ticks, "flip")

    backend.roll_out = logged
    summary = run.run(follow).summary()
    progress(config.ticks, config.ticks, "done")
    if not searches:
        raise ValueError("no line was searched after the push")
    truth = run.simulation.truth()
    up = rotation_from_quaternion(truth.q[3:7])[2, 2]
    stands = bool(
        abs(truth.q[2] - load_robot("a1").stand_height) < LOW
        and np.arccos(np.clip(up, -1.0, 1.0)) < TILTED
        and np.linalg.norm(truth.v[:3]) < FAST
    )
    rest = turned / (2.0 * np.pi), touched, summary["fell"], stands
    return Flip._make((*searches[0], *rest, summary["max_lateral_deviation_m"]))


def poses(states: Array) -> list[tuple[Array, Array]]:
    """The A1 in configurations (k, 19), points in world [m].

    Corners (2, 8, 3) of trunk and head, and (4, 4, 3) of trunk, hip, knee and foot of each leg.
    """
    model = load_mujoco(load_robot("a1"))
    data, found = mujoco.MjData(model), []
    corners = np.array(list(product((-1.0, 1.0), repeat=3)))
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
        found.append((np.array(boxes), np.array(legs)))
    return found


def flip_figure(flip: Flip) -> Figure:
    """Two rows of pictures, from the side and from behind, over the costs.

    Trunk and head are outlines, legs are lines. The chosen candidate and the one before the step
    stand out.
    """
    made, axes = figure(len(INSTANTS), 3, width=11.0, height=7.4)
    looks = [(COLOURS["initial"], 2.0)] * (len(flip.costs) - 1) + [("black", 3.0)]
    looks[int(np.argmin(flip.costs))] = COLOURS["dxr"], 4.0
    for column, knot in enumerate(INSTANTS):
        candidates = poses(flip.states[:, knot, :19])
        for panel, (side, view) in zip(axes[:, column], SIDES.items(), strict=False):
            for (boxes, legs), (colour, layer) in list(zip(candidates, looks, strict=True))[::-1]:
                look: Row = {"color": colour, "lw": 0.5 * layer, "zorder": layer, "alpha": 0.8}
                for box in boxes[:, :, view]:
                    panel.fill(*box[ConvexHull(box).vertices].T, fill=False, **look)
                for leg in legs[:, 1:, view]:
                    panel.plot(*leg.T, marker="o", markevery=[2], ms=layer, **look)
            middle = np.mean([boxes[0].mean(axis=0)[view[0]] for boxes, _ in candidates])
            panel.axhspan(BOTTOM, 0.0, color="0.88", zorder=0)
            panel.set(xlim=(middle - REACH, middle + REACH), ylim=(BOTTOM, TOP), aspect="equal",
                      xticks=[], yticks=[], ylabel=side if column == 0 else "")  # fmt: skip
            if view[0] == 1:
                panel.invert_xaxis()  # its left is on the left
        since = 1e3 * (flip.begin + knot * PERIOD - PUSH_AT)
        axes[0, column].set_title(f"push + {since:.0f} ms")
        axes[2, column].remove()
    bars = made.add_subplot(axes[2, 0].get_gridspec()[2, :])
    sizes, costs = flip.step_sizes[::-1], flip.costs[::-1]
    shown = np.where(np.isfinite(costs), costs, 0.0)
    drawn = bars.bar(range(len(sizes)), shown, color=[colour for colour, _ in looks[::-1]])
    bars.bar_label(drawn, [f"{cost:.3g}" if np.isfinite(cost) else "diverged" for cost in costs])
    bars.set_xticks(range(len(sizes)), [f"{size:g}" if size else "0\n(before)" for size in sizes])
    bars.set(xlabel="step size", ylabel="cost")
    return made
