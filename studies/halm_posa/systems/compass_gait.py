"""A compass gait that takes a step of 156 degrees: 5.4.2, figures 4 and 10, Table 5.

Two massless legs turn on a hip, each with a point mass. Coordinates [hip x, hip y [m], angle of
the leading leg, angle of the trailing leg [rad]], angles from straight down, counter-clockwise.
The walker goes towards -x. The leading foot, A, comes down while the trailing foot, B, rests.

Table 5 names only the pitches; that the trailing foot is at rest, from which the hip's velocity
follows, is said in 3.1. The authors' program (github.com/mshalm/routh-multi-impact, Results.m) has
the step h over the rate twice as large as the table: h = 1 N s at 0.5 rad/s. Here it is the table.
"""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.systems import Array
from studies.halm_posa.systems.planar_links import Link, body_inertia, point_jacobian

_LEADING, _TRAILING = np.eye(4)[2:]


@dataclass(frozen=True)
class CompassGait:
    """Table 5."""

    leg_length: float = 1.0  # l [m]
    mass_to_foot: float = 0.5  # s_par [m]
    leg_mass: float = 1.0  # m [kg]
    trailing_pitch: float = np.deg2rad(78.0)  # phi_tr [rad]
    leading_pitch: float = np.deg2rad(-78.0)  # phi_le [rad]
    trailing_rate: float = 0.25  # [rad/s]
    leading_rate: float = 0.25  # [rad/s]
    friction: float = 5.0  # mu


def configuration(gait: CompassGait) -> Array:
    """The step (4,), with the trailing foot at the origin."""
    angle = gait.trailing_pitch
    hip = gait.leg_length * np.array([-np.sin(angle), np.cos(angle)])
    return np.array([*hip, gait.leading_pitch, angle])


def problem(gait: CompassGait = CompassGait(), q: Array | None = None) -> ContactProblem:
    """Contacts A (leading foot) and B (trailing foot) at ``q``, else at Table 5's step."""
    q = configuration(gait) if q is None else q
    legs, to_mass = (_LEADING, _TRAILING), gait.leg_length - gait.mass_to_foot
    M = sum(body_inertia(q, [Link(to_mass, leg)], gait.leg_mass) for leg in legs)
    feet = np.stack([point_jacobian(q, [Link(gait.leg_length, leg)]) for leg in legs])
    J_n, J_t, name = feet[:, 1], feet[:, 0], "compass gait"
    return ContactProblem.planar(np.asarray(M), J_n, J_t, gait.friction, ("A", "B"), name)


def velocity(gait: CompassGait = CompassGait()) -> Array:
    """Before the impact (4,) [m/s, rad/s]: the walker turns about its trailing foot."""
    rates = np.array([0.0, 0.0, gait.leading_rate, gait.trailing_rate])
    foot = point_jacobian(configuration(gait), [Link(gait.leg_length, _TRAILING)])
    rates[:2] = -(foot @ rates)
    return rates
