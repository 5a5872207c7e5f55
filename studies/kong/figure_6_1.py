"""The nine candidates of a line search while the A1 flips backwards and is pushed sideways.

Figure 6.1. The thesis prints the push of 0.5 m/s and the number of candidates; when the push comes
is chosen here: late in the take-off. A candidate is a step size of the backward pass's policy;
the ninth is the trajectory before the step. Other than in the launch `backflip`, the horizon
reaches beyond the landing, all step sizes are tried at once, and the planner keeps no limits.
continuation is the cost of the previous plan's continuation from the state after the push, and
plan_cost that of the plan after all iterations; deviation_m is how far the flip goes aside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from studies.figures import COLOURS, figure
from studies.kong.backflip.flip import PUSH_AT, CandidateSet, Flip, flip_config, pushed_flip
from studies.kong.backflip.poses import Pose, PoseFinder, outline
from studies.study import Criterion, StudyOptions, StudyResult, study

CANDIDATES = 9
INSTANTS = (10, 30, 45, 60, 70, 80)  # knots
SIDES = {"from the side": (0, 2), "from behind": (1, 2)}  # axes to the right and up
REACH = 0.48  # from the middle of a picture to its edge [m]
TOP, BOTTOM = 1.14, -0.06  # of a picture [m]
BEFORE = 0.0  # step size of the trajectory before the step
_CHOSEN, _BEFORE = COLOURS["dxr"], "black"
_GHOSTS = colormaps["Blues"]
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


def flip_figure(flip: Flip) -> Figure:
    """Two rows of pictures, from the side and from behind, over the costs."""
    search = flip.search
    made, axes = figure(len(INSTANTS), 3, width=11.0, height=7.4,
                        gridspec_kw={"height_ratios": [1.35, 1.35, 1.0]})  # fmt: skip
    poses = _poses(search)
    for row, (side, (right, up)) in enumerate(SIDES.items()):
        for panel, knot in zip(axes[row], INSTANTS, strict=True):
            _picture(panel, search, poses[knot], right, up)
            if row == 0:
                since = 1e3 * (search.begin + knot * search.period - PUSH_AT)
                panel.set_title(f"push + {since:.0f} ms")
        axes[row][0].set_ylabel(side)
    for panel in axes[2]:
        panel.remove()
    _costs(made.add_subplot(axes[2][0].get_gridspec()[2, :]), search)
    return made


def colour_of(search: CandidateSet, candidate: int) -> Any:
    """Of a candidate: the chosen one and the one before the step stand out."""
    if candidate == search.chosen:
        return _CHOSEN
    if search.step_sizes[candidate] == BEFORE:
        return _BEFORE
    return _GHOSTS(0.35 + 0.6 * float(search.step_sizes[candidate]) ** 0.5)


def _poses(search: CandidateSet) -> dict[int, list[Pose]]:
    """Of every candidate at the instants shown, by knot."""
    poser = PoseFinder()
    return {k: [poser.pose(states[k, :19]) for states in search.states] for k in INSTANTS}


def _picture(axes: Any, search: CandidateSet, poses: list[Pose], right: int, up: int) -> None:
    """All candidates at one instant; the chosen one lies on top, then the one before the step."""

    def height(candidate: int) -> tuple[bool, bool, float]:
        size = float(search.step_sizes[candidate])
        return candidate == search.chosen, size == BEFORE, size

    order = sorted(range(len(poses)), key=height)
    for layer, candidate in enumerate(order):
        stands_out = candidate == search.chosen
        _robot(axes, poses[candidate], [right, up], colour_of(search, candidate),
               2.0 + layer, stands_out)  # fmt: skip
    middle = np.mean([pose.trunk.mean(axis=0)[right] for pose in poses])
    axes.axhspan(BOTTOM, 0.0, color="0.88", zorder=0)
    axes.set(xlim=(middle - REACH, middle + REACH), ylim=(BOTTOM, TOP), aspect="equal",
             xticks=[], yticks=[])  # fmt: skip
    if right == 1:
        axes.invert_xaxis()  # its left is on the left
    axes.spines[:].set_visible(False)


def _robot(
    axes: Any, pose: Pose, view: list[int], colour: Any, layer: float, stands_out: bool
) -> None:
    """Trunk and head as outlines, legs as lines."""
    width = 2.2 if stands_out else 1.2
    for box, alpha in ((pose.trunk, 0.10), (pose.head, 0.45)):
        x, y = outline(box[:, view]).T
        axes.fill(x, y, facecolor=(to_rgb(colour), alpha),
                  edgecolor=colour, linewidth=0.8 * width, zorder=layer)  # fmt: skip
    for leg in pose.legs[:, 1:, :]:
        axes.plot(*leg[:, view].T, color=colour, linewidth=width, zorder=layer,
                  marker="o", markevery=[2], markersize=1.8 * width,
                  solid_capstyle="round", solid_joinstyle="round")  # fmt: skip


def _costs(axes: Any, search: CandidateSet) -> None:
    """One bar a candidate, in the order of their step sizes."""
    order = np.argsort(search.step_sizes)
    for place, candidate in enumerate(order):
        cost = search.costs[candidate]
        if not np.isfinite(cost):
            axes.text(place, 0.0, "diverged", ha="center", va="bottom", fontsize=8)
            continue
        chosen = candidate == search.chosen
        axes.bar(place, cost, color=colour_of(search, candidate), width=0.7)
        axes.text(place, cost, f"{cost:.3g}" + (" (chosen)" if chosen else ""), ha="center",
                  va="bottom", fontsize=9, fontweight="bold" if chosen else "normal")  # fmt: skip
    axes.axhline(search.costs[-1], color=_BEFORE, linewidth=0.8, linestyle=":")
    names = [f"{search.step_sizes[c]:g}" for c in order]
    names[0] = "0\n(before the step)"
    axes.set_xticks(range(len(order)), names)
    axes.set(xlabel="step size", ylabel="cost")
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(y=0.1)
