"""HiLQR's model of an event-driven hybrid system (5.3.2-5.3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from hybrid.hilqr import types
from hybrid.hilqr.cost import Cost
from hybrid.hilqr.extension import KnotEvent, ReferenceExtension, Segment, segments
from hybrid.hilqr.modes import Modes
from hybrid.hilqr.types import Array, CostExpansion, Linearisation, Policies, Rollouts, Trajectory
from hybrid.integration import flow_jacobians, flow_state
from hybrid.saltation import saltation
from hybrid.simulation import Event, SimulationOptions, simulate_step
from hybrid.systems import HybridSystem


class EventDrivenModel:
    """``Model`` of a hybrid system whose modes share one state and one input dimension.

    ``linearise`` places an event in one of two ways:

    - "end", the thesis's (5.3.3): at the end of its timestep, so that each hybrid epoch has its
      own inputs. F+ in the saltation matrix then takes the next timestep's input, which is the one
      that acts after the event.
    - "exact": at its own time, the sandwich (3.32). These are the derivatives of the rollout
      itself, to the last digit, but a poor guide for descent: the one input of the event's
      timestep acts on both sides, an optimal input jumps at an event, and so the cost has a kink
      wherever the event crosses from one timestep to the next. Descent ends in such a kink.

    Raises:
        ValueError: the modes have different dimensions.
    """

    def __init__(
        self,
        system: HybridSystem,
        initial_mode: int,
        timestep: float,
        cost: Cost,
        options: SimulationOptions | None = None,
        event_at: Literal["end", "exact"] = "end",
    ) -> None:
        """Bind a system that starts in ``initial_mode`` at time zero; ``timestep`` in [s]."""
        dimensions = {(mode.state_dim, mode.input_dim) for mode in system.modes.values()}
        if len(dimensions) != 1:
            raise ValueError(
                f"modes have (state, input) dimensions {sorted(dimensions)}; this model needs one:"
                " give every mode the full state"
            )
        self.system, self.initial_mode, self.timestep = system, initial_mode, timestep
        self.cost, self.options = cost, options or SimulationOptions()
        self.event_at = event_at

    def roll_out(self, x0: Array, policies: Policies) -> Rollouts:
        """Simulate every candidate from x0 (n,), with references extended over mode mismatches."""
        references = [self._reference(policies, p) for p in range(len(policies.inputs))]
        C, (N, m) = policies.count, policies.inputs.shape[1:]
        states, inputs = np.full((C, N + 1, len(x0)), np.nan), np.full((C, N, m), np.nan)
        cost, ok, modes = np.full(C, np.inf), np.zeros(C, dtype=bool), []
        for c in range(C):
            reference = references[policies.policy_index[c]]
            record, ok[c] = self._simulate(x0, policies, c, reference, states[c], inputs[c])
            modes.append(record)
            if ok[c]:
                cost[c] = self.cost.value(states[c], inputs[c], record)
        return Rollouts(states, inputs, cost, ok & np.isfinite(cost), modes)

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """Sensitivities of each timestep and its events, placed as ``event_at`` says."""
        (N, m), n = trajectory.inputs.shape, trajectory.states.shape[1]
        A, B = np.empty((N, n, n)), np.empty((N, n, m))
        modes: Modes = trajectory.aux
        events: list[list[Event]] = [[] for _ in range(N)]
        for happened in modes.events:
            events[happened.knot].append(happened.event)
        transitions: list[types.Transition] = []
        for k in range(N):
            x, u, t = trajectory.states[k], trajectory.inputs[k], k * self.timestep
            cut = self.event_at == "exact" and events[k]
            length = events[k][0].time - t if cut else self.timestep
            A[k], B[k] = self._jacobians(modes.knots[k], t, x, u, length)
            if cut:
                transitions += self._transitions_in_place(k, events[k], u)
            elif events[k]:
                u_after = trajectory.inputs[min(k + 1, N - 1)]
                transitions += self._transitions_at_end(k, events[k], u, u_after)
        return Linearisation(A, B, tuple(transitions))

    def quadratise(self, trajectory: Trajectory) -> CostExpansion:
        """Gradients and Hessians of the cost, with the modes held."""
        return self.cost.expand(trajectory.states, trajectory.inputs, trajectory.aux)

    def _transitions_at_end(
        self, knot: int, events: Sequence[Event], u: Array, u_after: Array
    ) -> list[types.Transition]:
        """Saltation matrices of one timestep's events; the next input acts after the last."""
        found = []
        for event in events:
            after = u_after if event is events[-1] else u
            jump = saltation(
                self.system, event.transition, event.time, event.state_before, u, after
            )
            found.append(types.Transition(knot, jump.matrix, jump.reset_jacobian))
        return found

    def _transitions_in_place(
        self, knot: int, events: Sequence[Event], u: Array
    ) -> list[types.Transition]:
        """Saltation matrices of one timestep's events, each with the flow that follows it."""
        times = [event.time for event in events[1:]] + [(knot + 1) * self.timestep]
        found = []
        for event, until in zip(events, times, strict=True):
            jump = saltation(self.system, event.transition, event.time, event.state_before, u)
            after = self._jacobians(
                event.transition.target, event.time, event.state_after, u, until - event.time
            )
            found.append(types.Transition(knot, jump.matrix, jump.reset_jacobian, *after))
        return found

    def _reference(self, policies: Policies, p: int) -> ReferenceExtension:
        """Policy p's reference, in one segment when it is not to be extended."""
        states, inputs = policies.states[p], policies.inputs[p]
        modes: Modes | None = policies.aux[p] if policies.aux else None
        parts: list[Segment] | None = None
        if policies.extend_reference and modes is not None:
            parts = segments(modes.knots[0], modes.events, len(inputs))
        return ReferenceExtension(self._flow, self.timestep, states, inputs, parts)

    def _jacobians(self, mode: int, t: float, x: Array, u: Array, h: float) -> tuple[Array, Array]:
        return flow_jacobians(self.system.modes[mode], t, x, u, h, self.options.tolerance)

    def _flow(self, mode: int, t: float, x: Array, u: Array, h: float) -> Array:
        return flow_state(self.system.modes[mode], t, x, u, h, self.options.tolerance)

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
        states[0] = x0
        for k in range(len(inputs)):
            x_reference, held = reference.at(len(events), mode, k)
            inputs[k] = nominal[held] + gains[held] @ (states[k] - x_reference)
            t, dt = k * self.timestep, self.timestep
            step = simulate_step(self.system, mode, t, states[k], inputs[k], dt, self.options)
            states[k + 1], mode = step.state, step.mode
            knots.append(mode)
            events += [KnotEvent(k, event) for event in step.events]
            if step.status != "ok":
                return Modes(tuple(knots), tuple(events)), False
        return Modes(tuple(knots), tuple(events)), True
