"""A planar RHex with two legs, of two links each, on both of its feet: section V of the source.

Seghete and Murphey (2012), whose equation numbers these are, print no parameters: those below are
ours, of about RHex's body and leg length. Both hips are at one point of the body. Coordinates
q (7,) are [x, y [m], theta, phi_R, phi_L, gamma_R, gamma_L [rad]] of the body's centre, the hips
and the knees; zero is straight down, counter-clockwise is positive, and each angle is measured from
the link before. The knees' springs and the hips' motors give no impulse.

The source sets theta to zero as a symmetry. With the hips at the body's centre of mass it is one,
at fixed pitches of the legs; with another ``hip_height`` s depends on theta.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.impacts.surface_cosines import surface_cosines
from hybrid.systems import Array
from studies.halm_posa.systems.planar_links import Link, body_inertia, point, point_jacobian

LEGS = ("R", "L")
_THETA = np.eye(7)[2]


@dataclass(frozen=True)
class RHex:
    """Parameters, ours; the links are thin uniform rods."""

    body_mass: float = 7.0  # [kg]
    body_inertia: float = 0.15  # about the centre of mass [kg m^2]
    hip_height: float = 0.0  # of both hips over the centre of mass [m]
    thigh_mass: float = 0.1  # [kg]
    shin_mass: float = 0.1  # [kg]
    thigh_length: float = 0.05  # [m]
    shin_length: float = 0.12  # [m]


def joints(rhex: RHex, q: Array) -> Array:
    """Positions (2, 3, 2) [m] of hip, knee and foot of each leg, for pictures."""
    paths = [_path(rhex, leg) for leg in range(2)]
    return np.array([[point(q, path[:k]) for k in (1, 2, 3)] for path in paths])


def leg_pitch(rhex: RHex, hip: float, knee: float) -> float:
    """Angle [rad] of the line from hip to foot, in the body."""
    thigh, shin = rhex.thigh_length, rhex.shin_length
    return hip + float(np.arctan2(shin * np.sin(knee), thigh + shin * np.cos(knee)))


def other_hip(
    rhex: RHex, hip: float, knee: float, stance: Literal["apart", "together"] = "apart"
) -> float:
    """Left hip's angle [rad] that puts both feet on the ground at equal knee angles, (21).

    There are two: legs "apart", one pitched forward as far as the other backward; and "together",
    with both feet in one place, which is the one that is always there.
    """
    return hip if stance == "together" else hip - 2.0 * leg_pitch(rhex, hip, knee)


def configuration(
    rhex: RHex, hip: float, knee: float, stance: Literal["apart", "together"] = "apart"
) -> Array:
    """q (7,) with theta = x = 0 and both feet at height zero, from right hip and knees [rad]."""
    q = np.array([0.0, 0.0, 0.0, hip, other_hip(rhex, hip, knee, stance), knee, knee])
    q[1] = -joints(rhex, q)[0, 2, 1]
    return q


def inertia_and_normals(rhex: RHex, q: Array) -> tuple[Array, Array]:
    """M (7, 7) and the feet's D phi (2, 7) at q (7,), (23)."""
    M = body_inertia(q, [Link(0.0, _THETA)], rhex.body_mass, rhex.body_inertia)
    for leg in range(2):
        body, thigh, shin = _path(rhex, leg)
        for path, mass in (
            ([body, _half(thigh)], rhex.thigh_mass),
            ([body, thigh, _half(shin)], rhex.shin_mass),
        ):
            length = 2.0 * path[-1].length
            M = M + body_inertia(q, path, mass, mass * length**2 / 12.0)
    return M, np.stack([point_jacobian(q, _path(rhex, leg))[1] for leg in range(2)])


def problem(rhex: RHex, q: Array, friction: float = 0.0) -> ContactProblem:
    """Both feet's contacts with level ground at q (7,), whether or not they are at height zero."""
    M, J_n = inertia_and_normals(rhex, q)
    J_t = np.stack([point_jacobian(q, _path(rhex, leg))[0] for leg in range(2)])
    return ContactProblem.planar(M, J_n, J_t, friction, LEGS, name(q))


def name(q: Array) -> str:
    """The configuration q (7,) in words, for messages."""
    right, left, knee_right, knee_left = np.degrees(q[3:])
    return (
        f"RHex with hips at {right:.4g} and {left:.4g} deg, knees at {knee_right:.4g} and"
        f" {knee_left:.4g} deg"
    )


def measure(
    rhex: RHex, hip: float, knee: float, stance: Literal["apart", "together"] = "apart"
) -> float:
    """s of (22) at the configuration of right hip and knees [rad]; 0: the outcome is unique."""
    q = configuration(rhex, hip, knee, stance)
    return float(surface_cosines(*inertia_and_normals(rhex, q), LEGS, name(q))[0, 1])


def _path(rhex: RHex, leg: int) -> list[Link]:
    """Links from the centre of mass over hip and knee to the foot of leg 0 (right) or 1 (left)."""
    thigh = _THETA + np.eye(7)[3 + leg]
    return [
        Link(-rhex.hip_height, _THETA),
        Link(rhex.thigh_length, thigh),
        Link(rhex.shin_length, thigh + np.eye(7)[5 + leg]),
    ]


def _half(link: Link) -> Link:
    return Link(0.5 * link.length, link.angles)
