"""The machine simulated: a sampled controller, encoders, and pendulums that differ from the model.

Figures 2.7 and 2.8 are of the hardware; here a swing-up is tracked by ``trials`` machines at once
that each are a little different. The cable that the thesis found to pull like a nonlinear spring,
which cost half of its runs, is not part of them: nothing is known of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from saltation.convergent.rotary.feedback import Feedback
from saltation.convergent.rotary.model import flow, runge_kutta
from saltation.convergent.rotary.parameters import QUBE_ENCODER, RotaryPendulum
from saltation.systems import Array


@dataclass(frozen=True)
class Machine:
    """Differences of the simulated machines from the model, and their control."""

    spread: float = 0.05  # standard deviation of the pole's mass, inertias and dampings, a share
    rate: float = 500.0  # of the controller, its torque held in between [Hz]
    counts: int = QUBE_ENCODER  # of an encoder's turn
    bandwidth: float = 150.0  # of the filtered difference that gives the speeds [rad/s]
    hold: float = 2.0  # after the swing-up's end [s]
    near: tuple[float, float] = (0.5, 0.2)  # of theta and alpha to the end, all of the last second


class Tracked(NamedTuple):
    """Motions of the machines; speeds are their own, not those that the controller saw."""

    times: Array  # (k,) [s], the hold included
    states: Array  # (k, 4, trials)
    torques: Array  # (k, trials) [N m]
    success: Array  # (trials,) bool: held upright through the last second


def track(
    pendulum: RotaryPendulum,
    feedback: Feedback,
    trials: int,
    seed: int = 0,
    machine: Machine | None = None,
) -> Tracked:
    """Swing up ``trials`` machines; the same seed gives the same machines."""
    machine = machine or Machine()
    real = _machines(pendulum, machine.spread, trials, seed)
    h = 1.0 / machine.rate
    times = h * np.arange(round((feedback.times[-1] + machine.hold) * machine.rate) + 1)
    states, torques = np.zeros((len(times), 4, trials)), np.zeros((len(times), trials))
    x, seen = np.zeros((4, trials)), np.zeros((4, trials))
    share = 1.0 - np.exp(-machine.bandwidth * h)
    for k, time in enumerate(times):
        angles = np.round(x[:2] * machine.counts / (2.0 * np.pi)) * (2.0 * np.pi / machine.counts)
        seen[2:] += share * ((angles - seen[:2]) / h - seen[2:])
        seen[:2] = angles
        states[k], torques[k] = x, feedback.torque(time, seen)
        held = partial(_rate, real, torques[k])
        x = runge_kutta(held, time, h, x)
    late = times >= times[-1] - 1.0
    away = np.abs(states[late, :2] - feedback.states[-1, :2, None])
    success = np.all(away < np.array(machine.near)[:, None], (0, 1))
    return Tracked(times, states, torques, success)


def _machines(pendulum: RotaryPendulum, spread: float, trials: int, seed: int) -> RotaryPendulum:
    """Pendulums whose masses, inertias and damping are off; lengths and gravity are known."""
    names = ("m_p", "J_r", "J_p", "D_r", "D_p")
    rng = np.random.default_rng(seed)
    factors = np.clip(1.0 + spread * rng.standard_normal((len(names), trials)), 0.5, 1.5)
    off = {name: getattr(pendulum, name) * f for name, f in zip(names, factors, strict=True)}
    return pendulum._replace(**off)


def _rate(pendulum: RotaryPendulum, torque: Array, t: float, x: Array) -> Array:
    return np.array(flow(pendulum, x, torque))
