"""The hopper on an undamped spring that calibrates the event-selected integrator, and its flow.

Source: Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems", section 5.1.
State x = [height z [m], velocity [m/s]]:

    d2z/dt2 = -g                       where z > L0,
    d2z/dt2 = -g + k (L0 - z) / m      where z <= L0.

The guards are h = L0 - z for landing and its negative for leaving; k and m are not in the paper.
The print has an error: docs/errata.md.
"""

from __future__ import annotations

import math

import numpy as np

from saltation.event_selected.system import EventSelectedSystem
from saltation.systems import Array

START = (2.0, 0.0)  # at rest at z0 = 2 L0, 5.1
DURATION = 2.0  # t from 0 to 2, 5.1 [s]


MASS = 1.0  # m [kg], as the stiffness the project's own choice
STIFFNESS = 200.0  # k [N/m]
LENGTH = 1.0  # L0, of the spring at rest [m], 5.1
GRAVITY = 9.81  # g [m/s^2]


def spring_hopper() -> EventSelectedSystem:
    """The hopper as (f, h) with the guards LAND, h = L0 - z, and LEAVE, its negative; both [m]."""
    return EventSelectedSystem(
        name="spring hopper",
        state_dim=2,
        event_count=2,
        flow=_flow,
        events=lambda x, p: np.array([p[2] - x[0], x[0] - p[2]]),
        events_state=lambda x, p: np.array([[-1.0, 0.0], [1.0, 0.0]]),
        rearm=np.array([[False, True], [True, False]]),
        parameters=np.array([GRAVITY, STIFFNESS / MASS, LENGTH]),
    )


def exact(start: Array, times: Array) -> Array:
    """State (n, 2) at ascending ``times`` (n,) [s] from ``start`` (2,) in flight, exactly."""
    x, begin = np.array(start, dtype=np.float64), 0.0
    states, done, in_flight = np.empty((times.size, 2)), 0, True
    w = math.sqrt(STIFFNESS / MASS)
    while done < times.size:
        if in_flight:  # until it lands
            fall = math.sqrt(x[1] ** 2 + 2.0 * GRAVITY * (x[0] - LENGTH))
            length = (x[1] + fall) / GRAVITY
        else:  # the oscillation comes back to z = L0
            length = 2.0 * (math.pi - math.atan2(-x[1] / w, GRAVITY / w**2)) / w
        last, phase = np.searchsorted(times, begin + length), _flight if in_flight else _stance
        states[done:last] = phase(x, times[done:last] - begin)
        x = phase(x, np.array([length]))[0]
        begin, done, in_flight = begin + length, last, not in_flight
    return states


def _flight(x: Array, t: Array) -> Array:
    return np.stack([x[0] + t * (x[1] - 0.5 * GRAVITY * t), x[1] - GRAVITY * t], axis=1)


def _stance(x: Array, t: Array) -> Array:
    """Oscillation about the height at rest, L0 - m g / k."""
    w = math.sqrt(STIFFNESS / MASS)
    rest, c, s = LENGTH - GRAVITY / w**2, np.cos(w * t), np.sin(w * t)
    z = rest + (x[0] - rest) * c + x[1] / w * s
    return np.stack([z, x[1] * c - w * (x[0] - rest) * s], axis=1)


def _flow(x: Array, side: Array, p: Array) -> Array:
    """f: after LAND and until LEAVE the spring pushes."""
    push = p[1] * (p[2] - x[0]) if side[0] > 0.0 and side[1] < 0.0 else 0.0
    return np.array([x[1], push - p[0]])
