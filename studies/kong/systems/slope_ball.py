"""A ball that drops on a slanted surface and slides or sticks there (3.5).

State x = [positions q1 across and q2 up [m], their velocities [m/s]], input u = [forces along both
[N]]. The tangent (3.45) points uphill for theta > 0. Besides the transitions of 3.5 there is a
liftoff, for forces that lift the ball. The print has an error: docs/errata.md.
"""

from __future__ import annotations

import math

import numpy as np

from hybrid.rigid_body import guards
from hybrid.rigid_body.body import RigidBody
from hybrid.rigid_body.dynamics import Contact, vector_field
from hybrid.rigid_body.impacts import impact_reset
from hybrid.systems import Mode, System, Transition

APPROACHING = 1  # U
SEPARATING = 2  # V, of 3.6
SLIDING = 3  # S, without friction
STICKING = 5  # C
MASS = 1.0  # [kg], not in 3.5; the project's own choice
GRAVITY = 9.8  # [m/s^2], 3.8.5
SLOPE = math.pi / 6.0  # theta [rad], not in 3.5; the project's own choice


def slope_ball(theta: float = SLOPE, sticks: bool = False) -> System:
    """Plastic impacts of a ball: into sliding without friction, or always into sticking."""
    body = slope_ball_body(theta)
    number, contact = (STICKING, Contact.STICKING) if sticks else (SLIDING, Contact.FORWARD)
    modes = {
        APPROACHING: Mode("approaching", 4, 2, vector_field(body, Contact.NONE)),  # (3.42)
        SEPARATING: Mode("separating", 4, 2, vector_field(body, Contact.NONE)),
        number: Mode("sticking" if sticks else "sliding", 4, 2, vector_field(body, contact)),
    }

    impact = Transition(
        APPROACHING,
        number,
        guards.impact_guard(body, Contact.NONE),  # (3.40)
        impact_reset(body, contact),
        name="plastic impact",
        time_invariant=True,
    )
    force, climb = guards.liftoff_guard(body, contact), guards.apex_guard(body)
    liftoff = Transition.continuous(number, SEPARATING, force, "liftoff", time_invariant=True)
    apex = Transition.continuous(SEPARATING, APPROACHING, climb, "apex", time_invariant=True)
    return System(modes, (impact, liftoff, apex), "ball on a slope")


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
