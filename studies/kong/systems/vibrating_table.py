"""A ball that bounces on a table whose height is A sin(omega t): guard and reset depend on time.

State x = [height of the ball [m], velocity [m/s]], no input. It is the smallest system that needs
D_t g and D_t R in the saltation matrix (3.2), the moving surface of 3.6.4. The apex is a virtual
event as for the ball on a floor, so that no impact is located twice. Its simplest motion,
one bounce in each period of the table, is known in closed form, and so is when it is stable.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from saltation.examples.hopper import FLIGHT, GRAVITY, hopper
from saltation.systems import Array, System, Transition

FALLING = 1
RISING = 2
RESTITUTION = 0.75  # e, 3.8.5
OMEGA = 20.0  # of the table [rad/s], the project's own choice
AMPLITUDE = 0.015  # A, of the table [m], the project's own choice


class PeriodicBounce(NamedTuple):
    """One bounce a period: when and how fast the ball leaves the table, and its multipliers."""

    time: float  # of the impact, within the table's first period [s]
    period: float  # of the table [s]
    state_after: Array  # just after the impact (2,)
    multipliers: np.ndarray  # (2,), complex


def vibrating_table(
    amplitude: float = AMPLITUDE, omega: float = OMEGA, restitution: float = RESTITUTION
) -> System:
    """Modes FALLING and RISING with ballistic flow, transitions "impact" and "apex"."""
    gain, speed = 1.0 + restitution, amplitude * omega
    impact = Transition(
        FALLING,
        RISING,
        guard=lambda t, x, u: x[0] - amplitude * np.sin(omega * t),
        reset=lambda t, x, u: np.array(
            [x[0], -restitution * x[1] + gain * speed * np.cos(omega * t)]
        ),
        name="impact",
    )
    apex = Transition.continuous(RISING, FALLING, lambda t, x, u: x[1], "apex", time_invariant=True)
    fall = hopper().modes[FLIGHT]
    modes = {FALLING: replace(fall, name="falling"), RISING: replace(fall, name="rising")}
    return System(modes, (impact, apex), "vibrating table")


def periodic_bounce(
    amplitude: float = AMPLITUDE,
    omega: float = OMEGA,
    restitution: float = RESTITUTION,
    stable_phase: bool = True,
) -> PeriodicBounce:
    """The motion with one bounce a period: the impact restores what restitution takes.

    The ball leaves with v = g T / 2 and comes back with -v, so the table must move at
    (1 - e) / (1 + e) v: cos(omega t) = pi g (1 - e) / ((1 + e) A omega^2). Of the two phases, the
    one with the table above its middle can be stable; the other is a saddle. The map from bounce
    to bounce has determinant e^2 and trace 1 + e^2 - (1 + e)^2 A omega^2 sin(omega t) / g, so the
    motion is stable where 0 < A omega^2 sin(omega t) < 2 g (1 + e^2) / (1 + e)^2.

    Raises:
        ValueError: the table is too slow for it.
    """
    e, period = restitution, 2.0 * math.pi / omega
    cosine = math.pi * GRAVITY * (1.0 - e) / ((1.0 + e) * amplitude * omega**2)
    if cosine > 1.0:
        raise ValueError(
            f"no motion with one bounce a period: amplitude {amplitude} m must be at least"
            f" {cosine * amplitude:.6g} m at {omega} rad/s"
        )
    phase = math.acos(cosine) if stable_phase else 2.0 * math.pi - math.acos(cosine)
    height, speed = amplitude * math.sin(phase), 0.5 * GRAVITY * period
    trace = 1.0 + e**2 - (1.0 + e) ** 2 * height * omega**2 / GRAVITY
    values = np.roots([1.0, -trace, e**2]).astype(np.complex128)
    return PeriodicBounce(phase / omega, period, np.array([height, speed]), values)


def in_flight(bounce: PeriodicBounce, part: float) -> tuple[float, Array]:
    """Time [s] and state (2,) when a part (0 to 1) of the flight after an impact is over."""
    h, (z, v) = part * bounce.period, bounce.state_after
    return bounce.time + h, np.array([z + h * (v - 0.5 * h * GRAVITY), v - h * GRAVITY])
