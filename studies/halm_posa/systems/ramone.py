"""A footstep of RAMone, a planar biped of five links: 5.4.4, figure 13, Table 7.

Coordinates [x, y of the trunk's centre [m], trunk pitch Phi, hip and knee angle of the leading
leg, alpha_le and beta_le, and of the trailing leg, alpha_tr and beta_tr [rad]]. A thigh is turned
by Phi + alpha and a shank by Phi + alpha + beta, counter-clockwise from straight down. Feet are
discs that end the shanks. The robot goes towards -x; contact A is the leading foot, B the trailing
foot, which is at rest before the impact.

Masses, inertias and lengths are those of Remy, "Ambiguous Collision Outcomes and Sliding with
Infinite Friction in Models of Legged Systems", 2017, as they stand in the program to it, which the
authors of the set-valued model give beside theirs (github.com/mshalm/routh-multi-impact,
RAMone_BFS.m; its mass matrix and Jacobian are in RAMoneMassMatrixJacobian.m).
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

import numpy as np

from saltation.impacts.contact_problem import ContactProblem
from saltation.systems import Array
from studies.halm_posa.systems.planar_links import Link, body_inertia, point, point_jacobian

_TRUNK = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
_THIGHS = _TRUNK + np.eye(7)[[3, 5]]  # leading, trailing
_SHANKS = _THIGHS + np.eye(7)[[4, 6]]


# Remy's robot, in the step of Table 7.
TRUNK_MASS = 7.9026  # m1 [kg], RAMone_BFS.m, as all to FOOT_RADIUS
THIGH_MASS = 0.7887  # m2 [kg]
SHANK_MASS = 0.510  # m3 [kg]
TRUNK_INERTIA = 0.08  # j1 [kg m^2]
THIGH_INERTIA = 0.00221  # j2 [kg m^2]
SHANK_INERTIA = 0.00652  # j3 [kg m^2]
TRUNK_TO_HIP = 0.137675  # s1 [m]
HIP_TO_THIGH = 0.019399  # s2, to the thigh's centre of mass [m]
SHANK_TO_FOOT = 0.073265  # s3, from the shank's centre of mass [m]
THIGH_LENGTH = 0.2  # l2 [m]
SHANK_LENGTH = 0.2385  # l3, to the centre of the foot [m]
FOOT_RADIUS = 0.0563 / 2  # [m]
PITCH = np.deg2rad(16.0)  # Phi [rad], Table 7, as all below
LEADING_HIP = np.deg2rad(-70.0)  # alpha_le [rad]
TRAILING_HIP = np.deg2rad(70.0)  # alpha_tr [rad]
LEADING_KNEE = np.deg2rad(-2.0)  # beta_le [rad]
PITCH_RATE = 1.0  # [rad/s]
FRICTION = 1e5  # mu


def _leg(leg: int) -> list[Link]:
    """From the trunk's centre to the centre of a foot: 0 leading, 1 trailing."""
    return [Link(TRUNK_TO_HIP, _TRUNK), Link(THIGH_LENGTH, _THIGHS[leg]),
            Link(SHANK_LENGTH, _SHANKS[leg])]  # fmt: skip


def _configuration() -> Array:
    """Both feet on the ground y = 0, the trunk over x = 0; the trailing knee follows."""
    q = np.array([0.0, 0.0, PITCH, LEADING_HIP, LEADING_KNEE, TRAILING_HIP, 0.0])
    q[1] = FOOT_RADIUS - point(q, _leg(0))[1]
    cosine = (point(q, _leg(1)[:2])[1] - FOOT_RADIUS) / SHANK_LENGTH
    q[6] = -np.arccos(cosine) - _THIGHS[1] @ q
    return q


CONFIGURATION = _configuration()


def problem(q: Array = CONFIGURATION) -> ContactProblem:
    """Contacts A (leading foot) and B (trailing foot) at ``q``, else at Table 7's step."""
    feet = np.stack([point_jacobian(q, _leg(leg)) for leg in (0, 1)])
    J_t = feet[:, 0] + FOOT_RADIUS * _SHANKS  # of the lowest point of the disc
    return ContactProblem.planar(inertia(q), feet[:, 1], J_t, FRICTION, ("A", "B"), "RAMone")


def inertia(q: Array) -> Array:
    """M (7, 7) of trunk, thighs and shanks."""
    M = body_inertia(q, [Link(0.0, _TRUNK)], TRUNK_MASS, TRUNK_INERTIA)
    for leg in (0, 1):
        hip, thigh, shank = _leg(leg)
        upper = [hip, thigh._replace(length=HIP_TO_THIGH)]
        lower = [hip, thigh, shank._replace(length=SHANK_LENGTH - SHANK_TO_FOOT)]
        M += body_inertia(q, upper, THIGH_MASS, THIGH_INERTIA)
        M += body_inertia(q, lower, SHANK_MASS, SHANK_INERTIA)
    return M


_TRAILING = problem()
VELOCITY = PITCH_RATE * _TRUNK  # (7,) [m/s, rad/s]: stiff, turning about the trailing foot
VELOCITY[:2] = -(_TRAILING.J_D[2] @ VELOCITY), -(_TRAILING.J_n[1] @ VELOCITY)
