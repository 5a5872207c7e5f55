"""A planar arm of three links whose tip touches a round stone: a nonlinear rigid body (3.6).

State x = [angles of the links against the horizontal (3) [rad], their rates (3) [rad/s]], input
u = [torques at the three joints (3) [N m]]. Mass matrix, Coriolis matrix and constraint all depend
on the configuration, the joints are damped, and the velocity J_t qd along the stone is not the
rate of any function of q off its surface. Three links, so that the arm still moves with its tip
stuck. The project's own example and numbers.
"""

# ruff: noqa: N806

from __future__ import annotations

from typing import Any

import numpy as np

from saltation.rigid_body.body import RigidBody

LENGTHS = np.array([0.5, 0.4, 0.3])  # [m]
MASSES = np.array([2.0, 1.2, 0.8])  # [kg], spread evenly along the links
DAMPING = np.array([0.3, 0.2, 0.1])  # of the joints [N m s/rad]
GRAVITY = 9.81  # [m/s^2]
STONE = np.array([0.25, -1.5])  # centre, seen from the shoulder [m]
RADIUS = 0.5  # of the stone [m]
HANGING = np.array([-1.0, -1.9, -0.8])  # angles with the tip near the stone [rad]
_JOINTS = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [0.0, 0.0, 1.0]])  # torque to angle


def three_link_arm(
    mu_s: float = 0.6,
    mu_k: float = 0.4,
    impact_friction: float = 0.4,
    restitution: float = 0.0,
    damping: float = 1.0,
) -> RigidBody:
    """Arm with friction coefficients and restitution; ``damping`` scales that of the joints."""
    inertia, moments = _inertia()
    damper = damping * (_JOINTS * DAMPING) @ _JOINTS.T

    def mass(q: Any) -> Any:
        return inertia * np.cos(q[:, None] - q)

    def coriolis(q: Any, qd: Any) -> Any:
        return inertia * np.sin(q[:, None] - q) * qd

    def other_forces(q: Any, qd: Any) -> Any:
        return GRAVITY * moments * np.cos(q) + damper @ qd

    return RigidBody(
        dof=3,
        input_dim=3,
        mass=mass,
        coriolis=coriolis,
        other_forces=other_forces,
        input_forces=lambda q, u: _JOINTS @ u,
        gap=stone_gap,
        normal=lambda q: _along(q, turned=False),
        tangent=lambda q: _along(q, turned=True),
        normal_rate=lambda q, qd: _along_rate(q, qd, turned=False),
        tangent_rate=lambda q, qd: _along_rate(q, qd, turned=True),
        mu_s=mu_s,
        mu_k=mu_k,
        impact_friction=impact_friction,
        restitution=restitution,
    )


def tip(q: Any) -> Any:
    """Position of the tip (2,) [m], seen from the shoulder."""
    return np.array([LENGTHS @ np.cos(q), LENGTHS @ np.sin(q)])


def stone_gap(q: Any) -> Any:
    """Distance [m] of the tip from the stone's surface."""
    away = tip(q) - STONE
    return np.sqrt(away @ away) - RADIUS


def _inertia() -> tuple[Any, Any]:
    """Inertias a_ij (3, 3) [kg m^2], M_ij = a_ij cos(q_i - q_j), and mass moments (3,) [kg m]."""
    beyond = np.array([MASSES[i + 1 :].sum() for i in range(3)])
    moments = LENGTHS * (MASSES / 2.0 + beyond)
    a = np.empty((3, 3))
    for i in range(3):
        a[i, i] = LENGTHS[i] ** 2 * (MASSES[i] / 3.0 + beyond[i])
        for j in range(i):
            a[i, j] = a[j, i] = LENGTHS[j] * moments[i]
    return a, moments


def _frame(q: Any, turned: bool) -> tuple[Any, Any, Any, Any, Any]:
    """Links (3,) across and up [m], distance from the stone's centre, and a unit vector (2,).

    The vector points out of the stone, or, turned clockwise, to the right on top of it.
    """
    across, up = LENGTHS * np.cos(q), LENGTHS * np.sin(q)
    x, y = across.sum() - STONE[0], up.sum() - STONE[1]
    distance = np.sqrt(x * x + y * y)
    x, y = x / distance, y / distance
    return (across, up, distance, y, -x) if turned else (across, up, distance, x, y)


def _along(q: Any, turned: bool) -> Any:
    """Row (3,) that gives the tip's velocity out of the stone, or along it."""
    across, up, _, x, y = _frame(q, turned)
    return y * across - x * up


def _along_rate(q: Any, qd: Any, turned: bool) -> Any:
    """Rate (3,) of that row."""
    across, up, distance, x, y = _frame(q, turned)
    n_x, n_y = (-y, x) if turned else (x, y)
    spin = (n_x * (across @ qd) + n_y * (up @ qd)) / distance  # rate of the vector's angle
    return spin * (x * across + y * up) - (y * up + x * across) * qd
