"""Moving-horizon estimation: the dual of HiLQR, on an event-driven system (thesis 7.2).

HiLQR's input is the disturbance of the flow, so it finds the trajectory, with its events' times,
that least squares want most in a window of measurements. Its first state follows from the value
function at knot 0 and an arrival cost: the Gaussian that a filter had there.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from saltation.arrays import Array
from saltation.filters.interface import Belief
from saltation.filters.model import FilterModel, covariance_root
from saltation.hilqr.event_driven import EventDrivenModel
from saltation.hilqr.extension import Modes
from saltation.hilqr.options import HilqrOptions
from saltation.hilqr.riccati import backward_pass
from saltation.hilqr.solver import Hilqr, Solution
from saltation.hilqr.types import CostExpansion, Policies
from saltation.systems import Mode, System, Transition


class Window(NamedTuple):
    """Measurements after each of N timesteps; a ``Cost`` of disturbances (N, n) and states.

    V and Sigma have to be positive definite, states in R^n with one n.
    """

    model: FilterModel
    start: Belief  # a filter's, where the window begins
    measurements: Sequence[Array | None]  # (N,) of y (p,); None: none
    timestep: float  # [s]
    u: Array  # (m,) input, held

    def system(self) -> System:
        """The system from time zero on, whose input w (n,), N(0, 1), disturbs its flow."""

        def held(function: Callable) -> Callable:
            return lambda t, x, w: function(self.start.time + t, x, self.u)

        def disturbed(number: int, mode: Mode) -> Mode:
            flow, noise, n = held(mode.flow), self.model.process[number], mode.state_dim
            S = covariance_root(noise.Q * self.timestep ** (noise.power - 2.0))  # W(h) is h^2 S S'
            return Mode(mode.name, n, n, lambda t, x, w: flow(t, x, w) + S @ w)

        own = self.model.system
        edges = (
            Transition(e.source, e.target, held(e.guard), held(e.reset), rest=e.rest, on=e.on)
            for e in own.transitions
        )
        return System({i: disturbed(i, mode) for i, mode in own.modes.items()}, tuple(edges))

    def value(self, states: Array, inputs: Array, modes: Modes) -> float:
        """Squares of disturbances and residuals over their covariances."""
        squares = sum(float(r @ r) for _, r, _ in self._residuals(states, modes))
        return float(np.sum(inputs * inputs)) + squares

    def expand(self, states: Array, inputs: Array, modes: Modes) -> CostExpansion:
        """Gradients and Hessians; residuals are taken to be linear in the state."""
        N, n = inputs.shape
        l_x, l_xx, R = np.zeros((N + 1, n)), np.zeros((N + 1, n, n)), 2.0 * np.eye(n)
        for k, r, C in self._residuals(states, modes):
            l_x[k], l_xx[k] = 2.0 * C.T @ r, 2.0 * C.T @ C
        return CostExpansion(l_x, 2.0 * inputs, l_xx, np.zeros((N, n, n)), np.tile(R, (N, 1, 1)))

    def _residuals(self, states: Array, modes: Modes) -> Iterator[tuple[int, Array, Array]]:
        """Knot, h - y (p,) and C (p, n) of each measurement, in standard deviations."""
        for k, y in enumerate(self.measurements, 1):
            if y is not None:
                one = self.model.measurements[modes.knots[k]]
                at = self.start.time + k * self.timestep, states[k], self.u
                scale = np.linalg.inv(np.linalg.cholesky(one.V))
                yield k, scale @ (one.function(*at) - y), scale @ one.state(*at)


def estimate(window: Window, options: HilqrOptions | None = None, rounds: int = 20) -> Solution:
    """The most probable trajectory (N + 1, n) of a window, its modes and events in ``aux``.

    The first state is found by Newton steps. The status is HiLQR's, and "not_converged" too where
    so many ``rounds`` do not suffice.
    """
    model = EventDrivenModel(window.system(), window.start.mode, window.timestep, window)
    solver, seed = Hilqr(model, options), Policies.zeros(model, len(window.measurements))
    x = mean = window.start.mean
    P = 2.0 * np.linalg.inv(window.start.Sigma)
    solution = solver.solve(x, seed)
    for _ in range(rounds):
        if (found := solution.trajectory) is None or solution.gains is None:
            return solution
        value = backward_pass(model.linearise(found), model.quadratise(found))
        step = np.linalg.solve(P + value.V_xx, P @ (mean - x) - value.V_x)
        if step @ P @ step <= solver.options.tolerance:
            return solution
        x, seed = x + step, Policies.of(found.states, found.inputs, solution.gains, aux=found.aux)
        solution = solver.solve(x, seed)
    return solution._replace(status="not_converged", message=f"{rounds} rounds did not suffice")
