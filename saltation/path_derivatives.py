"""Derivatives along a known hybrid trajectory, by its initial state and by its inputs.

Between events they follow the variational equations (3.1), dD/dt = D_x F D + D_u F; an event maps
them by Xi D + D_u, (3.2), and happens later by

    dt = -(D_x g dx + D_u g du) / (D_t g + D_x g F-).        (3.112)
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saltation import failure
from saltation.arrays import Pair
from saltation.chains import chains, merge_chain
from saltation.events import EventRecord
from saltation.integration import flow_jacobians
from saltation.options import SimulationOptions
from saltation.saltations import input_saltation, is_jumped_over, saltation
from saltation.systems import Array, System


class PathDerivatives:
    """D (n, n_start + N m): a state x by the initial state and by N inputs (m,) in turn.

    Status "ok", or "not_transverse" after an event that (3.11) does not hold at.
    """

    def __init__(
        self,
        system: System,
        mode: int,
        x: Array,
        t: float,
        inputs: int = 1,
        options: SimulationOptions | None = None,
        *,
        with_reset_jacobian: bool = False,
        resolved: bool = False,
    ) -> None:
        """Start in a mode at the state x (n_start,) and time t [s], before the first input.

        ``resolved``: inputs are held for timesteps that are short enough for what the flow does.
        """
        self.D = np.eye(len(x), len(x) + inputs * system.input_dim)
        self.event_times: list[Array] = []  # (n_start + N m,) each, derivatives of its time [s]
        self.status, self.message = "ok", ""
        self._system, self._mode, self._x, self._t = system, mode, x, t
        self._options, self._with_reset_jacobian = options, with_reset_jacobian
        self._resolved = resolved
        self._start, self._inputs = t, slice(len(x), len(x))

    def follow(self, events: Sequence[EventRecord], u: Array, end: float, x: Array) -> None:
        """Go on until the time ``end`` [s] and the state x there, through the events on the way.

        The input u (m,) is held; it is another one each time. An event at ``end`` is the last
        factor.
        """
        self._inputs = slice(self._inputs.stop, self._inputs.stop + self._system.input_dim)
        self._began = self._t
        for chain in chains(self._system, events):
            event = merge_chain(chain)
            self._flow(event.time, u)
            self.event_times += [self._jump(event)] * len(chain)
        self._flow(end, u)
        self._x = x

    def _flow(self, end: float, u: Array) -> None:
        mode, h = self._system.modes[self._mode], end - self._t
        A, B = flow_jacobians(mode, self._t, self._x, u, h, self._options, self._resolved)
        self.D = A @ self.D
        self.D[:, self._inputs][:, : B.shape[1]] += B  # a mode may take fewer inputs than m
        self._t = end

    def _jump(self, event: EventRecord) -> Array:
        """Map D by an event; the derivatives of its time, zero where no state moves it."""
        edge, at = event.transition, event.at
        jump = saltation(self._system, edge, *at)
        by_state, by_input = event_time_derivatives(self._system, event)
        later = by_state @ self.D
        later[self._inputs] += by_input
        if not jump.ok and self.status == "ok" and not self._is_set_off_by_input(event):
            where = failure.place(self._system, edge.source, *at[:2])
            self.status = "not_transverse"
            self.message = (
                f"{where}: {edge.label} is not transverse (3.11), its guard moves at"
                f" {jump.guard_rate:.3g} per s; there is no first-order map through this event"
            )
        Xi, D_u = jump.matrix, input_saltation(jump, edge, *at)
        if self._with_reset_jacobian:
            Xi, D_u = jump.reset_jacobian, edge.reset_input(*at)
        self.D = Xi @ self.D
        self.D[:, self._inputs] += D_u
        self._mode, self._x = edge.target, event.state_after
        return later

    def _is_set_off_by_input(self, event: EventRecord) -> bool:
        """Whether the step from one input to the next led behind the guard: D_x R is exact."""
        at_knot = event.time == self._began != self._start
        return at_knot and is_jumped_over(self._system, event.transition, *event.at)


def event_time_derivatives(system: System, event: EventRecord) -> Pair:
    """D_x tau (n_source,) and D_u tau (m,) [s]: how much later a perturbed event happens, (3.112).

    Perturbations are of the state before the event at its nominal time, and of the input (m,). An
    event that is not transverse keeps its time: both are zero.
    """
    edge, at = event.transition, event.at
    jump = saltation(system, edge, *at)
    if not jump.ok:
        return np.zeros(len(event.state_before)), np.zeros(len(event.input))
    return -edge.guard_state(*at) / jump.guard_rate, -edge.guard_input(*at) / jump.guard_rate
