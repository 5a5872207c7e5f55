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

import numpy as np

from saltation.impacts.contact_problem import ContactProblem
from saltation.systems import Array
from studies.halm_posa.systems.planar_links import Link, body_inertia, point_jacobian

_LEADING, _TRAILING = np.eye(4)[2:]


# Table 5.
LENGTH, TO_FOOT, MASS = 1.0, 0.5, 1.0  # of a leg: l [m], s_par from mass to foot [m], m [kg]
PITCH = np.deg2rad(78.0)  # phi_tr, and with the other sign phi_le [rad]
RATE = 0.25  # of both legs [rad/s]
FRICTION = 5.0  # mu


# The step (4,), with the trailing foot at the origin, and its velocity before the impact (4,)
# [m/s, rad/s]: the walker turns about that foot.
CONFIGURATION = np.array([-LENGTH * np.sin(PITCH), LENGTH * np.cos(PITCH), -PITCH, PITCH])
VELOCITY = np.array([0.0, 0.0, RATE, RATE])
VELOCITY[:2] = -(point_jacobian(CONFIGURATION, [Link(LENGTH, _TRAILING)]) @ VELOCITY)


def problem(q: Array = CONFIGURATION) -> ContactProblem:
    """Contacts A (leading foot) and B (trailing foot) at ``q``, else at Table 5's step."""
    legs = _LEADING, _TRAILING
    M = sum(body_inertia(q, [Link(LENGTH - TO_FOOT, leg)], MASS) for leg in legs)
    feet = np.stack([point_jacobian(q, [Link(LENGTH, leg)]) for leg in legs])
    J_n, J_t, name = feet[:, 1], feet[:, 0], "compass gait"
    return ContactProblem.planar(np.asarray(M), J_n, J_t, FRICTION, ("A", "B"), name)
