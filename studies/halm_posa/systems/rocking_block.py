"""A slender block that lands flat on two corners (Halm and Posa, figure 1 and table 4).

Configuration q = [x [m], y [m], theta [rad]]: the centre of mass, and the angle of the block with
the ground. Contacts A, the lower left corner, and B, the lower right one. Their signed distances
phi are their heights over the ground y = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.systems import Array

CONTACTS = ("A", "B")


@dataclass(frozen=True)
class RockingBlock:
    """A uniform block, and how it arrives; the defaults are table 4."""

    width: float = 1.0  # w [m]
    height: float = 2.0  # h [m]
    mass: float = 1.0  # m [kg]
    friction: float = 1.0  # mu
    speed: float = 0.4429  # v_0, downwards, of table 4 [m/s]
    gravity: float = 9.81  # g [m/s^2], 4.3

    @property
    def inertia(self) -> float:
        """I = m (w^2 + h^2) / 12 about the centre [kg m^2]. Erratum: docs/errata.md."""
        return self.mass * (self.width**2 + self.height**2) / 12.0

    @property
    def radius(self) -> float:
        """||r||_2, from a corner to the centre [m]."""
        return 0.5 * math.hypot(self.width, self.height)

    @property
    def alpha(self) -> float:
        """Angle arctan(h / w) at a corner, between the base and the line to the centre [rad]."""
        return math.atan2(self.height, self.width)


def mass_matrix(block: RockingBlock) -> Array:
    """M (3, 3) of (11)."""
    return np.diag([block.mass, block.mass, block.inertia])


def arms(block: RockingBlock, theta: float) -> Array:
    """From the centre to A and B (2, 2) [m], in world axes; these are -r of 4.3."""
    c, s = math.cos(theta), math.sin(theta)
    half = 0.5 * np.array([[-block.width, -block.height], [block.width, -block.height]])
    return half @ np.array([[c, s], [-s, c]])


def corners(block: RockingBlock, q: Array) -> Array:
    """Positions (2, 2) of A and B [m] at the configuration q (3,); heights are phi of (12)."""
    return q[:2] + arms(block, float(q[2]))


def normal_jacobian(block: RockingBlock, theta: float) -> Array:
    """J_n (2, 3) of (26): velocities of A and B away from the ground are J_n v."""
    return np.array([[0.0, 1.0, arm[0]] for arm in arms(block, theta)])


def tangential_jacobian(block: RockingBlock, theta: float) -> Array:
    """J_t (2, 3) of (26): velocities of A and B along the ground are J_t v."""
    return np.array([[1.0, 0.0, -arm[1]] for arm in arms(block, theta)])


def standing(block: RockingBlock) -> Array:
    """Configuration (3,) flat on the ground, with the centre over the origin."""
    return np.array([0.0, 0.5 * block.height, 0.0])


def problem(block: RockingBlock = RockingBlock()) -> ContactProblem:
    """The impact of figure 1: flat on the ground, with both corners in contact."""
    J_n, J_t = normal_jacobian(block, 0.0), tangential_jacobian(block, 0.0)  # noqa: N806
    return ContactProblem.planar(
        mass_matrix(block), J_n, J_t, np.full(2, block.friction), CONTACTS, "rocking block"
    )


def velocity(block: RockingBlock = RockingBlock()) -> Array:
    """Velocity (3,) before the impact: straight down, without turning."""
    return np.array([0.0, -block.speed, 0.0])
