"""Asymmetric spring loaded inverted pendulum: a body, a hip spring and a springy leg (3.8.5).

In FLIGHT the state is [x_b, y_b, theta_b, x_t, y_t, and the rates of x_b, y_b, theta_b] (3.167),
in STANCE [theta_t, theta_h, l_l, x_t, y_t, and the rates of theta_t, theta_h, l_l] (3.168): body b,
toe t, leg angle theta_t from the ground, hip angle theta_h, leg length l_l. Angles [rad] grow
counterclockwise, lengths [m]. No input.

The source's derivation is not in its text, so the geometry here is read off its initial mean. With

    hip = toe + l_l (cos theta_t, sin theta_t)
    body = hip + l_b (cos theta_b, sin theta_b),  theta_b = theta_t + theta_h

a leg at rest (l_l0 = 1, theta_h0 = -pi/8) under a body at (0, 1.8, 5 pi/12) has its toe at
(0.00112, 0.32559), which is printed as (0.0011, 0.3256); l_b runs from hip to centre of mass.

The leg has no mass. In flight nothing moves it against the body, so the toe turns with the body
and hip angle and leg length stay as they are: at rest before the first touchdown, and after a
liftoff with the hip angle that the leg left the ground with (4.28 hands q_t on as it is). So the
hip spring keeps what energy it has, and no energy is lost at either transition.
"""

from __future__ import annotations

import numpy as np

from saltation.systems import Array, Mode, System, Transition

FLIGHT, STANCE = 1, 2
MASS = 1.0  # m_b [kg], this and all below: 3.8.5
INERTIA = 1.0  # I_b, about the centre of mass [kg m^2]
LEG_STIFFNESS = 1000.0  # k_l [N/m]
HIP_STIFFNESS = 400.0  # k_theta [N m/rad]
BODY_LENGTH = 0.5  # l_b, hip to centre of mass [m]
GRAVITY = 9.8  # [m/s^2]
LEG_REST = 1.0  # l_l0 [m]
HIP_REST = -np.pi / 8  # theta_h0 [rad]
BODY = [0, 1, 2, 5, 6, 7]  # of a flight state
START = np.array([0.0, 1.8, 5.0 * np.pi / 12.0, 0.0, -1.0, 0.0])  # mean of the body, see table_3_1


def aslip() -> System:
    """Modes FLIGHT and STANCE, touchdown where the toe meets the ground, liftoff at leg rest."""
    touchdown = Transition(
        FLIGHT, STANCE, lambda t, x, u: x[4], to_leg, name="touchdown", time_invariant=True
    )
    liftoff = Transition(
        STANCE, FLIGHT, lambda t, x, u: LEG_REST - x[2], to_body, name="liftoff",
        time_invariant=True
    )  # fmt: skip
    modes = {FLIGHT: Mode("flight", 8, 0, _fly), STANCE: Mode("stance", 8, 0, _stand)}
    return System(modes, (touchdown, liftoff), "aslip")


def at_rest(body: Array) -> Array:
    """Flight state (8,) with both springs at rest, from q_b and its rate together (6,)."""
    leg = body[2] - HIP_REST
    toe_x = body[0] - BODY_LENGTH * np.cos(body[2]) - LEG_REST * np.cos(leg)
    toe_y = body[1] - BODY_LENGTH * np.sin(body[2]) - LEG_REST * np.sin(leg)
    return np.array([body[0], body[1], body[2], toe_x, toe_y, body[3], body[4], body[5]])


def _fly(t: float, x: Array, u: Array) -> Array:
    """F_1: ballistic body, and a toe that turns with it."""
    toe_rate_x = x[5] - x[7] * (x[4] - x[1])
    toe_rate_y = x[6] + x[7] * (x[3] - x[0])
    return np.array([x[5], x[6], x[7], toe_rate_x, toe_rate_y, 0.0, -GRAVITY, 0.0])


def _stand(t: float, x: Array, u: Array) -> Array:
    """F_2: the Lagrangian dynamics of q_l about a fixed toe, solved for its acceleration.

    The leg pushes the hip by k_l (l_l0 - l_l) along itself. It has no mass, so the hip's torque on
    it is balanced by a force across it. ``along`` and ``across`` are the hip's acceleration.
    """
    theta, hip, leg, theta_rate, hip_rate, leg_rate = x[0], x[1], x[2], x[5], x[6], x[7]
    torque = -HIP_STIFFNESS * (hip - HIP_REST)
    push, shear = -LEG_STIFFNESS * (leg - LEG_REST), -torque / leg
    spin = (theta_rate + hip_rate) ** 2
    body_acc = (torque + BODY_LENGTH * (push * np.sin(hip) - shear * np.cos(hip))) / INERTIA
    along = push / MASS - GRAVITY * np.sin(theta)
    along += BODY_LENGTH * (body_acc * np.sin(hip) + spin * np.cos(hip))
    across = shear / MASS - GRAVITY * np.cos(theta)
    across -= BODY_LENGTH * (body_acc * np.cos(hip) - spin * np.sin(hip))
    theta_acc = (across - 2.0 * leg_rate * theta_rate) / leg
    leg_acc = along + leg * theta_rate**2
    return np.array(
        [theta_rate, hip_rate, leg_rate, 0.0, 0.0, theta_acc, body_acc - theta_acc, leg_acc]
    )


def to_leg(t: float, x: Array, u: Array) -> Array:
    """(4.27): T_bl and its derivative along the body's velocity."""
    sine, cosine = np.sin(x[2]), np.cos(x[2])
    hip_x, hip_y = x[0] - BODY_LENGTH * cosine - x[3], x[1] - BODY_LENGTH * sine - x[4]  # from toe
    rate_x, rate_y = x[5] + BODY_LENGTH * x[7] * sine, x[6] - BODY_LENGTH * x[7] * cosine
    leg = np.sqrt(hip_x**2 + hip_y**2)
    theta = 2.0 * np.arctan(hip_y / (leg + hip_x))  # arctan2, for complex numbers too
    theta_rate = (hip_x * rate_y - hip_y * rate_x) / leg**2
    leg_rate = (hip_x * rate_x + hip_y * rate_y) / leg
    return np.array([theta, x[2] - theta, leg, x[3], x[4], theta_rate, x[7] - theta_rate, leg_rate])


def to_body(t: float, x: Array, u: Array) -> Array:
    """(4.28): T_lb and its derivative along the leg's velocity.

    The print has an error: docs/errata.md.
    """
    body, spin = x[0] + x[1], x[5] + x[6]
    leg_x, leg_y = np.cos(x[0]), np.sin(x[0])
    arm_x, arm_y = BODY_LENGTH * np.cos(body), BODY_LENGTH * np.sin(body)
    at_x, at_y = x[3] + x[2] * leg_x + arm_x, x[4] + x[2] * leg_y + arm_y
    rate_x = x[7] * leg_x - x[2] * x[5] * leg_y - spin * arm_y
    rate_y = x[7] * leg_y + x[2] * x[5] * leg_x + spin * arm_x
    return np.array([at_x, at_y, body, x[3], x[4], rate_x, rate_y, spin])
