"""A plate that falls on a bed of springs: as many contacts as one likes.

Source: Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems", section 5.2.
State x = [x [m], z [m], theta [rad], and their rates]: the middle of the plate's underside, which
is also its centre of mass, and its tilt. Tips without friction stand at (x_s, L0), evenly over the
bed. A tip that the plate has sunk over by the depth

    h_s = r + (L0 - r - z) cos(theta) + (x - x_s) sin(theta)                               [m]

pushes with k h_s along the plate's normal; it is round, with the radius r. This is the contact
that MuJoCo has, so both integrate one model. The paper's h_s = L0 + tan(theta) (x - x_s) - z is the
same guard: the depth along the vertical, h_s / cos(theta) with r = 0. Its stance-flight guards are
-h_s, as ours are. Undamped as the hopper of 5.1: the paper's dampers would hold the plate down as
it leaves at -h_s, and no contact of MuJoCo pulls.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from saltation.event_selected.system import EventSelectedSystem
from saltation.systems import Array
from studies.anderson_revzen.systems.spring_hopper import GRAVITY, LENGTH, MASS, STIFFNESS

HEIGHTS = (2.0, 3.0)  # z0 of the random starts [m], 5.2
TILTS = (-0.1, 0.1)  # theta0 of the random starts [rad], 5.2


WIDTH = 2.0  # of the bed [m]
TIP_RADIUS = 0.01  # r [m]
INERTIA = 3.0  # of the plate, a thin one of 6 m [kg m^2]


class SpringBed(NamedTuple):
    """Springs that have a stiffness together; the paper prints none, and of the rest only L0.

    So a larger bed changes the number of contacts, and the motion hardly at all. Mass, length and
    stiffness are those of the hopper that calibrates the integrator.
    """

    springs: int
    stiffness: float = STIFFNESS  # of the bed, k times the number of springs [N/m]

    @property
    def positions(self) -> Array:
        """x_s (springs,) [m]: evenly from edge to edge; a single one in the middle."""
        if self.springs == 1:
            return np.zeros(1)
        return np.linspace(-0.5 * WIDTH, 0.5 * WIDTH, self.springs)

    @property
    def spring_stiffness(self) -> float:
        """Stiffness k of one spring [N/m]."""
        return self.stiffness / self.springs


def spring_bed(bed: SpringBed) -> EventSelectedSystem:
    """The plate as (f, h): guard s lands on tip s, guard ``springs`` + s leaves it, all in metres.

    Each of the two arms the other, the paper's "guard reset matrix".
    """
    n, k = bed.springs, bed.spring_stiffness
    head = [GRAVITY, k / MASS, k / INERTIA, LENGTH - TIP_RADIUS, TIP_RADIUS]
    return EventSelectedSystem(
        name=f"plate on {n} springs",
        state_dim=6,
        event_count=2 * n,
        flow=_flow,
        events=_events,
        events_state=_events_state,
        rearm=np.roll(np.eye(2 * n, dtype=np.bool_), n, axis=0),
        parameters=np.array([*head, *bed.positions]),
    )


def random_starts(count: int, rng: np.random.Generator) -> Array:
    """Starts (count, 6) of 5.2: at rest and over the middle of the bed, height and tilt uniform."""
    starts = np.zeros((count, 6))
    starts[:, 1] = rng.uniform(*HEIGHTS, count)
    starts[:, 2] = rng.uniform(*TILTS, count)
    return starts


def depths(bed: SpringBed, x: Array) -> Array:
    """Depth (springs,) of each tip below the plate's underside [m]; negative above it."""
    return _events(x, spring_bed(bed).parameters)[: bed.springs]


def _flow(x: Array, side: Array, p: Array) -> Array:
    """f: the springs that have been landed on and not left push."""
    s, c = math.sin(x[2]), math.cos(x[2])
    depth = p[4] + (p[3] - x[1]) * c + x[0] * s  # of a tip at x_s = 0
    lever = (p[3] - x[1]) * s - x[0] * c  # of the same tip, along the plate
    leave = side[p.size - 5 :]
    push, turn = _sums(depth, lever, s, c, leave, p[5:])
    return np.array([x[3], x[4], x[5], -p[1] * push * s, p[1] * push * c - p[0], p[2] * turn])


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "nsz"})
def _sums(
    depth: float, lever: float, s: float, c: float, leave: Array, tips: Array
) -> tuple[float, float]:
    """Sums of the depths h, and of h times the lever, in any order: several at once.

    A spring pushes while the guard to leave it is ahead.
    """
    push, turn = 0.0, 0.0
    for i in range(tips.size):
        h = depth - tips[i] * s if leave[i] < 0.0 else 0.0
        push += h
        turn += h * (lever + tips[i] * c)
    return push, turn


def _events(x: Array, p: Array) -> Array:
    n = p.size - 5
    s, c = math.sin(x[2]), math.cos(x[2])
    depth = p[4] + (p[3] - x[1]) * c + x[0] * s
    h = np.empty(2 * n)
    for i in range(n):
        h[i] = depth - p[5 + i] * s
        h[n + i] = -h[i]
    return h


def _events_state(x: Array, p: Array) -> Array:
    """Dh; the lever of a tip is minus the derivative of its depth by theta."""
    n = p.size - 5
    s, c = math.sin(x[2]), math.cos(x[2])
    lever = (p[3] - x[1]) * s - x[0] * c
    Dh = np.zeros((2 * n, 6))
    for i in range(n):
        Dh[i, 0], Dh[i, 1], Dh[i, 2] = s, -c, -(lever + p[5 + i] * c)
        Dh[n + i, 0], Dh[n + i, 1], Dh[n + i, 2] = -s, c, lever + p[5 + i] * c
    return Dh
