"""A ball that drops on a slanted surface and slides or sticks there (3.5).

State x = [positions q1 across and q2 up [m], their velocities [m/s]], input u = [forces along both
[N]]. The tangent (3.45) points uphill for theta > 0. Besides the transitions of 3.5 there is a
liftoff, for forces that lift the ball. The print has an error: docs/errata.md.
"""

from __future__ import annotations

import math

import numpy as np

from hybrid.rigid_body.body import RigidBody
from hybrid.systems import Array, Mode, System, Transition

APPROACHING = 1  # U
SEPARATING = 2  # V, of 3.6
SLIDING = 3  # S, without friction
STICKING = 5  # C
MASS = 1.0  # [kg], not in 3.5; the project's own choice
GRAVITY = 9.8  # [m/s^2], 3.8.5
SLOPE = math.pi / 6.0  # theta [rad], not in 3.5; the project's own choice


def slope_ball(
    theta: float = SLOPE, mass: float = MASS, gravity: float = GRAVITY, sticks: bool = False
) -> System:
    """Plastic impacts of a ball: into sliding without friction, or always into sticking."""
    sine, cosine = math.sin(theta), math.cos(theta)

    def fall(t: float, x: Array, u: Array) -> Array:  # (3.42)
        return np.array([x[2], x[3], u[0] / mass, u[1] / mass - gravity])

    def slide(t: float, x: Array, u: Array) -> Array:  # (3.44)
        along = (cosine * u[0] - sine * (u[1] - mass * gravity)) / mass
        return np.array([x[2], x[3], cosine * along, -sine * along])

    def stick(t: float, x: Array, u: Array) -> Array:  # (3.46)
        return np.array([x[2], x[3], 0.0, 0.0])

    def gap(t: float, x: Array, u: Array) -> float:  # (3.40)
        return sine * x[0] + cosine * x[1]

    def gap_state(t: float, x: Array, u: Array) -> Array:  # (3.48)
        return np.array([sine, cosine, 0.0, 0.0])

    def land(t: float, x: Array, u: Array) -> Array:  # (3.43)
        along = cosine * x[2] - sine * x[3]
        return np.array([x[0], x[1], cosine * along, -sine * along])

    def stop(t: float, x: Array, u: Array) -> Array:  # (3.47)
        return np.array([x[0], x[1], 0.0, 0.0])

    def unchanged(t: float, x: Array, u: Array) -> Array:
        return x.copy()

    def normal_force(t: float, x: Array, u: Array) -> float:
        return sine * -u[0] + cosine * (mass * gravity - u[1])

    def climb(t: float, x: Array, u: Array) -> float:
        return sine * x[2] + cosine * x[3]

    resting = (STICKING, stick, stop) if sticks else (SLIDING, slide, land)
    mode, motion, reset = resting
    modes = {
        APPROACHING: Mode("approaching", 4, 2, fall),
        SEPARATING: Mode("separating", 4, 2, fall),
        mode: Mode("sticking" if sticks else "sliding", 4, 2, motion),
    }
    impact = Transition(
        APPROACHING, mode, gap, reset, gap_state, name="plastic impact", time_invariant=True
    )
    liftoff = Transition(
        mode, SEPARATING, normal_force, unchanged, name="liftoff", time_invariant=True
    )
    apex = Transition(SEPARATING, APPROACHING, climb, unchanged, name="apex", time_invariant=True)
    return System(modes, (impact, liftoff, apex), "ball on a slope")


def slope_ball_body(
    theta: float = SLOPE,
    mass: float = MASS,
    gravity: float = GRAVITY,
    mu_s: float = 0.0,
    mu_k: float = 0.0,
    impact_friction: float = 0.0,
    restitution: float = 0.0,
) -> RigidBody:
    """The same ball as a rigid body of 3.6, with friction and restitution."""
    sine, cosine = math.sin(theta), math.cos(theta)
    normal, tangent = np.array([sine, cosine]), np.array([-cosine, sine])  # (3.45)
    still, weight = np.zeros(2), np.array([0.0, mass * gravity])
    return RigidBody(
        dof=2,
        input_dim=2,
        mass=lambda q: mass * np.eye(2),
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
