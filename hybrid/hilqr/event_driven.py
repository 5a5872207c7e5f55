"""HiLQR's model of an event-driven hybrid system (5.3.2-5.3.4)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from hybrid.hilqr.compiled_rollout import CompiledRollout, Rolled
from hybrid.hilqr.cost import Cost
from hybrid.hilqr.dimensions import padded, padded_flow
from hybrid.hilqr.event_description import describe
from hybrid.hilqr.event_linearisation import EventLinearisation, Placement, events_by_knot
from hybrid.hilqr.extension import KnotEvent, ReferenceExtension, Segment, segments
from hybrid.hilqr.modes import Modes
from hybrid.hilqr.transition_cost import TransitionCost, add_transition_terms, transition_value
from hybrid.hilqr.types import Array, CostExpansion, Linearisation, Policies, Rollouts, Trajectory
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate_step
from hybrid.systems import System


class EventDrivenModel:
    """``Model`` of a hybrid system; time zero is where its rollouts start.

    Modes may differ in dimension. Arrays are then as wide as the largest mode's, and zero beyond
    a mode's own dimension. Functions of the system are given the whole input (m,) of the mode that
    takes most, as which modes act in a timestep is not known before it is simulated; a mode's flow
    may only read the first ``input_dim`` of it.

    ``linearise`` places an event in one of three ways:

    - "end": at the end of its timestep, so that each hybrid epoch has its own inputs (5.3.3), and
      F+ takes the next timestep's input, which is the one that acts after the event. An event at
      which nothing switches (3.12), such as an apex or a liftoff, stays the identity.
    - "end_held": the same as 5.3.3 prints it, with the timestep's own input in F- and F+.
    - "exact": at its own time, the sandwich (3.32). These are the derivatives of the rollout
      itself, to the last digit.

    With the last two the one input of the event's timestep acts on both sides of it. Where an
    optimal input jumps at an event, the cost has a kink wherever that event crosses from one
    timestep to the next, and descent can end there: on the bouncing ball they often do.
    """

    def __init__(
        self,
        system: System,
        initial_mode: int,
        timestep: float,
        cost: Cost,
        options: SimulationOptions | None = None,
        event_at: Placement = "end",
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
        self._n, self._m = system.state_dim, system.input_dim
        self._flow = padded_flow(system, self.options)
        self._linearisation = EventLinearisation(system, timestep, event_at, self.options)

    def roll_out(self, x0: Array, policies: Policies) -> Rollouts:
        """Simulate every candidate from x0 (n,), with references extended over mode mismatches.

        Raises:
            ValueError: the policies, or x0, do not have the system's dimensions.
        """
        self._check(x0, policies)
        if self.fast is not None:
            states, inputs, modes, ok = self.fast.roll_out(x0, self.initial_mode, policies)
        else:
            states, inputs, modes, ok = self._interpreted(x0, policies)
        cost = np.full(policies.count, np.inf)
        for c in np.flatnonzero(ok).tolist():
            cost[c] = self.trajectory_cost(states[c], inputs[c], modes[c])
        return Rollouts(states, inputs, cost, ok & np.isfinite(cost), modes)

    @cached_property
    def fast(self) -> CompiledRollout | None:
        """The compiled path; None where a function of the system does not compile."""
        return CompiledRollout.of(self.system, self.timestep, self.options)

    def trajectory_cost(self, states: Array, inputs: Array, modes: Modes) -> float:
        """J_0 of (5.23): running, terminal and transition costs of a simulated trajectory."""
        value = self.cost.value(states, inputs, modes)
        if self.transition_cost is not None:
            value += transition_value(self.transition_cost, modes)
        return value

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """Sensitivities of each timestep and its events, placed as ``event_at`` says."""
        N = len(trajectory.inputs)
        A, B = np.empty((N, self._n, self._n)), np.empty((N, self._n, self._m))
        events, transitions = events_by_knot(trajectory), []
        if self.fast is not None:
            A, B = self.fast.jacobians(trajectory)
        for k in range(N) if self.fast is None else sorted(events):
            A[k], B[k], jumps = self._linearisation.at(trajectory, k, events.get(k, ()))
            transitions += jumps
        return Linearisation(A, B, tuple(transitions))

    def quadratise(self, trajectory: Trajectory) -> CostExpansion:
        """Gradients and Hessians of the cost, with the modes held, and of its transitions."""
        expansion = self.cost.expand(trajectory.states, trajectory.inputs, trajectory.aux)
        if self.transition_cost is not None:
            for k, events in events_by_knot(trajectory).items():
                timestep, u = self._linearisation.at(trajectory, k, events), trajectory.inputs[k]
                add_transition_terms(
                    expansion, self.transition_cost, self.system, timestep, events, u
                )
        return expansion

    @property
    def state_dim(self) -> int:
        """Width n of states, that of the largest mode."""
        return self._n

    @property
    def input_dim(self) -> int:
        """Width m of inputs."""
        return self._m

    def describe(self, trajectory: Trajectory) -> str:
        """Why a rollout breaks off, or why descent may end at this trajectory; "" if neither."""
        return describe(self.system, self.timestep, self.event_at, trajectory, self.options)

    def _check(self, x0: Array, policies: Policies) -> None:
        """Refuse arrays of the wrong shape, which compiled code would read beyond their ends."""
        n, m, start = self._n, self._m, self.system.modes[self.initial_mode].state_dim
        shapes = [array.shape[2:] for array in (policies.states, policies.inputs, policies.gains)]
        if np.size(x0) not in (start, n) or shapes != [(n,), (m,), (m, n)]:
            raise ValueError(
                f"x0 has {np.size(x0)} numbers, and policies have states, inputs and gains of"
                f" shapes {shapes} at each knot; the system takes {[(n,), (m,), (m, n)]}"
            )

    def _interpreted(self, x0: Array, policies: Policies) -> Rolled:
        references = [self._reference(policies, p) for p in range(len(policies.inputs))]
        C, (N, m) = policies.count, policies.inputs.shape[1:]
        states, inputs = np.full((C, N + 1, self._n), np.nan), np.full((C, N, m), np.nan)
        ok, modes = np.zeros(C, dtype=bool), []
        for c in range(C):
            reference = references[policies.policy_index[c]]
            record, ok[c] = self._simulate(x0, policies, c, reference, states[c], inputs[c])
            modes.append(record)
        return Rolled(states, inputs, modes, ok)

    def _reference(self, policies: Policies, p: int) -> ReferenceExtension:
        """Policy p's reference, in one segment when it is not to be extended."""
        states, inputs = policies.states[p], policies.inputs[p]
        modes: Modes | None = policies.aux[p] if policies.aux else None
        parts: list[Segment] | None = None
        if policies.extend_reference and modes is not None:
            parts = segments(modes.knots[0], modes.events, len(inputs))
        return ReferenceExtension(self._flow, self.timestep, states, inputs, parts)

    def _simulate(
        self,
        x0: Array,
        policies: Policies,
        c: int,
        reference: ReferenceExtension,
        states: Array,
        inputs: Array,
    ) -> tuple[Modes, bool]:
        """Roll out candidate c into states (N+1, n) and inputs (N, m), event by event (5.22)."""
        p, step_size = policies.policy_index[c], policies.step_size[c]
        nominal = policies.inputs[p] + step_size * policies.feedforward[p]
        gains, mode = policies.gains[p], self.initial_mode
        knots, events = [mode], []
        states[0] = padded(x0, (self._n,))
        for k in range(len(inputs)):
            x_reference, held = reference.at(len(events), mode, k)
            inputs[k] = nominal[held] + gains[held] @ (states[k] - x_reference)
            t, dt = k * self.timestep, self.timestep
            x = states[k, : self.system.modes[mode].state_dim]
            step = simulate_step(self.system, mode, t, x, inputs[k], dt, self.options)
            states[k + 1], mode = padded(step.state, (self._n,)), step.mode
            knots.append(mode)
            events += [KnotEvent(k, event) for event in step.events]
            if step.status != "ok":
                return Modes(tuple(knots), tuple(events)), False
        return Modes(tuple(knots), tuple(events)), True
