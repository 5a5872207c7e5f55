"""Poincare sections and return maps of hybrid systems, with their derivatives (3.4.3).

A system that does not depend on time is cut by an event: the section is the set of states just
after a transition, of dimension n - 1. One that is driven with a period is cut by the clock: the
section is the phase, and the return map is in all n coordinates.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.linalg import null_space, orth

from saltation import failure
from saltation.chains import chains, merge_chain
from saltation.held_inputs import held_input
from saltation.options import SimulationOptions
from saltation.path_derivatives import PathDerivatives
from saltation.simulation import EventRecord, Run, simulate, simulate_step
from saltation.systems import Array, System

_PARTS = 50  # of an event section's time limit, so that ``max_events`` counts within one of them
_STEP = 1e-3  # of the differences, relative: fourth order, so they are off by about 1e-12
_SAMPLES = 100  # of a trajectory, at which the system is evaluated at another time too
_GOLDEN = 0.5 * (5.0**0.5 - 1.0)  # of the trajectory's duration: no simple part of it


class EventSection(NamedTuple):
    """The state just after a transition happened for the ``count``-th time; no time dependence."""

    transition: str  # its name
    count: int = 1
    time_limit: float = 10.0  # [s]; no event within it: there is no return


class PhaseSection(NamedTuple):
    """The state at time ``start`` [s] and one period [s] later, of a system driven periodically."""

    start: float
    period: float


Section = EventSection | PhaseSection


class Return(NamedTuple):
    """Return of a state to the section.

    Status "ok"; "no_return" where the event did not happen within its time limit; "other_mode"
    where the section is met in another mode than it was left in; else the simulation's.
    """

    mode: int
    state: Array  # P(x) (n,)
    duration: float  # [s]
    events: tuple[EventRecord, ...]  # up to and with the one that makes the section
    status: str
    message: str = ""


class LinearReturn(NamedTuple):
    """A return, and its two first-order maps; NaN where status is not "ok"."""

    end: Return
    Phi: Array  # (3.33) over the fixed duration of this return (n, n): the monodromy of a cycle
    derivative: Array  # D_x P (n, n); the duration varies with x
    status: str
    message: str = ""


@dataclass(frozen=True, eq=False)
class ReturnMap:
    """P(x): the flow from x (n,) in a mode, with the input held, until it meets the section again.

    Raises:
        ValueError: the section names a transition that the system does not have, or the mode or
            the input does not fit the system.
    """

    system: System
    section: Section
    mode: int
    u: Array | None = None  # (m,); zeros if left out
    options: SimulationOptions | None = None
    held_input: Array = field(init=False, repr=False)  # (m,) u, or zeros

    def __post_init__(self) -> None:
        """Check the section, the mode and the input."""
        vars(self)["held_input"] = held_input(self.system, self.u)
        self.system.outgoing(self.mode)
        names = sorted({edge.name for edge in self.system.transitions})
        if isinstance(self.section, EventSection) and self.section.transition not in names:
            raise ValueError(
                f"the section names transition {self.section.transition!r}; the system has"
                f" {names}: use one of these, or name the transition"
            )

    def __call__(self, x: Array) -> Return:
        """P(x). A return to an event that leads to another mode is "ok": P maps between modes."""
        x = np.asarray(x, float)
        if isinstance(self.section, PhaseSection):
            return self._to_phase(x, self.section)
        return self._to_event(x, self.section)

    def linear(self, x: Array) -> LinearReturn:
        """P(x) with the fundamental matrix Phi (3.33) and the derivative of P, both (n, n).

        With an event as section, D_x P = Phi + F+ D_x T, where T is the time of the event (3.112).
        With the clock as section the two are the same.
        """
        x, section, end = np.asarray(x, float), self.section, self(x)
        status, message = end.status, end.message
        if status == "ok" and end.mode != self.mode:
            message = f"the section lies in mode {end.mode}; the state is in mode {self.mode}"
            status = "other_mode"
        undefined = np.full((len(x), len(x)), np.nan)
        if status != "ok":
            return LinearReturn(end, undefined, undefined, status, message)
        t = section.start if isinstance(section, PhaseSection) else 0.0
        path = PathDerivatives(self.system, self.mode, x, t, 1, self.options)
        path.follow(end.events, self.held_input, t + end.duration, end.state)
        if path.status != "ok":
            return LinearReturn(end, undefined, undefined, path.status, path.message)
        Phi = D_xP = path.D[:, : len(x)]
        if isinstance(section, EventSection):
            F = self.system.modes[end.mode].flow(end.duration, end.state, self.held_input)
            D_xP = Phi + np.outer(F, path.event_times[-1][: len(x)])
        return LinearReturn(end, Phi, D_xP, "ok")

    def basis(self, x: Array) -> Array:
        """Orthonormal directions to perturb a fixed point x (n,) in: (n, n - 1); eye(n) by clock.

        The event's section is the image of the guard, D_x R of D_x g's null space. Where the reset
        collapses it, directions across the flow complete it: there the return map is flat.
        """
        n, end = self.system.modes[self.mode].state_dim, self(x)
        if isinstance(self.section, PhaseSection) or end.status != "ok":
            return np.eye(n)
        last = merge_chain(chains(self.system, end.events)[-1])
        edge, at = last.transition, (last.time, last.state_before, self.held_input)
        on_guard = null_space(edge.guard_state(*at)[None, :])
        image = orth(edge.reset_state(*at) @ on_guard)
        F = self.system.modes[end.mode].flow(last.time, last.state_after, self.held_input)
        others = null_space(np.column_stack((image, F)).T)
        return np.column_stack((image, others))[:, : n - 1]

    def differences(self, x: Array, step: float = _STEP) -> Array:
        """D P at a fixed point x (n,) by finite differences of P, in the section's basis.

        (n - 1, n - 1) with an event as section, (n, n) with the clock. Uses no derivative of the
        flow, so its eigenvalues check the monodromy matrix. NaN where a perturbed state does not
        return, or not into its mode: then take a smaller ``step`` (relative to each state's size,
        at least 1).
        """
        basis, h = self.basis(x), step * max(1.0, float(np.max(np.abs(x))))
        columns = []
        for direction in basis.T:
            ends = [self(x + k * h * direction) for k in (-2, -1, 1, 2)]
            if any(end.status != "ok" or end.mode != self.mode for end in ends):
                return np.full((basis.shape[1],) * 2, np.nan)
            a, b, c, d = (end.state for end in ends)
            columns.append(basis.T @ (a - 8 * b + 8 * c - d) / (12 * h))
        return np.column_stack(columns)

    def time_dependence(self, x: Array) -> str:
        """Name of a function that depends on time on the way from x (n,); "" where none does.

        Each is evaluated along the trajectory to the event, and at the same states at other times.
        """
        run = self._until_event(np.asarray(x, float))
        span, points = run.final_time, []
        for t in span * (np.arange(_SAMPLES) + 0.5) / _SAMPLES:
            mode, y = run.at(float(t))
            points.append((f"flow of mode {mode}", self.system.modes[mode].flow, t, y))
            for edge in self.system.outgoing(mode):
                points.append((f"guard of {edge.label}", edge.guard, t, y))
        for edge, t, y, *_ in run.events:
            points.append((f"reset of {edge.label}", edge.reset, t, y))
        for k, (name, function, t, y) in enumerate(points):
            later = t + (span or 1.0) * _GOLDEN * (1 + k % _SAMPLES)
            values = (function(s, y.copy(), self.held_input) for s in (t, later))
            if not np.array_equal(*values, equal_nan=True):
                return name
        return ""

    def _until_event(self, x: Array) -> Run:
        """The trajectory from x (n,) at time 0 to the event of an ``EventSection``."""
        section, count = self.section, 0
        assert isinstance(section, EventSection)

        def is_return(event: EventRecord) -> bool:
            nonlocal count
            count += event.transition.name == section.transition
            return count == section.count

        limit = section.time_limit
        return simulate(
            self.system, self.mode, x, limit, self.held_input, timestep=limit / _PARTS,
            options=self.options, until=is_return,
        )  # fmt: skip

    def _to_event(self, x: Array, section: EventSection) -> Return:
        run = self._until_event(x)
        status, message = run.status, run.message
        if status == "stopped":
            status = "ok"
        elif status == "no_event":
            count = sum(event.transition.name == section.transition for event in run.events)
            problem = f"transition {section.transition!r} happened {count} of {section.count} times"
            status, message = "no_return", f"{problem}; {message}"
        return Return(run.final_mode, run.final_state, run.final_time, run.events, status, message)

    def _to_phase(self, x: Array, section: PhaseSection) -> Return:
        (start, period), u = section, self.held_input
        step = simulate_step(self.system, self.mode, x, period, u, start, self.options)
        status, message = step.status, step.message
        if status == "ok" and step.mode != self.mode:
            status = "other_mode"
            where = failure.place(self.system, step.mode, start + period, step.state)
            message = f"{where}: left mode {self.mode}, and the period ends in another"
        return Return(step.mode, step.state, period, step.events, status, message)
