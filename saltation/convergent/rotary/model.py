"""The rotary cart pole by Lagrange's equations: (2.25)-(2.27).

With the arm's angle theta and the pendulum's alpha, 0 where it hangs and pi upright, a point of the
pendulum at a distance r from the arm's end is -r sin alpha from it along the arm's motion and
-r cos alpha upwards, so that

    2 T = M_11 theta'^2 + 2 M_12 theta' alpha' + M_22 alpha'^2,   V = m_p g L_p / 2 (1 - cos alpha)
    M_11 = J_r + m_p L_r^2 + J sin^2 alpha,   M_12 = -m_p L_p L_r / 2 cos alpha,   M_22 = J
    J = J_p + m_p L_p^2 / 4

and hence, with the damping and the torque tau on the arm,

    M_11 theta'' + M_12 alpha'' + 2 J s c theta' alpha' + m_p L_p L_r / 2 s alpha'^2
        = tau - D_r theta'
    M_12 theta'' + M_22 alpha'' - J s c theta'^2 + m_p g L_p / 2 s = -D_p alpha'

with s = sin alpha and c = cos alpha. The print has errors: docs/errata.md.

All functions take numbers, arrays (4, k) and rows of CasADi expressions alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from saltation.arrays import Array
from saltation.convergent.rotary.parameters import RotaryPendulum


class Inertia(NamedTuple):
    """The mass matrix [[m_11, m_12], [m_12, m_22]] [kg m^2]."""

    m_11: Any
    m_12: Any
    m_22: Any

    @property
    def determinant(self) -> Any:
        """Its determinant, positive everywhere."""
        return self.m_11 * self.m_22 - self.m_12 * self.m_12


def inertia(pendulum: RotaryPendulum, alpha: Any) -> Inertia:
    """The mass matrix where the pendulum is at alpha [rad]."""
    m_p, L_p, _, L_r, J_r, J_p, *_ = pendulum
    J = J_p + 0.25 * m_p * L_p * L_p
    s, c = np.sin(alpha), np.cos(alpha)
    return Inertia(J_r + m_p * L_r * L_r + J * s * s, -0.5 * m_p * L_p * L_r * c, J)


def flow(pendulum: RotaryPendulum, x: Any, torque: Any) -> tuple[Any, Any, Any, Any]:
    """f of (2.27): (theta', alpha', theta'', alpha'') at x = (theta, alpha, theta', alpha')."""
    m_p, L_p, _, L_r, _, _, D_r, D_p, g = pendulum
    _, alpha, theta_dot, alpha_dot = x
    m_11, m_12, J = M = inertia(pendulum, alpha)
    s, c = np.sin(alpha), np.cos(alpha)
    on_arm = (
        torque
        - D_r * theta_dot
        - 2.0 * J * s * c * theta_dot * alpha_dot
        - 0.5 * m_p * L_p * L_r * s * alpha_dot * alpha_dot
    )
    on_pole = J * s * c * theta_dot * theta_dot - 0.5 * m_p * g * L_p * s - D_p * alpha_dot
    theta_dot_dot = (J * on_arm - m_12 * on_pole) / M.determinant
    alpha_dot_dot = (m_11 * on_pole - m_12 * on_arm) / M.determinant
    return theta_dot, alpha_dot, theta_dot_dot, alpha_dot_dot


def runge_kutta(rate: Callable[[float, Array], Array], t: float, h: float, x: Array) -> Array:
    """The state after a step of h [s] of the method of the fourth order."""
    a = rate(t, x)
    b = rate(t + 0.5 * h, x + 0.5 * h * a)
    c = rate(t + 0.5 * h, x + 0.5 * h * b)
    d = rate(t + h, x + h * c)
    return x + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)


def energy(pendulum: RotaryPendulum, x: Any) -> Any:
    """T + V [J], zero where it hangs at rest."""
    _, alpha, theta_dot, alpha_dot = x
    m_11, m_12, m_22 = inertia(pendulum, alpha)
    kinetic = m_11 * theta_dot * theta_dot + 2.0 * m_12 * theta_dot * alpha_dot
    kinetic = 0.5 * (kinetic + m_22 * alpha_dot * alpha_dot)
    return kinetic + 0.5 * pendulum.m_p * pendulum.g * pendulum.L_p * (1.0 - np.cos(alpha))


def power(pendulum: RotaryPendulum, x: Any, torque: Any) -> Any:
    """Power of the torque less that of the damping [W]: the energy's rate."""
    _, _, theta_dot, alpha_dot = x
    lost = pendulum.D_r * theta_dot * theta_dot + pendulum.D_p * alpha_dot * alpha_dot
    return torque * theta_dot - lost
