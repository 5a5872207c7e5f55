"""A square box that slides on one corner into a wall: 5.4.3, figures 5 and 11, Table 6.

Coordinates [x, y of the centre [m], angle, counter-clockwise [rad]]. The box is tilted clockwise
by theta from lying on the ground, so that its lower right corner, A, slides on the floor, and its
upper right corner, B, meets the wall, which is at the right. For a square the authors' own angle,
90 degrees less theta counter-clockwise, is the same box.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

import numpy as np

from saltation.impacts.contact_problem import ContactProblem
from saltation.systems import Array

_CORNERS = np.array([[0.5, -0.5], [0.5, 0.5]])  # A, B from the centre, over w, in the box's frame


# Table 6; the box has uniform density.
SIDE, MASS = 1.0, 1.0  # w [m], m [kg]
TILT = np.deg2rad(10.0)  # theta [rad]
SPEED = 1.0  # v_0, towards the wall [m/s]
FRICTION = 1.0  # mu, of floor and wall


def corners(q: Array) -> Array:
    """Positions (2, 2) of A and B [m]."""
    c, s = np.cos(q[2]), np.sin(q[2])
    return q[:2] + SIDE * _CORNERS @ np.array([[c, s], [-s, c]])


_A, _B = corners(np.array([0.0, 0.0, -TILT]))
CONFIGURATION = np.array([-_B[0], -_A[1], -TILT])  # A on the floor y = 0, B at the wall x = 0
VELOCITY = np.array([SPEED, 0.0, 0.0])  # before the impact [m/s, m/s, rad/s]: towards the wall


def problem(q: Array = CONFIGURATION) -> ContactProblem:
    """Contacts A (floor) and B (wall) at ``q``, else at Table 6's configuration.

    Tangential velocities are those of A towards the wall and of B upwards.
    """
    A, B = corners(q) - q[:2]
    floor = np.array([[0.0, 1.0, A[0]], [1.0, 0.0, -A[1]]])
    wall = np.array([[-1.0, 0.0, B[1]], [0.0, 1.0, B[0]]])
    M = np.diag([MASS, MASS, MASS * SIDE**2 / 6.0])
    J_n, J_t = np.stack([floor, wall], axis=1)
    return ContactProblem.planar(M, J_n, J_t, FRICTION, ("A", "B"), "box and wall")
