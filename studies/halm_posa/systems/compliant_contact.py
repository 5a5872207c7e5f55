"""Stiff contact forces of a rocking block's corners (Halm and Posa, (88)-(90)).

Kelvin-Voigt normal forces (88), and friction smoothed near zero slip (89)-(90). State
y = [q (3), v (3), Lambda_n,A, Lambda_n,B]. The Jacobian is exact: friction changes from -mu to mu
within 1e-10 m/s, which a difference quotient cannot resolve.
The print has errors: docs/errata.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid.systems import Array
from studies.halm_posa.systems.rocking_block import RockingBlock, arms

Touching = NDArray[np.bool_]  # (2,) which of A and B is in contact


@dataclass(frozen=True)
class CompliantContact:
    """Corners that give way; the defaults are those of 5.4.1.

    Raises:
        ValueError: a stiffness, the damping or a speed is not positive.
    """

    stiffness: tuple[float, float] = (1e6, 1e6)  # k_A, k_B [N/m]
    damping_ratio: float = 5.0  # zeta
    slip: float = 1e-10  # epsilon of (90) [m/s]
    separated: float = 1e-9  # delta: what closes more slowly has ended its collision [m/s]
    relative: float = 1e-9  # tolerance of the integration; from 1e-7 on it may step over sticking
    absolute: float = 1e-12
    duration: float = 0.1  # after which a collision has not ended [s]

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not min(*self.stiffness, self.damping_ratio, self.slip, self.separated) > 0.0:
            raise ValueError(
                f"compliant contact: {self}; give stiffness, damping and speeds above 0"
            )


def stiffness_for(ratio: float, softest: float = 1e6) -> tuple[float, float]:
    """k_A and k_B [N/m] of a ratio k_A / k_B, the softer of them as given.

    Raises:
        ValueError: the ratio is not positive.
    """
    if not ratio > 0.0:
        raise ValueError(f"compliant contact: stiffness ratio {ratio}; give a number above 0")
    return softest * max(ratio, 1.0), softest * max(1.0 / ratio, 1.0)


class _Force(NamedTuple):
    """Force of one corner and its derivatives."""

    n: float  # lambda_n (88) [N]
    t: float  # lambda_t (89) [N]
    n_y: Array  # (6,) by [q, v]
    t_y: Array  # (6,)


def _force(
    block: RockingBlock, contact: CompliantContact, corner: int, arm: Array, y: Array
) -> _Force:
    """(88)-(90) of a corner at an arm (2,) [m] from the centre, which is in contact."""
    (rx, ry), (vx, vy, rate) = arm, y[3:6]
    k = contact.stiffness[corner]
    c = 2.0 * contact.damping_ratio * math.sqrt(k * block.mass)
    n = -k * (y[1] + ry) - c * (vy + rx * rate)
    if n <= 0.0:
        return _Force(0.0, 0.0, np.zeros(6), np.zeros(6))
    n_y = np.array([0.0, -k, -k * rx + c * ry * rate, 0.0, -c, -c * rx])
    slip = vx - ry * rate
    sticks = abs(slip) < contact.slip
    unit = slip / max(abs(slip), contact.slip)
    t_y = -block.friction * unit * n_y
    if sticks:
        slip_y = np.array([0.0, 0.0, -rx * rate, 1.0, 0.0, -ry])
        t_y = t_y - block.friction * n / contact.slip * slip_y
    return _Force(n, -block.friction * n * unit, n_y, t_y)


def flow(block: RockingBlock, contact: CompliantContact, touching: Touching, y: Array) -> Array:
    """(10) with the forces of the corners that touch (8,)."""
    out = np.zeros(8)
    out[:3], out[4] = y[3:6], -block.gravity
    for i, arm in enumerate(arms(block, y[2])):
        if touching[i]:
            force = _force(block, contact, i, arm, y)
            out[3] += force.t / block.mass
            out[4] += force.n / block.mass
            out[5] += (arm[0] * force.n - arm[1] * force.t) / block.inertia
            out[6 + i] = force.n
    return out


def jacobian(block: RockingBlock, contact: CompliantContact, touching: Touching, y: Array) -> Array:
    """Derivative of ``flow`` by y (8, 8)."""
    out = np.zeros((8, 8))
    out[:3, 3:6] = np.eye(3)
    for i, arm in enumerate(arms(block, y[2])):
        if touching[i]:
            force = _force(block, contact, i, arm, y)
            out[3, :6] += force.t_y / block.mass
            out[4, :6] += force.n_y / block.mass
            turn = arm[0] * force.n_y - arm[1] * force.t_y
            turn[2] -= arm[1] * force.n + arm[0] * force.t  # the arm turns with theta
            out[5, :6] += turn / block.inertia
            out[6 + i, :6] = force.n_y
    return out
