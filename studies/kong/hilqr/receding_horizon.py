"""HiLQR as a model predictive controller of an event-driven system, in closed loop (6.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid.hilqr import Hilqr, HilqrOptions, Policies, Solution, Trajectory
from hybrid.hilqr.event_driven import EventDrivenModel, Modes
from hybrid.hilqr.extension import KnotEvent
from hybrid.hilqr.tracking_cost import HybridTrackingCost
from hybrid.simulation import simulate_step
from hybrid.systems import Array, System


class ClosedLoop(NamedTuple):
    """What a controlled system did in T timesteps."""

    states: Array  # (T+1, n)
    inputs: Array  # (T, m)
    modes: Modes
    converged: NDArray[np.bool_]  # (T,) of each solve
    iterations: NDArray[np.int64]  # (T,)
    plans: list[Array]  # (T,) of (horizon+1, n): the states that each solve planned


class RecedingHorizon:
    """Plans ``horizon`` timesteps ahead, fewer near the end of the reference.

    Each solve starts from the last solution, moved on by one timestep. The system may not depend
    on time: each plan starts at its own time zero.
    """

    def __init__(
        self,
        system: System,
        timestep: float,
        cost: HybridTrackingCost,
        horizon: int,
        options: HilqrOptions,
    ) -> None:
        """Bind a system, its timestep [s] and a cost whose window moves along its reference."""
        self.model = EventDrivenModel(system, cost.reference.modes.knots[0], timestep, cost)
        self._cost, self._horizon = cost, horizon
        self._solver = Hilqr(self.model, options)

    def solve(
        self, knot: int, x: Array, mode: int, events: int, previous: Solution | None
    ) -> Solution:
        """Plan from a state (n,) in a mode at a knot, after a number of events so far."""
        self.model.initial_mode = mode
        self.model.cost = self._cost.window(knot, events)
        if previous is None or previous.trajectory is None or previous.gains is None:
            return self._solver.solve(x, self._from_reference(knot))
        return self._solver.solve(x, self._moved_on(knot, previous.trajectory, previous.gains))

    def reference_input(self, knot: int) -> Array:
        """Input (m,) of the reference at a knot."""
        return self._cost.reference.inputs[knot]

    def _end(self, knot: int) -> int:
        """Knot at which a plan from ``knot`` ends."""
        return min(knot + self._horizon, self._cost.reference.steps)

    def _from_reference(self, knot: int) -> Policies:
        """The reference's inputs, without feedback."""
        reference, end = self._cost.reference, self._end(knot)
        states, inputs = reference.states[knot : end + 1], reference.inputs[knot:end]
        return Policies.of(states, inputs, np.zeros((*inputs.shape, states.shape[1])))

    def _moved_on(self, knot: int, plan: Trajectory, gains: Array) -> Policies:
        """The last plan without its first timestep, and at its end the reference's input."""
        knots, dt = plan.aux.knots, self.model.timestep
        new = self._end(knot) - self._end(knot - 1)
        added = self._cost.reference.inputs[self._end(knot - 1) : self._end(knot)]
        events = tuple(
            KnotEvent(k - 1, event._replace(time=event.time - dt))
            for k, event in plan.aux.events
            if k > 0
        )
        return Policies.of(
            np.concatenate((plan.states[1:], plan.states[-1:][:new])),
            np.concatenate((plan.inputs[1:], added)),
            np.concatenate((gains[1:], gains[-1:][:new])),
            aux=Modes((*knots[1:], *knots[-1:][:new]), events),
        )


def close_loop(
    controller: RecedingHorizon,
    x0: Array,
    mode: int,
    steps: int,
    progress: Callable[[int], None] = lambda done: None,
) -> ClosedLoop:
    """Apply the first input of each plan to the model itself, ``steps`` times from x0 (n,).

    A solve that fails altogether counts as not converged, and the reference's input is applied.
    A timestep that fails ends the loop: it has fewer than ``steps`` then.
    """
    model, solution, x = controller.model, None, x0
    states, knots, events = [x0], [mode], []
    solutions, inputs, plans = [], [], []
    for k in range(steps):
        solution = controller.solve(k, x, mode, len(events), solution)
        plan = solution.trajectory
        inputs.append(controller.reference_input(k) if plan is None else plan.inputs[0])
        plans.append(x[None] if plan is None else plan.states)
        solutions.append(solution)
        time, dt = k * model.timestep, model.timestep
        step = simulate_step(model.system, mode, x, dt, inputs[k], time, model.options)
        x, mode = step.state, step.mode
        states.append(x)
        knots.append(mode)
        events += [KnotEvent(k, event) for event in step.events]
        progress(k + 1)
        if step.status != "ok":
            break
    return ClosedLoop(
        np.array(states),
        np.array(inputs),
        Modes(tuple(knots), tuple(events)),
        np.array([solution.status == "converged" for solution in solutions]),
        np.array([solution.iterations for solution in solutions]),
        plans,
    )
