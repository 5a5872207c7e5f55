"""A planar quadcopter that perches on a round wall with two edges (5.4.4, 5.5.4).

State x = [y, z [m], theta [rad], and their rates], input u = [left, right thrust [N]]. The modes
are free flight, one edge sliding with friction, and both edges latched, from which there is no way
out: nothing moves and no input acts. After liftoff comes a mode of its own for the edge that still
moves away, the V of 3.6.1: it cannot strike the wall that it is just leaving, whatever the last
digit of its distance says, until it turns back.

Impacts are plastic along the normal alone: 5.4.4 gives friction by lambda_t = mu lambda_n for a
sliding edge and no impulse of it. The second edge to touch latches: both velocities end.

An edge is named by its ``arm``: half the width, positive for the right edge and negative for the
left, so that (5.39) and (5.40) are one formula. The functions take real and complex scalars, so
that derivatives by complex step are exact to rounding. The constraint force pushes inward where
lambda > 0, M qdd + N = Y + A' lambda with A = D_q a and N = [0, mg, 0]; the edge lifts off where
lambda falls through zero. The print has errors: docs/errata.md.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
from numba import njit

from saltation.systems import Array, Mode, System, Transition
from studies.kong.systems.complex_steps import mode

FREE, LEFT, RIGHT, LATCHED, LEFT_RELEASED, RIGHT_RELEASED = 1, 2, 3, 4, 5, 6
MASS = 1.0  # [kg], 5.4
INERTIA = 1.0  # [kg m^2], 5.4.4
WIDTH = 0.25  # w [m], 5.4.4
GRAVITY = 9.8  # [m/s^2], 5.4
RADIUS = 5.0  # of the wall, about the origin [m], 5.4.4
FRICTION = 0.1  # mu; not printed, the project's own choice
CREEP = 0.05  # sliding speed at which friction has 0.71 of its full size [m/s]; own choice
ARM = 0.5 * WIDTH
compiled = njit(cache=True)
START = np.array([2.0, 2.5, -pi / 8, 4.0, 0.0, 0.0])  # x_0, 5.4.4
TARGET_ANGLE = -pi / 12  # of the perch on the wall [rad], 5.4.4
_RETURN_RATE = 1e-7  # gap rate at which a released edge counts as coming back [m^2/s]


def quadcopter() -> System:
    """The six modes and their transitions."""
    free = mode("free", 6, 2, free_flow)
    modes = {
        FREE: free,
        LEFT: _sliding("left edge sliding", -ARM),
        RIGHT: _sliding("right edge sliding", ARM),
        LATCHED: mode("latched", 6, 2, lambda t, x, u: 0.0 * x),
        LEFT_RELEASED: replace(free, name="left edge released"),
        RIGHT_RELEASED: replace(free, name="right edge released"),
    }
    edges = [
        edge for slides, released, other, arm in (
            (LEFT, LEFT_RELEASED, RIGHT, -ARM), (RIGHT, RIGHT_RELEASED, LEFT, ARM)
        )
        for edge in (_impact(FREE, slides, arm), _latch(slides, -arm),
                     _liftoff(slides, released, arm), _impact(released, other, -arm),
                     _turn_back(released, arm))
    ]  # fmt: skip
    return System(modes, tuple(edges), "quadcopter")


# x_des of 5.4.4 (6,): at rest with both edges on the wall, at the distance r = sqrt(25 - w^2 / 4)
# that puts both on a circle of radius 5. The print has an error: docs/errata.md.
_R = np.sqrt(RADIUS**2 - 0.25 * WIDTH**2)
PERCH = np.array([_R * np.cos(TARGET_ANGLE), _R * np.sin(TARGET_ANGLE), TARGET_ANGLE - 0.5 * pi,
                  0.0, 0.0, 0.0])  # fmt: skip


@compiled
def edge_motion(x, arm):
    """Position and velocity of an edge, (5.39) and (5.40): (y, z [m], and rates [m/s])."""
    c, s = np.cos(x[2]), np.sin(x[2])
    return x[0] + arm * c, x[1] + arm * s, x[3] - arm * s * x[5], x[4] + arm * c * x[5]


@compiled
def gap(x, arm):
    """The constraint a = r^2 - y^2 - z^2 of an edge [m^2]: positive inside the wall."""
    py, pz, _, _ = edge_motion(x, arm)
    return RADIUS * RADIUS - py * py - pz * pz


@compiled
def free_acceleration(x, u):
    """M^-1 (Y - N) of (5.37) and (5.38), gravity downward: [m/s^2], [m/s^2], [rad/s^2]."""
    thrust = (u[0] + u[1]) / MASS
    turn = 0.5 * WIDTH * (u[1] - u[0]) / INERTIA
    return -np.sin(x[2]) * thrust, np.cos(x[2]) * thrust - GRAVITY, turn


@compiled
def _contact_frame(x, arm):
    """A = D_q a / (2 r) and the tangent's Jacobian: inward normal, anticlockwise tangent, arms.

    Both directions have unit length on the wall. Returns (n_y, n_z, n_theta, t_theta); the
    tangent is (n_z, -n_y).
    """
    py, pz, _, _ = edge_motion(x, arm)
    ny, nz = -py / RADIUS, -pz / RADIUS
    c, s = np.cos(x[2]), np.sin(x[2])
    return ny, nz, arm * (c * nz - s * ny), -arm * (s * nz + c * ny)


@compiled
def sliding_acceleration(x, u, arm):
    """Accelerations (3) and normal force lambda [N] of an edge that slides, (5.33) and (5.34).

    Friction is regularised Coulomb, lambda_t = mu lambda v / sqrt(v^2 + creep^2) against the
    tangential velocity v: full where it slides, and a creep of a few cm/s where it would stick.
    """
    ay, az, turn = free_acceleration(x, u)
    py, pz, vy, vz = edge_motion(x, arm)
    ny, nz, n_arm, t_arm = _contact_frame(x, arm)
    v = nz * vy - ny * vz
    drag = FRICTION * v / np.sqrt(v * v + CREEP * CREEP)
    fy, fz, f_arm = ny - drag * nz, nz + drag * ny, n_arm - drag * t_arm
    inward = arm * x[5] * x[5] * (np.cos(x[2]) * py + np.sin(x[2]) * pz)
    bias = (inward - vy * vy - vz * vz) / RADIUS  # dA/dt qd
    yielding = (ny * fy + nz * fz) / MASS + n_arm * f_arm / INERTIA
    force = -(ny * ay + nz * az + n_arm * turn + bias) / yielding
    push = force / MASS
    return ay + push * fy, az + push * fz, turn + force * f_arm / INERTIA, force


@compiled
def plastic_impact(x, arm):
    """State (6,) after an edge hits the wall: frictionless plastic impact, (3.67)."""
    ny, nz, n_arm, _ = _contact_frame(x, arm)
    yielding = (ny * ny + nz * nz) / MASS + n_arm * n_arm / INERTIA
    impulse = -(ny * x[3] + nz * x[4] + n_arm * x[5]) / yielding
    push, turn = impulse / MASS, x[5] + impulse * n_arm / INERTIA
    return np.array([x[0], x[1], x[2], x[3] + push * ny, x[4] + push * nz, turn])


def free_flow(t: float, x: Array, u: Array) -> Array:
    """F (6,) in free flight."""
    ay, az, turn = free_acceleration(x, u)
    return np.array([x[3], x[4], x[5], ay, az, turn])


def _sliding(name: str, arm: float) -> Mode:
    def flow(t: float, x: Array, u: Array) -> Array:
        ay, az, turn, _ = sliding_acceleration(x, u, arm)
        return np.array([x[3], x[4], x[5], ay, az, turn])

    return mode(name, 6, 2, flow)


def _impact(source: int, target: int, arm: float) -> Transition:
    """First edge on the wall: the velocity into it ends, (3.67)."""
    return Transition(
        source, target, lambda t, x, u: gap(x, arm), lambda t, x, u: plastic_impact(x, arm),
        name="impact", time_invariant=True
    )  # fmt: skip


def _latch(source: int, arm: float) -> Transition:
    """Second edge on the wall: all velocity ends."""
    return Transition(
        source, LATCHED, lambda t, x, u: gap(x, arm),
        lambda t, x, u: np.array([x[0], x[1], x[2], 0.0, 0.0, 0.0]),
        name="latch", time_invariant=True
    )  # fmt: skip


def _liftoff(source: int, target: int, arm: float) -> Transition:
    """The wall would have to pull: lambda falls through zero, (3.71). It depends on the input."""
    return Transition.continuous(
        source, target, lambda t, x, u: sliding_acceleration(x, u, arm)[3], "liftoff",
        time_invariant=True
    )  # fmt: skip


def _turn_back(source: int, arm: float) -> Transition:
    """The apex of 3.6.2: a released edge has begun to come back."""

    def guard(t: float, x: Array, u: Array) -> float:
        py, pz, vy, vz = edge_motion(x, arm)
        return -2.0 * (py * vy + pz * vz) + _RETURN_RATE  # the rate of the gap

    return Transition.continuous(source, FREE, guard, "turn back", time_invariant=True)
