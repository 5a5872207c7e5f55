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
from dataclasses import dataclass

import numpy as np

from hybrid.event_selected.system import EventSelectedSystem
from hybrid.systems import Array

LAND, LEAVE = 0, 1  # guards: flight to stance, and stance to flight
START = (2.0, 0.0)  # at rest at z0 = 2 L0, 5.1
DURATION = 2.0  # t from 0 to 2, 5.1 [s]


@dataclass(frozen=True)
class SpringHopper:
    """Parameters; mass and stiffness are the project's own choice."""

    mass: float = 1.0  # m [kg]
    stiffness: float = 200.0  # k [N/m]
    length: float = 1.0  # L0, of the spring at rest [m], 5.1
    gravity: float = 9.81  # g [m/s^2]


def spring_hopper(hopper: SpringHopper = SpringHopper()) -> EventSelectedSystem:
    """The hopper as (f, h) with the guards LAND, h = L0 - z, and LEAVE, its negative; both [m]."""
    return EventSelectedSystem(
        name="spring hopper",
        state_dim=2,
        event_count=2,
        flow=_flow,
        events=_events,
        events_state=_events_state,
        rearm=np.array([[False, True], [True, False]]),
        parameters=np.array([hopper.gravity, hopper.stiffness / hopper.mass, hopper.length]),
    )


def exact(hopper: SpringHopper, start: Array, times: Array) -> Array:
    """State (n, 2) at ascending ``times`` (n,) [s] from ``start`` (2,) in flight, exactly."""
    state, begin = np.array(start, dtype=np.float64), 0.0
    states, done, in_flight = np.empty((times.size, 2)), 0, True
    while done < times.size:
        phase, lasts = (_flight, _fall) if in_flight else (_stance, _contact)
        length = lasts(hopper, state)
        last = int(np.searchsorted(times, begin + length))
        states[done:last] = phase(hopper, state, times[done:last] - begin)
        state = phase(hopper, state, np.array([length]))[0]
        begin, done, in_flight = begin + length, last, not in_flight
    return states


def _fall(hopper: SpringHopper, x: Array) -> float:
    """Time from a state in flight to landing [s]."""
    g = hopper.gravity
    return float((x[1] + math.sqrt(x[1] ** 2 + 2.0 * g * (x[0] - hopper.length))) / g)


def _flight(hopper: SpringHopper, x: Array, t: Array) -> Array:
    g = hopper.gravity
    return np.stack([x[0] + t * (x[1] - 0.5 * g * t), x[1] - g * t], axis=1)


def _contact(hopper: SpringHopper, x: Array) -> float:
    """Time from landing to leaving [s]: the oscillation comes back to z = L0."""
    w = math.sqrt(hopper.stiffness / hopper.mass)
    phase = math.atan2(-x[1] / w, hopper.gravity / w**2)
    return 2.0 * (math.pi - phase) / w


def _stance(hopper: SpringHopper, x: Array, t: Array) -> Array:
    """Oscillation about the height at rest, L0 - m g / k."""
    w = math.sqrt(hopper.stiffness / hopper.mass)
    rest = hopper.length - hopper.gravity / w**2
    c, s = np.cos(w * t), np.sin(w * t)
    z = rest + (x[0] - rest) * c + x[1] / w * s
    return np.stack([z, x[1] * c - w * (x[0] - rest) * s], axis=1)


def _flow(x: Array, side: Array, p: Array) -> Array:
    """f: after LAND and until LEAVE the spring pushes."""
    push = p[1] * (p[2] - x[0]) if side[0] > 0.0 and side[1] < 0.0 else 0.0
    return np.array([x[1], push - p[0]])


def _events(x: Array, p: Array) -> Array:
    return np.array([p[2] - x[0], x[0] - p[2]])


def _events_state(x: Array, p: Array) -> Array:
    return np.array([[-1.0, 0.0], [1.0, 0.0]])
