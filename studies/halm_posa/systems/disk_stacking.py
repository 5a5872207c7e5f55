"""A disk dropped onto two that rest on the ground: 5.4.5, figure 14, Table 8.

Coordinates [x, y of the centre [m], angle [rad]] of the top, the left and the right disk in turn.
All three touch, so that there are five contacts: A, B of the left and the right disk with the
ground, C, D of the top disk with the left and the right one, E of these two with each other.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

import numpy as np

from saltation.impacts.contact_problem import ContactProblem
from saltation.systems import Array

TOP, LEFT, RIGHT = 0, 1, 2
GROUND = -1
CONTACTS = {
    "A": (LEFT, GROUND),
    "B": (RIGHT, GROUND),
    "C": (TOP, LEFT),
    "D": (TOP, RIGHT),
    "E": (RIGHT, LEFT),
}  # the disk, and what it is pushed away from


# Table 8; disks have uniform density.
RADIUS, MASS = 1.0, 1.0  # R [m], m [kg]
SPEED = 1.0  # of the top disk, downwards: v_0 = -1 in the table [m/s]
FRICTION = np.sqrt(3.0)  # mu, of every contact


# The pyramid (9,), with the left disk over x = 0, and before the impact (9,) [m/s, rad/s].
CONFIGURATION = RADIUS * np.array([1.0, 1.0 + np.sqrt(3.0), 0.0, 0.0, 1.0, 0.0, 2.0, 1.0, 0.0])
VELOCITY = np.array([0.0, -SPEED, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # the top disk falls


def problem(q: Array = CONFIGURATION) -> ContactProblem:
    """The five contacts at ``q``, else in the pyramid.

    Tangential velocities are those of the first surface against the second one, to the right of
    the normal that points from the second to the first.
    """
    rows = [_rows(q, *pair) for pair in CONTACTS.values()]
    M = np.diag(np.tile([1.0, 1.0, 0.5 * RADIUS**2], 3) * MASS)
    J_n, J_t = np.stack(rows, axis=1)
    name = "disk stacking"
    return ContactProblem.planar(M, J_n, J_t, FRICTION, tuple(CONTACTS), name)


def _rows(q: Array, disk: int, other: int) -> Array:
    """Normal and tangential row (2, 9) of one contact."""
    normal = np.array([0.0, 1.0])
    if other != GROUND:
        normal = q[3 * disk : 3 * disk + 2] - q[3 * other : 3 * other + 2]
        normal = normal / np.linalg.norm(normal)
    tangent = np.array([normal[1], -normal[0]])
    rows = np.zeros((2, 9))
    rows[:, 3 * disk : 3 * disk + 2] = normal, tangent
    rows[1, 3 * disk + 2] = RADIUS
    if other != GROUND:
        rows[:, 3 * other : 3 * other + 2] = -normal, -tangent
        rows[1, 3 * other + 2] = RADIUS
    return rows
