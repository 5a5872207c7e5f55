"""Figure 6.4: the controlled ball in state space and its input, without and with the update."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from hybrid.systems import Array
from saltus.studies.kong.ball_mpc.receding_horizon import ClosedLoop
from saltus.studies.style import COLOURS, figure

_PLANS = 34  # drawn of each run
_PLAN = {"color": COLOURS["initial"], "linestyle": "--", "linewidth": 0.7}
_LEGEND = {"frameon": False, "fontsize": 7}
_END = {"color": COLOURS["initial"], "marker": "o", "markersize": 3.0, "fillstyle": "none",
        "linestyle": "none", "markeredgewidth": 0.7}  # fmt: skip
_ACTUAL = {"color": COLOURS["initial"], "linewidth": 1.6, "label": "executed"}
_TARGET = {"color": COLOURS["actual"], "linewidth": 1.2, "label": "target"}
_UNCONVERGED = {"color": COLOURS["final"], "alpha": 0.35, "linewidth": 0.0}


class Run(NamedTuple):
    """One row of the figure."""

    title: str
    loop: ClosedLoop


def draw(runs: Sequence[Run], target: Array, target_inputs: Array, timestep: float) -> Figure:
    """One row of axes for each run, from a target (N+1, 2), (N, 1) at a timestep [s]."""
    made, axes = figure(2, len(runs), width=7.2, height=2.6 * len(runs), squeeze=False)
    for row, (title, loop) in zip(axes, runs, strict=True):
        _state_space(row[0], loop, target)
        _inputs(row[1], loop, target_inputs, timestep)
        row[0].set_title(title, loc="left", fontsize=10)
    axes[0, 0].legend(**_LEGEND, loc="center", bbox_to_anchor=(0.3, 0.5))
    axes[0, 1].legend(**_LEGEND, loc="upper right")
    axes[-1, 0].set_xlabel("height [m]")
    axes[-1, 1].set_xlabel("time [s]")
    return made


def _state_space(axis: Any, loop: ClosedLoop, target: Array) -> None:
    """The target, what the ball did, and every so many of its plans."""
    axis.plot(*target.T, **_TARGET)
    axis.plot(*loop.states.T, **_ACTUAL)
    for i, plan in enumerate(loop.plans[:: max(1, len(loop.plans) // _PLANS)]):
        axis.plot(*plan.T, **_PLAN, label="plans" if i == 0 else None)
        axis.plot(*plan[-1], **_END)
    for states in (target, loop.states):
        axis.plot(*states[-1], color="black", marker="o", markersize=4.0, linestyle="none")
    axis.set_ylabel("velocity [m/s]")


def _inputs(axis: Any, loop: ClosedLoop, target_inputs: Array, timestep: float) -> None:
    """Inputs held over their timesteps; those of solves that did not converge on green."""
    times = timestep * np.arange(len(loop.inputs))
    axis.step(times, target_inputs[:, 0], where="post", **_TARGET)
    axis.step(times, loop.inputs[:, 0], where="post", **_ACTUAL)
    for i, time in enumerate(times[~loop.converged]):
        label = "did not converge" if i == 0 else None
        axis.axvspan(time, time + timestep, **_UNCONVERGED, label=label)
    axis.set_ylabel("input [N]")
