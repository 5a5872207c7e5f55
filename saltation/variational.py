"""First-order maps along hybrid trajectories: between events the variational equations (3.1), at
events the saltation matrix (3.2), and what their product does to vectors (3.32) and covariances
(3.37).
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.filters.model import check_covariance
from saltation.held_inputs import Inputs
from saltation.options import SimulationOptions
from saltation.simulation import EventRecord, simulate
from saltation.systems import Array, System


class Variation(NamedTuple):
    """Derivatives of a hybrid flow over a duration, and where that flow went.

    Status is "ok", the simulation's where that failed (then all derivatives are NaN), or
    "not_transverse" where an event was grazed (then Phi has D_x R in place of Xi there, and is no
    derivative). Of a sequence of N inputs, derivatives by inputs have a first axis more (N, ...).
    """

    Phi: Array  # fundamental matrix (n_end, n_start), (3.34)
    Gamma: Array  # of the end by the input (n_end, m), or (N, n_end, m)
    mode: int  # at the end
    state: Array  # at the end (n_end,)
    events: tuple[EventRecord, ...]
    event_times_state: Array  # (E, n_start) of each event's time by the state at the start [s]
    event_times_input: Array  # (E, m), or (N, E, m), by the input [s]
    status: str
    message: str = ""  # for a person: mode, time and state where the status is not "ok"

    @property
    def ok(self) -> bool:
        """Whether Phi is the derivative of the flow."""
        return self.status == "ok"

    def covariance(self, Sigma: Array) -> Array:
        """Covariance (n_end, n_end) at the end of Sigma (n_start, n_start) at the start, (3.37).

        Raises:
            ValueError: Sigma has another shape, is not symmetric, or has a negative eigenvalue.
        """
        check_covariance(Sigma, self.Phi.shape[1], "Sigma")
        return propagate_covariance(Sigma, self.Phi)


def fundamental_matrix(
    system: System,
    mode: int,
    x: Array,
    duration: float,
    inputs: Inputs = None,
    t: float = 0.0,
    options: SimulationOptions | None = None,
    *,
    timestep: float | None = None,
    with_reset_jacobian: bool = False,
) -> Variation:
    """Phi = A_n Xi ... A_2 Xi A_1 over a duration [s], the fundamental matrix of (3.32), (3.33).

    It is the derivative of the state at the end by the state at the start, at fixed times, through
    all events. Beside it are those by the inputs, and those of the events' times.

    Args:
        system: the hybrid system.
        mode: number of the mode at the start.
        x: state at the start (n_start,).
        duration: how far to go [s].
        inputs: None for zeros; (m,) for a constant; (N, m), or a function of time [s], for an
            input that is held over each timestep.
        t: time at the start [s].
        options: accuracy of the simulation and of the variational equations.
        timestep: length for which an input is held [s]; left out, the whole duration.
        with_reset_jacobian: take D_x R in place of Xi, as a comparison: not the derivative.

    Raises:
        ValueError: the mode, a length of time, or the inputs do not fit the system.
    """
    run = simulate(system, mode, x, duration, inputs, t=t, timestep=timestep, options=options)
    found = run.derivatives_by(options, with_reset_jacobian)
    by_input = found.inputs, found.event_times_inputs
    if not (callable(inputs) or np.ndim(inputs) == 2):  # type: ignore[arg-type]
        by_input = found.inputs.sum(0), found.event_times_inputs.sum(0)
    return Variation(
        found.state, by_input[0], run.final_mode, run.final_state, run.events,
        found.event_times_state, by_input[1], found.status, found.message,
    )  # fmt: skip


def propagate_covariance(Sigma: Array, Xi: Array) -> Array:
    """Sigma(t+) = Xi Sigma Xi' (3.36), or (3.37) where Xi is a whole Phi: exactly symmetric."""
    after = Xi @ Sigma @ Xi.T
    return 0.5 * (after + after.T)
