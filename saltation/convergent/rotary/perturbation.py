"""Perturbations of the pole's angle at every waypoint, simulated with the feedback, 2.6.5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from saltation.convergent.rotary.feedback import Feedback
from saltation.convergent.rotary.model import flow, runge_kutta
from saltation.convergent.rotary.parameters import RotaryPendulum
from saltation.systems import Array


@dataclass(frozen=True)
class PerturbationOptions:
    """Sizes and times of perturbations, and the criterion of success."""

    size: float = 1.0  # added to alpha and taken from it [rad], 2.6.8
    hold: float = 3.0  # after the swing-up's end, under the infinite-horizon LQR [s]
    step: float = 0.0025  # of the Runge-Kutta method [s], shortened to fit between waypoints
    near: tuple[float, float, float, float] = (0.2, 0.1, 0.5, 0.5)  # to the end [rad, rad/s]


class Perturbed(NamedTuple):
    """One column a perturbation: N added at the N waypoints, then N taken away."""

    times: Array  # (k,) [s], the hold included
    alphas: Array  # (k, 2 N) [rad]; NaN before the perturbation
    success: Array  # (2 N,) bool: at the end of the hold, near the swing-up's last state

    @property
    def plus(self) -> Array:
        """Successes (N,) of what was added."""
        return self.success[: len(self.success) // 2]

    @property
    def minus(self) -> Array:
        """Successes (N,) of what was taken away."""
        return self.success[len(self.success) // 2 :]


def perturb(
    pendulum: RotaryPendulum,
    feedback: Feedback,
    waypoints: Array,
    options: PerturbationOptions | None = None,
) -> Perturbed:
    """Start 2 N pendulums beside the swing-up, at its evenly spaced waypoint times (N,) [s].

    A turn too many counts as a failure: alpha is not wrapped, as (2.31) takes plain differences.
    """
    options = options or PerturbationOptions()
    N = len(waypoints)
    between = float(waypoints[-1] - waypoints[0]) / (N - 1)
    per = max(1, int(np.ceil(between / options.step - 1e-9)))
    h, steps = between / per, per * (N - 1)
    times = waypoints[0] + h * np.arange(steps + int(np.ceil(options.hold / h)) + 1)
    alphas = np.full((len(times), 2 * N), np.nan)
    x, started = np.zeros((4, 2 * N)), 0

    def rate(time: float, at: Array) -> Array:
        return np.array(flow(pendulum, at, feedback.torque(time, at)))

    for k, time in enumerate(times):
        if k % per == 0 and started < N:
            reference = [np.interp(time, feedback.times, state) for state in feedback.states.T]
            x[:, [started, N + started]] = np.array(reference)[:, None]
            x[1, [started, N + started]] += [options.size, -options.size]
            started += 1
        alive = np.r_[:started, N : N + started]
        alphas[k, alive] = x[1, alive]
        if k + 1 < len(times):
            x[:, alive] = runge_kutta(rate, time, h, x[:, alive])
    away = np.abs(x - feedback.states[-1][:, None])
    return Perturbed(times, alphas, np.all(away < np.array(options.near)[:, None], 0))
