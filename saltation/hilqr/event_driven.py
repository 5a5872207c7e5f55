"""HiLQR's model of an event-driven hybrid system (5.3.2-5.3.4)."""

from __future__ import annotations

import numpy as np

from saltation.hilqr.cost import Cost
from saltation.hilqr.event_description import describe
from saltation.hilqr.event_linearisation import EventLinearisation, Placement, events_by_knot
from saltation.hilqr.event_rollout import EventRollout
from saltation.hilqr.held_events import HeldEvents
from saltation.hilqr.transition_cost import TransitionCost, add_transition_terms, transition_value
from saltation.hilqr.types import (
    Array,
    CostExpansion,
    Linearisation,
    Policies,
    Rollouts,
    Trajectory,
)
from saltation.options import SimulationOptions
from saltation.systems import System


class EventDrivenModel:
    """``Model`` of a hybrid system; time zero is where its rollouts start.

    Modes may differ in dimension. Arrays are then as wide as the largest mode's, and zero beyond
    a mode's own dimension. Functions of the system are given the whole input (m,) of the mode that
    takes most, as which modes act in a timestep is not known before it is simulated; a mode's flow
    may only read the first ``input_dim`` of it.

    ``linearise`` places an event in one of three ways:

    - "exact": at its own time, the sandwich (3.32). These are the derivatives of the rollout
      itself, to the last digit. Where descent ends at a kink of the cost, HiLQR goes on along it
      (``held_events``).
    - "end": at the end of its timestep, so that each hybrid epoch has its own inputs (5.3.3), and
      F+ takes the next timestep's input, which is the one that acts after the event. An event at
      which nothing switches (3.12), such as an apex or a liftoff, stays the identity.
    - "end_held": the same as 5.3.3 prints it, with the timestep's own input in F- and F+.

    With "exact" and "end_held" the one input of the event's timestep acts on both sides of it.
    """

    def __init__(
        self,
        system: System,
        initial_mode: int,
        timestep: float,
        cost: Cost,
        options: SimulationOptions | None = None,
        event_at: Placement = "exact",
        transition_cost: TransitionCost | None = None,
    ) -> None:
        """Bind a system that starts in ``initial_mode`` at time zero; ``timestep`` in [s].

        Raises:
            ValueError: there is no such mode or placement, or the timestep is not positive.
        """
        system.outgoing(initial_mode)
        if not 0.0 < timestep < np.inf:
            raise ValueError(f"a timestep of {timestep} s: give a positive one")
        self.system, self.initial_mode, self.timestep = system, initial_mode, timestep
        self.cost, self.options = cost, options or SimulationOptions()
        self.event_at: Placement = event_at
        self.transition_cost = transition_cost
        self.state_dim, self.input_dim = system.state_dim, system.input_dim
        self._rollout = EventRollout(system, timestep, self.options)
        self._linearisation = EventLinearisation(system, timestep, event_at, self.options)
        self.hold = HeldEvents(self._linearisation)

    def roll_out(self, x0: Array, policies: Policies) -> Rollouts:
        """Simulate every candidate from x0 (n,), with references extended over mode mismatches.

        Raises:
            ValueError: the policies, or x0, do not have the system's dimensions.
        """
        self._check(x0, policies)
        states, inputs, modes, ok = self._rollout.roll_out(x0, self.initial_mode, policies)
        cost = np.full(policies.count, np.inf)
        for c in np.flatnonzero(ok).tolist():
            cost[c] = self.cost.value(states[c], inputs[c], modes[c])
            if self.transition_cost is not None:  # (5.23)
                cost[c] += transition_value(self.transition_cost, modes[c])
        return Rollouts(states, inputs, cost, ok & np.isfinite(cost), modes)

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """Sensitivities of each timestep and its events, placed as ``event_at`` says."""
        events, transitions = events_by_knot(trajectory), []
        A, B = self._rollout.jacobians(trajectory)
        for k in sorted(events):
            A[k], B[k], jumps = self._linearisation.at(trajectory, k, events.get(k, ()))
            transitions += jumps
        return Linearisation(A, B, tuple(transitions))

    def quadratise(self, trajectory: Trajectory) -> CostExpansion:
        """Gradients and Hessians of the cost, with the modes held, and of its transitions."""
        expansion = self.cost.expand(trajectory.states, trajectory.inputs, trajectory.aux)
        if self.transition_cost is not None:
            for k, events in events_by_knot(trajectory).items():
                timestep = self._linearisation.at(trajectory, k, events)
                add_transition_terms(expansion, self.transition_cost, self.system, timestep, events)
        if self.hold.active:
            self.hold.add_terms(trajectory, expansion)
        return expansion

    def describe(self, trajectory: Trajectory) -> str:
        """The reason why a rollout breaks off or descent may end here; "" without one."""
        return describe(self.system, self.timestep, self.event_at, trajectory, self.options)

    def _check(self, x0: Array, policies: Policies) -> None:
        """Refuse arrays of the wrong shape, which compiled code would read beyond their ends."""
        n, m, start = self.state_dim, self.input_dim, self.system.modes[self.initial_mode].state_dim
        shapes = [array.shape[2:] for array in (policies.states, policies.inputs, policies.gains)]
        if np.size(x0) not in (start, n) or shapes != [(n,), (m,), (m, n)]:
            raise ValueError(
                f"x0 has {np.size(x0)} numbers, and policies have states, inputs and gains of"
                f" shapes {shapes} at each knot; the system takes {[(n,), (m,), (m, n)]}"
            )
