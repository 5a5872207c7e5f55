"""HiLQR MPC of a bouncing ball, with and without the hybrid cost update.

6.5.1, 6.6.1 and Figure 6.4. Printed are the reference (one bounce in 1 s, from rest at 4 m to rest
at 2.5 m), 1001 timesteps, a solve and its first input at each, and the cut-off |dJ| < 1e-4. Not
printed, and chosen here: the perturbation, the weights, the horizon and the iteration limit.

The perturbed ball is lower and faster than the reference, so it meets the floor first. Where it
is late instead, the controller without the update never lets it touch the floor: it turns the
ball around in the air, at the time of the reference's impact, with some 340 N, and every solve
of that smooth problem converges. tracking_cost is that of the closed loop, with the hybrid cost
update in both rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from hybrid.examples.bouncing_ball import FALLING, INPUT_WEIGHT, bouncing_ball
from hybrid.hilqr import Hilqr, HilqrOptions, Policies
from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.hilqr.tracking_cost import HybridReference, HybridTrackingCost
from hybrid.systems import Array
from studies.figures import COLOURS, figure
from studies.kong.hilqr.receding_horizon import ClosedLoop, RecedingHorizon, close_loop
from studies.study import Criterion, StudyOptions, StudyResult, study

_PLANS = 34  # drawn of each run
_PLAN = {"color": COLOURS["initial"], "linestyle": "--", "linewidth": 0.7}
_LEGEND = {"frameon": False, "fontsize": 7}
_END = {"color": COLOURS["initial"], "marker": "o", "markersize": 3.0, "fillstyle": "none",
        "linestyle": "none", "markeredgewidth": 0.7}  # fmt: skip
_ACTUAL = {"color": COLOURS["initial"], "linewidth": 1.6, "label": "executed"}
_TARGET = {"color": COLOURS["actual"], "linewidth": 1.2, "label": "target"}
_UNCONVERGED = {"color": COLOURS["final"], "alpha": 0.35, "linewidth": 0.0}
_START = (4.0, 0.0)  # height [m] and velocity [m/s] of the reference, 6.6.1
_TARGET_HEIGHT = 2.5  # [m], 6.6.1
_TOLERANCE = 1e-4  # of |dJ|, 6.5.1
_SEED_FORCE = -8.0  # [N] constant, to one bounce
_REFERENCE_TERMINAL_WEIGHT = 1e4  # ends within 3 mm of the target height


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


@dataclass(frozen=True)
class Settings:
    """The experiment; weights are of integrals over time, so that they hold for any timestep."""

    timestep: float = 1e-3  # [s]
    steps: int = 1001  # 6.6.1
    horizon: float = 0.1  # [s], chosen
    perturbation: tuple[float, float] = (-0.3, -1.0)  # [m], [m/s], chosen
    position_weight: float = 100.0  # [1 / m^2 s], chosen
    velocity_weight: float = 10.0  # [s / m^2], chosen
    input_weight: float = 0.01  # [1 / N^2 s], chosen
    max_iterations: int = 50  # of one solve, chosen


def reference(settings: Settings) -> HybridReference:
    """The target trajectory, optimal under the cost of 5.4.1 with a stiffer end (6.5.1).

    Raises:
        RuntimeError: HiLQR did not converge on it.
    """
    dt, N = settings.timestep, settings.steps
    cost = QuadraticCost(
        target=np.array([_TARGET_HEIGHT, 0.0]),
        state_weight=np.zeros((2, 2)),
        input_weight=np.array([[INPUT_WEIGHT * dt]]),
        terminal_weight=_REFERENCE_TERMINAL_WEIGHT * np.eye(2),
    )
    problem = EventDrivenModel(bouncing_ball(), FALLING, dt, cost)
    seed = Policies.of(np.zeros((N + 1, 2)), np.full((N, 1), _SEED_FORCE), np.zeros((N, 1, 2)))
    solution = Hilqr(problem, HilqrOptions(tolerance=1e-3)).solve(np.array(_START), seed)
    if solution.trajectory is None or solution.status != "converged":
        raise RuntimeError(f"the reference of ball-mpc is {solution.status}")
    return HybridReference(problem.system, dt, solution.trajectory)


def tracking_cost(
    target: HybridReference, settings: Settings, hybrid_update: bool
) -> HybridTrackingCost:
    """(6.1) with the same weight on every state of a plan, its last included."""
    dt = settings.timestep
    Q = dt * np.diag([settings.position_weight, settings.velocity_weight])
    R = dt * settings.input_weight * np.eye(1)
    return HybridTrackingCost(target, Q, R, Q, hybrid_update)


def track(
    target: HybridReference,
    settings: Settings,
    hybrid_update: bool,
    progress: Callable[[int], None] = lambda done: None,
) -> ClosedLoop:
    """The controlled ball from its perturbed start to the end of the reference."""
    controller = RecedingHorizon(
        bouncing_ball(),
        settings.timestep,
        tracking_cost(target, settings, hybrid_update),
        round(settings.horizon / settings.timestep),
        HilqrOptions(tolerance=_TOLERANCE, max_iterations=settings.max_iterations),
    )
    x0: Array = np.array(_START) + settings.perturbation
    return close_loop(controller, x0, FALLING, settings.steps, progress)


def compare_updates(settings: Settings, options: StudyOptions) -> StudyResult:
    """Both rows of ``ball-mpc``, and Figure 6.4."""
    target = reference(settings)
    rows, runs = [], []
    for update in (True, False):
        title = f"{'With' if update else 'Without'} the hybrid cost update"

        def progress(done: int, what: str = title) -> None:
            options.progress(done, settings.steps, what)

        loop = track(target, settings, update, progress)
        cost = tracking_cost(target, settings, True)
        rows.append({
            "hybrid_cost_update": update,
            "unconverged_steps": int(np.sum(~loop.converged)),
            "steps": len(loop.converged),
            "tracking_cost": cost.value(loop.states, loop.inputs, loop.modes),
            "peak_input": float(np.max(abs(loop.inputs))),
        })  # fmt: skip
        runs.append(Run(title, loop))
    drawing = draw(runs[::-1], target.states, target.inputs, settings.timestep)
    updated, plain = rows
    criteria = [
        Criterion(f"{key} with the update", updated[key], "<", plain[key])
        for key in ("unconverged_steps", "tracking_cost")
    ]
    return StudyResult(rows, {"figure-6.4": drawing}, criteria=criteria)


@study("Kong, figure 6.4")
def run(options: StudyOptions) -> StudyResult:
    """The study at the printed size. Nothing in it is random, and it has no trials."""
    return compare_updates(Settings(), options)
