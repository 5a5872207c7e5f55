"""Touchdown of a foot: the sticking, plastic impact, its reset and its saltation matrix."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from robots.contact_dynamics import ContactDynamics
from robots.rotations import Array
from robots.stance_touchdown import MINIMUM_APPROACH_SPEED, Touchdown
from saltation.saltations import saltation_matrix

UP = np.array([0.0, 0.0, 1.0])


class Impact(NamedTuple):
    """A plastic impact and its derivatives, q staying as it is."""

    v_plus: Array  # (18)
    dq: Array  # (18, 18) d v_plus / d q, local tangent
    dv: Array  # (18, 18) d v_plus / d v_minus


def impact(
    dynamics: ContactDynamics, q: Array, v_minus: Array, contacts: Sequence[float] | Array
) -> Impact:
    """Stop the feet in `contacts` at once: the frictional, plastic impact (3.67) with J_C.

        v+ = M_C^dagger M v-,   M (v+ - v-) = J_C' p,   J_C v+ = 0

    Every foot of `contacts` (4) takes part, whether it came down or stood. Returns new arrays.
    """
    s, model = dynamics.held(contacts), dynamics.model
    arguments = (model, s.data, q, v_minus, s.models, s.datas, 0.0, s.proximal)
    v_plus = pin.impulseDynamics(*arguments).copy()
    # Pinocchio 4.1 leaves the last call's numbers in the columns of joints that do not carry the
    # foot, and subtracts from them: they must be zero.
    s.data.dvc_dq[:] = 0.0
    pin.computeImpulseDynamicsDerivatives(model, s.data, s.models, s.datas, 0.0, s.proximal)
    # Pinocchio differentiates the jump v+ - v-, so the identity is added back.
    return Impact(v_plus, s.data.ddq_dq.copy(), s.data.ddq_dv + np.eye(model.nv))


def touchdown(
    dynamics: ContactDynamics,
    q: Array,
    v_minus: Array,
    tau: Array,
    contacts_before: Sequence[float] | Array,
    foot: int,
    minimum_approach_speed: float = MINIMUM_APPROACH_SPEED,
    tau_after: Array | None = None,
    normal: Array = UP,
) -> Touchdown:
    """Let `foot` touch down and stick while the feet that stand keep standing.

    Xi is built from its definition (3.2), whose blocks are (3.83):

        Xi = [ I - (J_C^dagger' J_C v-) J_n / (J_n v-)    0             ]
             [ Z_C + D_q(M_C^dagger M v-)                 M_C^dagger M  ]

    In the scanned (3.84) Z_C ends in J_C / (J_C v-), a division by a vector. The guard is the
    foot's distance from the ground alone, D_x g = [J_n 0] (3.77), J_n = n' J of the foot, so it
    must be J_n / (J_n v-):

        Z_C = (M_C^dagger (C- v- - C+ v+) - J_C^dagger' Jdot_C+ v+ - D_q(M_C^dagger M v-) v-)
              J_n / (J_n v-)

    with M_C, J_C those of all feet that stand afterwards. Finite differences of simulated
    touchdowns agree with this.

    Args:
        dynamics: the contact dynamics of the robot.
        q: configuration (19) at touchdown.
        v_minus: velocity (18) before.
        tau: joint torques (12) [N m] before.
        contacts_before: (4), above 0.5 for feet that stand already.
        foot: 0 to 3, the foot that comes down.
        minimum_approach_speed: [m/s]; a foot that comes down more slowly (3.11), or goes up, has
            the reset's Jacobian as `saltation`.
        tau_after: joint torques (12) [N m] after, where they jump with the touchdown.
        normal: n, unit normal (3) of the ground at the foot, in the world. It is the gradient of
            the distance on any ground: curvature enters only the second order.
    """
    nv = dynamics.model.nv
    contacts_after = [float(c > 0.5) for c in contacts_before]
    contacts_after[foot] = 1.0
    hit = impact(dynamics, q, v_minus, contacts_after)

    reset_jacobian = np.eye(2 * nv)
    reset_jacobian[nv:, :nv] = hit.dq
    reset_jacobian[nv:, nv:] = hit.dv

    guard_gradient = np.zeros(2 * nv)
    guard_gradient[:nv] = _normal_jacobian(dynamics, q, foot, normal)
    flow_before = _flow(dynamics, q, v_minus, tau, contacts_before)
    torque = tau if tau_after is None else tau_after
    flow_after = _flow(dynamics, q, hit.v_plus, torque, contacts_after)
    xi = saltation_matrix(
        reset_jacobian, flow_before, flow_after, guard_gradient,
        minimum_rate=minimum_approach_speed,
    )  # fmt: skip
    # Ground that lies deeper than was thought shifts the event like a state that is higher, (3.2).
    shift = np.zeros(2 * nv)
    if xi.ok:
        shift = (flow_after - reset_jacobian @ flow_before) / xi.guard_rate
    return Touchdown(hit.v_plus, reset_jacobian, xi.matrix, shift, xi.guard_rate, xi.ok)


def _flow(
    dynamics: ContactDynamics, q: Array, v: Array, tau: Array, contacts: Sequence[float] | Array
) -> Array:
    """Return F(x) (36) of (3.63) in the tangent at x: [v, a]."""
    return np.concatenate((v, dynamics.acceleration(q, v, tau, contacts)[0]))


def _normal_jacobian(dynamics: ContactDynamics, q: Array, foot: int, normal: Array) -> Array:
    """Return J_n (18): how the distance of the foot's centre from the ground changes with q."""
    frame = dynamics.foot_frames[foot]
    # In the buffers of the empty set: the impact's derivatives leave their own Jacobians altered.
    data = dynamics.held(np.zeros(4)).data
    J = pin.computeFrameJacobian(dynamics.model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
    return normal[0] * J[0] + normal[1] * J[1] + normal[2] * J[2]
