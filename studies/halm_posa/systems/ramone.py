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

from dataclasses import dataclass

import numpy as np

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.systems import Array
from studies.halm_posa.systems.planar_links import Link, body_inertia, point, point_jacobian

_TRUNK = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
_THIGHS = _TRUNK + np.eye(7)[[3, 5]]  # leading, trailing
_SHANKS = _THIGHS + np.eye(7)[[4, 6]]


@dataclass(frozen=True)
class Ramone:
    """Remy's robot, in the step of Table 7."""

    trunk_mass: float = 7.9026  # m1 [kg], RAMone_BFS.m, as all to foot_radius
    thigh_mass: float = 0.7887  # m2 [kg]
    shank_mass: float = 0.510  # m3 [kg]
    trunk_inertia: float = 0.08  # j1 [kg m^2]
    thigh_inertia: float = 0.00221  # j2 [kg m^2]
    shank_inertia: float = 0.00652  # j3 [kg m^2]
    trunk_to_hip: float = 0.137675  # s1 [m]
    hip_to_thigh: float = 0.019399  # s2, to the thigh's centre of mass [m]
    shank_to_foot: float = 0.073265  # s3, from the shank's centre of mass [m]
    thigh_length: float = 0.2  # l2 [m]
    shank_length: float = 0.2385  # l3, to the centre of the foot [m]
    foot_radius: float = 0.0563 / 2  # [m]
    pitch: float = np.deg2rad(16.0)  # Phi [rad], Table 7, as all below
    leading_hip: float = np.deg2rad(-70.0)  # alpha_le [rad]
    trailing_hip: float = np.deg2rad(70.0)  # alpha_tr [rad]
    leading_knee: float = np.deg2rad(-2.0)  # beta_le [rad]
    pitch_rate: float = 1.0  # [rad/s]
    friction: float = 1e5  # mu


def _leg(r: Ramone, leg: int) -> list[Link]:
    """From the trunk's centre to the centre of a foot: 0 leading, 1 trailing."""
    return [Link(r.trunk_to_hip, _TRUNK), Link(r.thigh_length, _THIGHS[leg]),
            Link(r.shank_length, _SHANKS[leg])]  # fmt: skip


def configuration(r: Ramone) -> Array:
    """Both feet on the ground y = 0, the trunk over x = 0; the trailing knee follows.

    Raises:
        ValueError: the trailing leg is too short to stand on the ground with its hip's angle.
    """
    q = np.array([0.0, 0.0, r.pitch, r.leading_hip, r.leading_knee, r.trailing_hip, 0.0])
    q[1] = r.foot_radius - point(q, _leg(r, 0))[1]
    cosine = (point(q, _leg(r, 1)[:2])[1] - r.foot_radius) / r.shank_length
    if not -1.0 <= cosine <= 1.0:
        raise ValueError(f"RAMone: trailing_hip {r.trailing_hip:g} rad puts the knee where its"
                         " foot cannot reach the ground; give a wider leading_hip")  # fmt: skip
    q[6] = -np.arccos(cosine) - _THIGHS[1] @ q
    return q


def problem(r: Ramone = Ramone(), q: Array | None = None) -> ContactProblem:
    """Contacts A (leading foot) and B (trailing foot) at ``q``, else at Table 7's step."""
    q = configuration(r) if q is None else q
    feet = np.stack([point_jacobian(q, _leg(r, leg)) for leg in (0, 1)])
    J_t = feet[:, 0] + r.foot_radius * _SHANKS  # of the lowest point of the disc
    return ContactProblem.planar(inertia(r, q), feet[:, 1], J_t, r.friction, ("A", "B"), "RAMone")


def inertia(r: Ramone, q: Array) -> Array:
    """M (7, 7) of trunk, thighs and shanks."""
    M = body_inertia(q, [Link(0.0, _TRUNK)], r.trunk_mass, r.trunk_inertia)
    for leg in (0, 1):
        hip, thigh, shank = _leg(r, leg)
        upper = [hip, thigh._replace(length=r.hip_to_thigh)]
        lower = [hip, thigh, shank._replace(length=r.shank_length - r.shank_to_foot)]
        M += body_inertia(q, upper, r.thigh_mass, r.thigh_inertia)
        M += body_inertia(q, lower, r.shank_mass, r.shank_inertia)
    return M


def velocity(r: Ramone = Ramone()) -> Array:
    """Before the impact (7,) [m/s, rad/s]: stiff, turning about the trailing foot."""
    v = r.pitch_rate * _TRUNK
    trailing = problem(r)
    v[0], v[1] = -(trailing.J_D[2] @ v), -(trailing.J_n[1] @ v)
    return v
