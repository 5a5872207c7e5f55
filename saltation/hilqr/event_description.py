"""Signs in an event-driven trajectory of the reason why a solve ended there."""

from __future__ import annotations

import numpy as np

from saltation.hilqr.event_linearisation import Placement
from saltation.hilqr.held_events import knot_of
from saltation.hilqr.types import Trajectory
from saltation.options import SimulationOptions
from saltation.saltations import saltation
from saltation.simulation import simulate
from saltation.systems import System


def describe(
    system: System,
    timestep: float,
    event_at: Placement,
    trajectory: Trajectory,
    options: SimulationOptions,
) -> str:
    """The reason why a rollout breaks off or descent may end at a trajectory; "" without a sign.

    Derivatives that place events at the ends of their timesteps are not those of the rollout. Near
    a guard that is almost grazed they hold for tiny changes only.
    """
    if not np.all(np.isfinite(trajectory.states)):
        return _failure(system, timestep, trajectory, options)
    events = [knot_event.event for knot_event in trajectory.aux.events]
    if not events:
        return ""
    if event_at != "exact":
        return (
            f"the derivatives of event_at={event_at!r} are not those of the rollout, which has"
            f" {events[0].transition.label} at {events[0].time:.6g} s: use event_at='exact'"
        )
    steepness = [np.linalg.norm(saltation(system, e.transition, *e.at).matrix, 2) for e in events]
    worst = events[int(np.argmax(steepness))]
    where = f"{worst.transition.label} at {worst.time:.6g} s"
    if (knot := knot_of(worst.time, timestep)) is not None:
        where += f", on knot {knot},"
    return (
        f"{where} multiplies deviations by {max(steepness):.3g}: start from other inputs, or make"
        " them states, with a cost on their rate"
    )


def _failure(
    system: System, timestep: float, trajectory: Trajectory, options: SimulationOptions
) -> str:
    """Message of the timestep at which a rollout failed, simulated again."""
    mode, x = trajectory.aux.knots[0], trajectory.states[0]
    for k, u in enumerate(trajectory.inputs):
        if not np.all(np.isfinite(u)):
            return f"the input of knot {k} is not finite"
        x = x[: system.modes[mode].state_dim]
        run = simulate(
            system, mode, x, timestep, u, t=k * timestep, timestep=timestep, options=options
        )
        if not run.ok:
            return f"{run.status}: {run.message}"
        mode, x = run.final_mode, run.final_state
    return ""
