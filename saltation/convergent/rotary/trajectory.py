"""A swing-up between its waypoints, what it costs, and how true it is to the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.integrate import simpson, solve_ivp
from scipy.interpolate import CubicHermiteSpline

from saltation.convergent.nlp import NlpStatus
from saltation.convergent.rotary.divergence import average_divergence
from saltation.convergent.rotary.model import flow
from saltation.convergent.rotary.parameters import QUBE_MOTOR, RotaryPendulum
from saltation.systems import Array

_FINE = 10  # samples of an interval between waypoints, even for Simpson's rule


class SwingUp(NamedTuple):
    """N waypoints; not to be followed unless the status is "ok"."""

    status: NlpStatus
    times: Array  # (N,) [s]
    states: Array  # (N, 4): theta, alpha, theta', alpha'
    torques: Array  # (N,) [N m], straight in between
    iterations: int = 0
    message: str = ""  # for a person: what was violated most, and at which waypoint

    @property
    def ok(self) -> bool:
        """Whether it can be followed."""
        return self.status == "ok"


class Measures(NamedTuple):
    """Cost and convergence of a swing-up."""

    energy: float  # integral of the torque's square [N^2 m^2 s]
    roughness: float  # integral of the square of the torque's rate [N^2 m^2 / s]
    average_divergence: float  # mean of D_a over time [1/s]
    torque: float  # the largest [N m]
    voltage: float  # the largest [V]


class Accuracy(NamedTuple):
    """Distance of the waypoints from a simulation of the same torques, the largest of a state."""

    interval: float  # each interval simulated from its own waypoint
    whole: float  # simulated once from the start: errors grow on the way up


def interpolants(
    pendulum: RotaryPendulum, swing: SwingUp
) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """State (k, 4) and torque (k,) at times (k,): the polynomials of the collocation."""
    slopes = np.stack(flow(pendulum, swing.states.T, swing.torques), 1)
    states = CubicHermiteSpline(swing.times, swing.states, slopes)
    return states, lambda times: np.interp(times, swing.times, swing.torques)


def measure(pendulum: RotaryPendulum, swing: SwingUp) -> Measures:
    """Costs and convergence, D_a and voltage from the interpolants."""
    state, torque = interpolants(pendulum, swing)
    times = np.linspace(swing.times[0], swing.times[-1], _FINE * (len(swing.times) - 1) + 1)
    x, tau = state(times), torque(times)
    divergence = simpson(average_divergence(pendulum, x.T), x=times) / (times[-1] - times[0])
    step, before, after = np.diff(swing.times), swing.torques[:-1], swing.torques[1:]
    return Measures(
        float(np.sum(step / 3.0 * (before**2 + before * after + after**2))),
        float(np.sum((after - before) ** 2 / step)),
        float(divergence),
        float(np.max(np.abs(tau))),
        float(np.max(np.abs(QUBE_MOTOR.voltage(tau, x[:, 2])))),
    )


def accuracy(pendulum: RotaryPendulum, swing: SwingUp) -> Accuracy:
    """Simulate the torques, by the interval and as a whole, and compare at the waypoints."""
    _, torque = interpolants(pendulum, swing)

    def rate(time: float, x: Array) -> Array:
        return np.array(flow(pendulum, x, torque(np.array(time))))

    interval, x = 0.0, swing.states[0]
    whole = 0.0
    for i, span in enumerate(zip(swing.times, swing.times[1:], strict=False)):
        there = swing.states[i + 1]
        ends = [_end(rate, span, start) for start in (swing.states[i], x)]
        x = ends[1]
        interval = max(interval, float(np.max(np.abs(ends[0] - there))))
        whole = max(whole, float(np.max(np.abs(x - there))))
    return Accuracy(interval, whole)


def _end(rate: Callable[[float, Array], Array], span: tuple[float, float], x: Array) -> Array:
    return solve_ivp(rate, span, x, method="DOP853", rtol=1e-10, atol=1e-10).y[:, -1]
