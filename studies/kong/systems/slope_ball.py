"""A ball that drops on a slanted surface and slides or sticks there (3.5).

State x = [positions q1 across and q2 up [m], their velocities [m/s]], input u = [forces along both
[N]]. The tangent (3.45) points uphill for theta > 0. Its hybrid system is that of any rigid body.
The print has an error: docs/errata.md.
"""

from __future__ import annotations

import math

import numpy as np

from saltation.rigid_body.body import RigidBody

MASS = 1.0  # [kg], not in 3.5; the project's own choice
GRAVITY = 9.8  # [m/s^2], 3.8.5
SLOPE = math.pi / 6.0  # theta [rad], not in 3.5; the project's own choice


def slope_ball_body(
    theta: float = SLOPE,
    mu_s: float = 0.0,
    mu_k: float = 0.0,
    impact_friction: float = 0.0,
    restitution: float = 0.0,
) -> RigidBody:
    """The ball as a rigid body of 3.6, with friction and restitution."""
    sine, cosine = math.sin(theta), math.cos(theta)
    normal, tangent = np.array([sine, cosine]), np.array([-cosine, sine])  # (3.45)
    still, weight = np.zeros(2), np.array([0.0, MASS * GRAVITY])
    return RigidBody(
        dof=2,
        input_dim=2,
        mass=lambda q: MASS * np.eye(2),
        coriolis=lambda q, qd: np.zeros((2, 2)),
        other_forces=lambda q, qd: weight,
        input_forces=lambda q, u: u,
        gap=lambda q: normal @ q,
        normal=lambda q: normal,
        tangent=lambda q: tangent,
        normal_rate=lambda q, qd: still,
        tangent_rate=lambda q, qd: still,
        mu_s=mu_s,
        mu_k=mu_k,
        impact_friction=impact_friction,
        restitution=restitution,
    )
