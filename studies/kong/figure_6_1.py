"""The nine candidates of a line search while the A1 flips backwards and is pushed sideways.

Figure 6.1. The thesis prints the push of 0.5 m/s and the number of candidates; when the push comes
is chosen here: late in the take-off. A candidate is a step size of the backward pass's policy;
the ninth is the trajectory before the step. Other than in the launch `backflip`, the horizon
reaches beyond the landing, all step sizes are tried at once, and the planner keeps no limits.
continuation is the cost of the previous plan's continuation from the state after the push;
deviation_m is how far the flip goes aside.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import mujoco
import numpy as np
from matplotlib.figure import Figure

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
from studies.figures import COLOURS, Panel, Styled, draw, over
from studies.study import Criterion, Progress, Row, StudyOptions, StudyResult, study

CANDIDATES = 9
INSTANTS = (10, 30, 45, 60, 70, 80)  # knots
SIDES = {"from the side": (0, 1.0), "from behind": (1, -1.0)}  # the axis to the right, its sign
REACH, HEIGHTS = 0.48, (-0.06, 1.14)  # of a picture, from its middle to its edge and up [m]
PERIOD = 0.01  # of the planner's knots [s]
PUSH_AT = 0.45  # [s]: late in the take-off, so that the legs can still answer
PUSH = 0.5  # to the left [m/s]
STEP_SIZES = [1.0, 0.7, 0.49, 0.343, 0.24, 0.118, 0.058, 0.014]
KNOTS = 80  # of the horizon: from the push to past the landing
LOW, TILTED, FAST = 0.05, 0.1, 0.1  # beyond which the A1 does not stand [m], [rad], [m/s]


class Search(NamedTuple):
    """The first line search after the push: C candidates over N knots.

    The last one has step size zero: the trajectory before the step.
    """

    begin: float  # of the horizon [s]
    step_sizes: Array  # (C,), descending
    costs: Array  # (C,), as the planner's message has them
    repeated_costs: Array  # (C,) of the same candidates, rolled out again
    states: Array  # (C, N+1, 37) of those
    continuation: float  # cost of the previous plan's continuation from the state after the push


@study("Kong, figure 6.1", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row for each candidate, from the largest step size to zero; no cost where it diverged.

    Costs that differ when rolled out again would mean that the poses are not the planner's.
    """
    # All step sizes at once and no limits, as in the thesis.
    push = f"[{{kind: base_velocity, at: {PUSH_AT}, value: [0.0, {PUSH}, 0.0]}}]"
    config = load_launch("backflip", (
        f"perturbations={push}", f"simulation.seed={options.seed}", f"hilqr.knots={KNOTS}",
        "hilqr.paused.line_search=exhaustive", f"hilqr.paused.step_sizes={STEP_SIZES}",
        "hilqr.limits.penalty=0", AT_ORIGIN,
    ))  # fmt: skip
    search, end = pushed_flip(config, options.progress)
    costs, best = search.costs, search.costs.min()
    rows = [
        {
            "step_size": size, "cost": cost, "change_percent": 100.0 * (cost / costs[-1] - 1.0),
            "height_m": states[-1, 2], "lateral_m": states[-1, 1], "chosen": cost == best,
            "continuation": search.continuation,
            "deviation_m": end["max_lateral_deviation_m"]
        }
        for size, cost, states in zip(search.step_sizes, costs, search.states, strict=True)
    ]  # fmt: skip
    criteria = [Criterion(*each) for each in (
        ("candidates", len(costs), ">=", CANDIDATES),
        ("candidates whose cost differs when rolled out again",
         np.sum(search.repeated_costs != costs), "<=", 0),
        ("cost of the chosen candidate over that of the previous plan's continuation",
         best / search.continuation, "<", 1.0),
        ("turns backwards", -end["turns"], ">", 0.95),
        ("falls, or touches of the trunk", end["fell"] + end["touched"], "<=", 0),
        ("stands at the end", end["stands"], ">=", 1)
    )]  # fmt: skip
    columns = "step_size, cost, change_percent, height_m, lateral_m, chosen"
    return StudyResult(rows, {"figure-6.1": flip_figure(search)}, columns, criteria)


