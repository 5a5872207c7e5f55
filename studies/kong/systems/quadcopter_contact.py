"""Mechanics of a planar quadcopter whose edges touch a round wall from inside (5.4.4).

State x = [y, z [m], theta [rad], and their rates] (6,), input u = [left, right thrust [N]]. An edge
is named by its ``arm``: half the width, positive for the right edge and negative for the left, so
that (5.39) and (5.40) are one formula. All functions take real and complex scalars, so that
derivatives by complex step are exact to rounding.

The constraint force pushes inward where lambda > 0, M qdd + N = Y + A' lambda with A = D_q a and
N = [0, mg, 0]; the edge lifts off where lambda falls through zero. The print has errors:
docs/errata.md.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from hybrid.systems import Array, Transition

_STEP = 1e-30  # of a complex step
FREE, LEFT, RIGHT, LATCHED, LEFT_RELEASED, RIGHT_RELEASED = 1, 2, 3, 4, 5, 6
_RETURN_RATE = 1e-7  # gap rate at which a released edge counts as coming back [m^2/s]


class Body(NamedTuple):
    """A quadcopter and its wall. Defaults are those of 5.4.4 where it prints them."""

    mass: float = 1.0  # [kg], 5.4
    inertia: float = 1.0  # [kg m^2], 5.4.4
    width: float = 0.25  # w [m], 5.4.4
    gravity: float = 9.8  # [m/s^2], 5.4
    radius: float = 5.0  # of the wall, about the origin [m], 5.4.4
    friction: float = 0.1  # mu; not printed, the project's own choice
    creep: float = 0.05  # sliding speed at which friction has 0.71 of its full size [m/s]; own


@njit(cache=True)
def edge_motion(x, arm):
    """Position and velocity of an edge, (5.39) and (5.40): (y, z [m], and rates [m/s])."""
    c, s = np.cos(x[2]), np.sin(x[2])
    return x[0] + arm * c, x[1] + arm * s, x[3] - arm * s * x[5], x[4] + arm * c * x[5]


@njit(cache=True)
def gap(x, arm, radius):
    """The constraint a = r^2 - y^2 - z^2 of an edge [m^2]: positive inside the wall."""
    py, pz, _, _ = edge_motion(x, arm)
    return radius * radius - py * py - pz * pz


@njit(cache=True)
def gap_rate(x, arm):
    """Its rate [m^2/s]: negative while the edge comes nearer."""
    py, pz, vy, vz = edge_motion(x, arm)
    return -2.0 * (py * vy + pz * vz)


@njit(cache=True)
def free_acceleration(x, u, body):
    """M^-1 (Y - N) of (5.37) and (5.38), gravity downward: [m/s^2], [m/s^2], [rad/s^2]."""
    thrust = (u[0] + u[1]) / body.mass
    turn = 0.5 * body.width * (u[1] - u[0]) / body.inertia
    return -np.sin(x[2]) * thrust, np.cos(x[2]) * thrust - body.gravity, turn


@njit(cache=True)
def _contact_frame(x, arm, radius):
    """A = D_q a / (2 r) and the tangent's Jacobian: inward normal, anticlockwise tangent, arms.

    Both directions have unit length on the wall. Returns (n_y, n_z, n_theta, t_theta); the
    tangent is (n_z, -n_y).
    """
    py, pz, _, _ = edge_motion(x, arm)
    ny, nz = -py / radius, -pz / radius
    c, s = np.cos(x[2]), np.sin(x[2])
    return ny, nz, arm * (c * nz - s * ny), -arm * (s * nz + c * ny)


@njit(cache=True)
def sliding_acceleration(x, u, arm, body):
    """Accelerations (3) and normal force lambda [N] of an edge that slides, (5.33) and (5.34).

    Friction is regularised Coulomb, lambda_t = mu lambda v / sqrt(v^2 + creep^2) against the
    tangential velocity v: full where it slides, and a creep of a few cm/s where it would stick.
    """
    ay, az, turn = free_acceleration(x, u, body)
    py, pz, vy, vz = edge_motion(x, arm)
    ny, nz, n_arm, t_arm = _contact_frame(x, arm, body.radius)
    v = nz * vy - ny * vz
    drag = body.friction * v / np.sqrt(v * v + body.creep * body.creep)
    fy, fz, f_arm = ny - drag * nz, nz + drag * ny, n_arm - drag * t_arm
    inward = arm * x[5] * x[5] * (np.cos(x[2]) * py + np.sin(x[2]) * pz)
    bias = (inward - vy * vy - vz * vz) / body.radius  # dA/dt qd
    yielding = (ny * fy + nz * fz) / body.mass + n_arm * f_arm / body.inertia
    force = -(ny * ay + nz * az + n_arm * turn + bias) / yielding
    push = force / body.mass
    return ay + push * fy, az + push * fz, turn + force * f_arm / body.inertia, force


@njit(cache=True)
def plastic_impact(x, arm, body):
    """Velocities (3) after an edge hits the wall: frictionless plastic impact, (3.67)."""
    ny, nz, n_arm, _ = _contact_frame(x, arm, body.radius)
    yielding = (ny * ny + nz * nz) / body.mass + n_arm * n_arm / body.inertia
    impulse = -(ny * x[3] + nz * x[4] + n_arm * x[5]) / yielding
    push = impulse / body.mass
    return x[3] + push * ny, x[4] + push * nz, x[5] + impulse * n_arm / body.inertia


@njit(cache=True)
def _bumped(values, i):
    bumped = values.astype(np.complex128)
    bumped[i] += _STEP * 1j
    return bumped


@njit(cache=True)
def free_jacobians(x, u, body):
    """D_x F (6, 6) and D_u F (6, 2) of free flight."""
    D_x, D_u = np.zeros((6, 6)), np.zeros((6, 2))
    for i in range(3):
        D_x[i, i + 3] = 1.0
    s, c, thrust = np.sin(x[2]), np.cos(x[2]), (u[0] + u[1]) / body.mass
    D_x[3, 2], D_x[4, 2] = -c * thrust, -s * thrust
    for j in range(2):
        D_u[3, j], D_u[4, j] = -s / body.mass, c / body.mass
        D_u[5, j] = (j - 0.5) * body.width / body.inertia
    return D_x, D_u


@njit(cache=True)
def sliding_jacobians(x, u, arm, body):
    """D_x (7, 6) and D_u (7, 2) of the sliding flow F (6), and of lambda in the last row."""
    D_x, D_u = np.zeros((7, 6)), np.zeros((7, 2))
    for i in range(3):
        D_x[i, i + 3] = 1.0
    for i in range(6):
        ay, az, turn, force = sliding_acceleration(_bumped(x, i), u, arm, body)
        D_x[3, i], D_x[4, i], D_x[5, i] = ay.imag / _STEP, az.imag / _STEP, turn.imag / _STEP
        D_x[6, i] = force.imag / _STEP
    for i in range(2):
        ay, az, turn, force = sliding_acceleration(x, _bumped(u, i), arm, body)
        D_u[3, i], D_u[4, i], D_u[5, i] = ay.imag / _STEP, az.imag / _STEP, turn.imag / _STEP
        D_u[6, i] = force.imag / _STEP
    return D_x, D_u


def impact(source: int, target: int, body: Body, arm: float) -> Transition:
    """First edge on the wall: the velocity into it ends, (3.67)."""
    radius = body.radius

    def reset(t: float, x: Array, u: Array) -> Array:
        vy, vz, turn = plastic_impact(x, arm, body)
        return np.array([x[0], x[1], x[2], vy, vz, turn])

    return Transition(
        source,
        target,
        guard=lambda t, x, u: gap(x, arm, radius),
        reset=reset,
        name="impact",
        time_invariant=True,
    )


def latch(source: int, body: Body, arm: float) -> Transition:
    """Second edge on the wall: all velocity ends."""
    radius = body.radius
    return Transition(
        source,
        LATCHED,
        guard=lambda t, x, u: gap(x, arm, radius),
        reset=lambda t, x, u: np.array([x[0], x[1], x[2], 0.0, 0.0, 0.0]),
        name="latch",
        time_invariant=True,
    )


def liftoff(source: int, target: int, body: Body, arm: float) -> Transition:
    """The wall would have to pull: lambda falls through zero, (3.71). It depends on the input."""
    return Transition.continuous(
        source,
        target,
        lambda t, x, u: sliding_acceleration(x, u, arm, body)[3],
        "liftoff",
        time_invariant=True,
    )


def turn_back(source: int, arm: float) -> Transition:
    """The apex of 3.6.2: a released edge has begun to come back."""
    return Transition.continuous(
        source,
        FREE,
        lambda t, x, u: gap_rate(x, arm) + _RETURN_RATE,
        "turn back",
        time_invariant=True,
    )
