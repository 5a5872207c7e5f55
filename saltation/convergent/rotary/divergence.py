"""The divergence metrics of the rotary cart pole in closed form, and its linearisation.

D_a is the mean eigenvalue of F, (2.1), a quarter of the trace of D_x f. The Coriolis terms of the
trace are together the total derivative of the mass matrix's determinant, Delta(alpha):

    4 D_a = -(M_22 D_r + M_11 D_p) / Delta - d/dt log Delta

(Liouville: without damping, volume is kept in the momenta, and Delta takes velocities to them.) So
between two angles of the same |sin alpha|, such as hanging and upright, the integral of D_a knows
the path by its damping alone: it is the more negative the longer the pendulum is near the vertical,
where Delta is smallest. An undamped swing-up could not be made more convergent on average.

D_m >= 0, (2.28), holds strictly, in every configuration: nothing depends on theta, so that F has
the principal block [[0, 1/2], [1/2, F_33]] of theta and theta', whose determinant is -1/4. With it

    D_m >= (F_33 + sqrt(F_33^2 + 1)) / 2 > 0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from saltation.arrays import Pair
from saltation.convergent.rotary.model import flow, inertia
from saltation.convergent.rotary.parameters import RotaryPendulum
from saltation.systems import Array

_STEP = 1e-30  # of a derivative by a complex step: exact to rounding, no difference is taken


def average_divergence(pendulum: RotaryPendulum, x: Any) -> Any:
    """D_a [1/s] at x = (theta, alpha, theta', alpha'); numbers, arrays or CasADi expressions."""
    m_p, L_p, _, L_r, *_ = pendulum
    _, alpha, _, alpha_dot = x
    m_11, m_12, J = M = inertia(pendulum, alpha)
    k = 0.5 * m_p * L_p * L_r
    slope = 2.0 * (J * J + k * k) * np.sin(alpha) * np.cos(alpha)  # of Delta by alpha
    return damping_divergence(pendulum, alpha) - 0.25 * slope * alpha_dot / M.determinant


def damping_divergence(pendulum: RotaryPendulum, alpha: Any) -> Any:
    """The part of D_a [1/s] that is left in its integral from hanging to upright."""
    m_11, _, m_22 = M = inertia(pendulum, alpha)
    return -0.25 * (m_22 * pendulum.D_r + m_11 * pendulum.D_p) / M.determinant


def linearise(pendulum: RotaryPendulum, x: Array, torque: float) -> Pair:
    """A = D_x f (4, 4) and B = D_tau f (4, 1) at a state (4,) and a torque [N m]."""
    stepped = np.repeat(np.append(x, torque)[:, None], 5, 1) + 1j * _STEP * np.eye(5)
    rates = flow(pendulum, stepped[:4], stepped[4])
    jacobian = np.imag(np.array(rates)) / _STEP
    return jacobian[:, :4], jacobian[:, 4:]
