"""Figures of the convergent-hybrid study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from hybrid.systems import Array
from studies.figures import COLOURS as LOOK
from studies.figures import figure
from studies.kong.convergent_hybrid.cases import SECONDS, Kind, SolvedTask
from studies.kong.convergent_hybrid.spread import Ends, circle_starts

COLOURS: dict[Kind, str] = {
    "plain": LOOK["seed"],
    "convergent": LOOK["xi"],
    "dxr": LOOK["dxr"],
}
LABELS: dict[Kind, str] = {
    "plain": "HiLQR",
    "convergent": r"with a cost on $\Phi$",
    "dxr": r"with $D_xR$ in $\Phi$",
}
_CM = 100.0


def draw_bundles(plans: Sequence[SolvedTask], bundles: Sequence[Ends]) -> Figure:
    """Heights, their deviations from the plan for a circle of starts, and forces, by plan."""
    drawing, axes = figure(
        columns=len(plans), rows=3, width=3.4 * len(plans), height=6.2, sharex=True, sharey="row",
        height_ratios=(3, 3, 2), squeeze=False,
    )  # fmt: skip
    for column, plan, ends in zip(axes.T, plans, bundles, strict=True):
        time = plan.task.timestep * np.arange(plan.task.steps + 1)
        colour = COLOURS[plan.kind]
        column[0].plot(time, ends.heights.T, color=colour, lw=0.4, alpha=0.6)
        column[0].plot(time, plan.trajectory.states[:, 0], color="black", lw=0.9)
        column[1].plot(time, _CM * ends.deviations[:, :, 0].T, color=colour, lw=0.5, alpha=0.8)
        column[2].plot(time, plan.trajectory.states[:, 2], color=colour, lw=1.4)
        for panel in column:
            _mark_events(panel, plan)
        column[0].set_title(LABELS[plan.kind], color=colour)
        column[2].set_xlabel("time [s]")
    for panel, label in zip(
        axes[:, 0], ("height [m]", "distance from the plan [cm]", "force [N]"), strict=True
    ):
        panel.set_ylabel(label)
    return drawing


def draw_clouds(
    plans: Sequence[SolvedTask], clouds: Sequence[Ends], circles: Sequence[Ends]
) -> Figure:
    """Where perturbed starts end, off the plan's end, and the growth of their spread over time."""
    count = len(plans)
    drawing, axes = figure(columns=count + 1, width=2.6 * count + 3.4, height=3.2,
                           width_ratios=(*[1.0] * count, 1.3))  # fmt: skip
    reach = _CM * 1.1 * max(float(np.max(abs(ends.end), initial=1e-3)) for ends in clouds)
    start = _CM * circle_starts() @ np.diag([1.0, SECONDS])
    for panel, plan, ends, ring in zip(axes, plans, clouds, circles, strict=False):
        colour = COLOURS[plan.kind]
        panel.plot(*(_CM * ends.end).T, ".", color=colour, ms=3, alpha=0.6)
        panel.plot(*_closed(start), color="black", lw=0.8, ls=":", label="start")
        panel.plot(*_closed(_CM * ring.end), color="black", lw=1.0, label="end")
        panel.plot(
            *_closed(_predicted(plan)), color="black", lw=1.0, ls="--", label=r"end, by $\Phi$"
        )
        panel.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="height [cm]")
        panel.set_title(LABELS[plan.kind], color=colour)  # fmt: skip
    axes[0].set_ylabel(f"velocity x {SECONDS:g} s [cm]")
    axes[0].legend(fontsize=7, frameon=False, loc="upper left")
    _draw_growth(axes[-1], plans, clouds)
    return drawing


def draw_trade_off(sweeps: Sequence[Sequence[SolvedTask]]) -> Figure:
    """Predicted spread against effort as the weight grows, one panel a system."""
    drawing, axes = figure(columns=len(sweeps), width=3.6 * len(sweeps), height=3.0, squeeze=False)
    for panel, plans in zip(axes[0], sweeps, strict=True):
        effort = [plan.effort for plan in plans]
        spread = [_CM * np.sqrt(plan.predicted_trace) for plan in plans]
        panel.plot(effort, spread, "o-", color=COLOURS["convergent"], ms=4)
        for i, plan in enumerate(plans):
            above = {"xytext": (3, 5 if i % 2 == 0 else -11), "textcoords": "offset points"}
            panel.annotate(f"w = {plan.weight:g}", (effort[i], spread[i]), fontsize=7, **above)
        panel.set(title=plans[0].task.name, xlabel=r"effort [N$^2$ s]")
        panel.margins(x=0.2, y=0.15)
    axes[0, 0].set_ylabel("spread at the end [cm]")
    return drawing


def _draw_growth(panel: Any, plans: Sequence[SolvedTask], clouds: Sequence[Ends]) -> None:
    """Root of the covariance's trace: lines by Phi, dots where all samples have the plan's mode."""
    for plan, ends in zip(plans, clouds, strict=True):
        time = plan.task.timestep * np.arange(plan.task.steps + 1)
        predicted = np.sqrt(np.sum(plan.perturbations**2, axis=(1, 2)))
        together = np.flatnonzero(np.all(ends.modes == plan.trajectory.aux.knots, axis=0))[::5]
        sampled = np.sqrt(np.mean(np.sum(ends.deviations[:, together] ** 2, axis=2), axis=0))
        panel.plot(time, _CM * predicted, lw=1.2, color=COLOURS[plan.kind])
        panel.plot(time[together], _CM * sampled, ".", ms=4, color=COLOURS[plan.kind])
    _mark_events(panel, plans[0])
    panel.set(xlabel="time [s]", ylabel="spread [cm]", yscale="log")
    panel.set_yticks([2, 5, 10, 20], ["2", "5", "10", "20"])
    panel.minorticks_off()
    panel.set_title("lines by $\\Phi$, dots sampled")


def _mark_events(panel: Any, plan: SolvedTask) -> None:
    for happened in plan.trajectory.aux.events:
        if happened.event.transition.name != "apex":  # where nothing switches
            panel.axvline(happened.event.time, color="black", lw=0.5, ls="--")


def _predicted(plan: SolvedTask) -> Array:
    """Image of the circle of one standard deviation by W Phi V, [cm]."""
    angles = np.linspace(0.0, 2.0 * np.pi, 100)
    return _CM * np.stack((np.cos(angles), np.sin(angles)), axis=1) @ plan.perturbations[-1].T


def _closed(points: Array) -> Array:
    """Coordinates (2, K + 1) of a polygon (K, 2)."""
    return np.concatenate((points, points[:1])).T
