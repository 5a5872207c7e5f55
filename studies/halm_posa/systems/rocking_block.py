"""A slender block that lands flat on two corners (Halm and Posa, figure 1 and table 4).

Configuration q = [x [m], y [m], theta [rad]]: the centre of mass, and the angle of the block with
the ground. Contacts A, the lower left corner, and B, the lower right one. Their signed distances
phi are their heights over the ground y = 0.
"""

from __future__ import annotations

import math

import numpy as np

from saltation.impacts.contact_problem import ContactProblem
from saltation.systems import Array

WIDTH, HEIGHT = 1.0, 2.0  # w, h [m], table 4
MASS = 1.0  # m [kg]
FRICTION = 1.0  # mu
SPEED = 0.4429  # v_0, downwards [m/s]
GRAVITY = 9.81  # g [m/s^2], 4.3
INERTIA = MASS * (WIDTH**2 + HEIGHT**2) / 12.0  # I about the centre [kg m^2]: docs/errata.md
RADIUS = 0.5 * math.hypot(WIDTH, HEIGHT)  # ||r||_2, from a corner to the centre [m]
ALPHA = math.atan2(HEIGHT, WIDTH)  # at a corner, from the base to the line to the centre [rad]


MASS_MATRIX = np.diag([MASS, MASS, INERTIA])  # M of (11)
STANDING = np.array([0.0, 0.5 * HEIGHT, 0.0])  # flat on the ground, the centre over the origin
VELOCITY = np.array([0.0, -SPEED, 0.0])  # before the impact: straight down, without turning


def arms(theta: float) -> Array:
    """From the centre to A and B (2, 2) [m], in world axes; these are -r of 4.3."""
    c, s = math.cos(theta), math.sin(theta)
    half = 0.5 * np.array([[-WIDTH, -HEIGHT], [WIDTH, -HEIGHT]])
    return half @ np.array([[c, s], [-s, c]])


def corners(q: Array) -> Array:
    """Positions (2, 2) of A and B [m] at the configuration q (3,); heights are phi of (12)."""
    return q[:2] + arms(q[2])


def normal_jacobian(theta: float) -> Array:
    """J_n (2, 3) of (26): velocities of A and B away from the ground are J_n v."""
    return np.array([[0.0, 1.0, arm[0]] for arm in arms(theta)])


def tangential_jacobian(theta: float) -> Array:
    """J_t (2, 3) of (26): velocities of A and B along the ground are J_t v."""
    return np.array([[1.0, 0.0, -arm[1]] for arm in arms(theta)])


def problem() -> ContactProblem:
    """The impact of figure 1: flat on the ground, with both corners in contact."""
    J_n, J_t = normal_jacobian(0.0), tangential_jacobian(0.0)  # noqa: N806
    return ContactProblem.planar(MASS_MATRIX, J_n, J_t, FRICTION, ("A", "B"), "rocking block")