def pushed_flip(config: LaunchConfig, progress: Progress) -> tuple[Search, Row]:
    """Run a launch to its end: the first line search after `PUSH_AT`, and the run's summary.

    With it are the turns of the trunk about its lateral axis, backwards negative; whether the trunk
    touched the ground; and whether the A1 stands at the end: upright, at its height and at rest.

    Raises:
        ValueError: no line was searched after the push.
    """
    run = LockStep(config)
    planner = cast(HilqrPlanner, run.planner)
    backend: Any = planner.model.backend
    roll_out, requests, searches = backend.roll_out, [], list[Search]()
    end: Row = {"turns": 0.0, "touched": False}

    def logged(x0: Array, policies: Policies) -> RolloutResult:
        requests.append((x0.copy(), policies))
        return roll_out(x0, policies)

    def follow(tick: Tick) -> None:
        truth, plan = tick.truth, tick.plan
        end["turns"] += 1e-3 * truth.v[4]
        end["touched"] |= truth.trunk_contact
        if tick.search is not None and plan is not None and truth.time > PUSH_AT and not searches:
            # The candidates are rolled out again; the planner still tracks this plan's window.
            taken, sizes = list(requests), tick.search.step_sizes
            single = [planner.model.roll_out(*each) for each in taken if each[1].count == 1]
            first = next(each for each in taken if each[1].count == len(sizes) - 1)
            steps: Rollouts = planner.model.roll_out(*first)
            start = min(single, key=lambda rolled: rolled.valid_costs()[0])  # of the solve
            searches.append(Search(
                plan.time, sizes, tick.search.costs[0],
                np.append(steps.valid_costs(), start.valid_costs()),
                np.concatenate([steps.states, start.states]),
                single[0].valid_costs()[0]
            ))  # fmt: skip
        requests.clear()
        if truth.tick % 100 == 0:
            progress(truth.tick, config.ticks, "flip")

    backend.roll_out = logged
    end |= run.run(follow).summary()
    progress(config.ticks, config.ticks, "done")
    if not searches:
        raise ValueError("no line was searched after the push")
    truth = run.simulation.truth()
    up = rotation_from_quaternion(truth.q[3:7])[2, 2]
    end["turns"] /= 2.0 * np.pi
    end["stands"] = (
        abs(truth.q[2] - load_robot("a1").stand_height) < LOW
        and np.arccos(np.clip(up, -1.0, 1.0)) < TILTED
        and np.linalg.norm(truth.v[:3]) < FAST
    )
    return searches[0], end


def skeletons(states: Array) -> list[list[Array]]:
    """The A1 in configurations (k, 19): lines of points in world [m], its legs and its hips."""
    model = load_mujoco(load_robot("a1"))
    data, found = mujoco.MjData(model), []
    for q in states:
        data.qpos[:] = mujoco_from_pinocchio(q, np.zeros(18))[0]
        mujoco.mj_kinematics(model, data)
        legs = [
            np.array([*(data.body(f"{foot}_{part}").xpos for part in ("hip", "thigh", "calf")),
                      data.geom(f"{foot}_foot").xpos])
            for foot in FOOT_NAMES
        ]  # fmt: skip
        found.append([*legs, np.array([legs[i][0] for i in (0, 1, 3, 2, 0)])])
    return found


def flip_figure(flip: Search) -> Figure:
    """Two rows of pictures, from the side and from behind, and the costs.

    The chosen candidate and the one before the step stand out.
    """
    looks = [(COLOURS["initial"], 0.6)] * (len(flip.costs) - 1) + [("black", 0.9)]
    looks[np.argmin(flip.costs)] = COLOURS["dxr"], 1.2
    drawn, panels = {knot: skeletons(flip.states[:, knot, :19]) for knot in INSTANTS}, []
    for side, (axis, sign) in SIDES.items():
        for knot, candidates in drawn.items():
            curves = {
                f"_{i}": Styled([line[:, [axis, 2]] * (sign, 1.0) for line in lines],
                                {"color": colour, "linewidth": width, "zorder": width})
                for i, (lines, (colour, width)) in enumerate(zip(candidates, looks, strict=True))
            }  # fmt: skip
            since = 1e3 * (flip.begin + knot * PERIOD - PUSH_AT)
            middle = sign * np.mean(flip.states[:, knot, axis])
            look = {"aspect": "equal", "title": f"push + {since:.0f} ms", "ylim": HEIGHTS,
                    "xlim": (middle - REACH, middle + REACH)}  # fmt: skip
            panels.append(Panel(curves, side, "height [m]", ((), (0.0,)), look))
    panels.append(Panel({"_": over(flip.step_sizes, flip.costs, marker="o")}, "step size", "cost"))
    return draw(*panels, columns=len(INSTANTS), width=2.0, height=2.4)
