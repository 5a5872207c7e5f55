"""Dynamics of a floating-base robot whose feet stick to the ground, and its derivatives."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numba import njit

from robots.contact_set import ContactSet, ContactSets, mask_of
from robots.rotations import Array, exp3, right_jacobian, skew
from robots.state import integrate


class ContactDynamics:
    """Forward dynamics with any subset of the feet held still in acceleration, (3.59)-(3.60).

        [M J'] [ a ]   [ S' tau - C v - g ]
        [J 0 ] [-f ] = [ -Jdot v          ]

    J stacks the three world-frame rows of each standing foot. A contact is bilateral here: whether
    a foot pulls or slips is for the caller to see in the forces. No Baumgarte term is added, so the
    derivatives are those of the formula above, also where J v is not zero. The object owns working
    memory: one thread at a time.
    """

    def __init__(self, model: pin.Model, foot_frames: Sequence[int]) -> None:
        """Take the model and the four foot frames (`robots.a1.models`)."""
        self.model = model
        self.sets = ContactSets(model, foot_frames)
        self._generalised_force = np.zeros(model.nv)

    def acceleration(
        self, q: Array, v: Array, tau: Array, contacts: Sequence[float] | Array
    ) -> tuple[Array, Array]:
        """Return the acceleration (18) and the ground's forces on the feet (4, 3) [N], world frame.

        Args:
            q: configuration (19).
            v: velocity (18).
            tau: joint torques (12) [N m].
            contacts: (4), above 0.5 where the foot stands.
        """
        contact_set = self.sets.get(mask_of(contacts))
        acceleration = self._solve(contact_set, q, v, tau)
        return acceleration, contact_set.forces(contact_set.data.lambda_c)

    def step(
        self, q: Array, v: Array, tau: Array, contacts: Sequence[float] | Array, dt: float
    ) -> tuple[Array, Array]:
        """Return (q+, v+) after `dt` [s]: v+ = v + a dt, q+ = q (+) v+ dt (semi-implicit Euler)."""
        return semi_implicit_step(
            q, v, self._solve(self.sets.get(mask_of(contacts)), q, v, tau), dt
        )

    def acceleration_derivatives(
        self, q: Array, v: Array, tau: Array, contacts: Sequence[float] | Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return a (18), da/dq (18, 18) in the local tangent, da/dv (18, 18), da/dtau (18, 12)."""
        contact_set = self.sets.get(mask_of(contacts))
        a = self._solve(contact_set, q, v, tau)
        a_q, a_v, a_tau = self._differentiate(contact_set)
        return a, a_q, a_v, a_tau[:, 6:]

    def step_derivatives(
        self, q: Array, v: Array, tau: Array, contacts: Sequence[float] | Array, dt: float
    ) -> tuple[Array, Array]:
        """Return A (36, 36), B (36, 12) of `step`: dx+ = A dx + B dtau, in the tangents at x, x+.

        Analytic, from Pinocchio's derivatives of the constrained dynamics. The arrays are new.
        """
        size = 2 * self.model.nv
        A, B = np.empty((size, size)), np.empty((size, self.model.nv - 6))
        self.step_derivatives_into(q, v, tau, contacts, dt, A, B)
        return A, B

    def step_derivatives_into(
        self, q: Array, v: Array, tau: Array, contacts: Sequence[float] | Array, dt: float,
        A: Array, B: Array,
    ) -> None:  # fmt: skip
        """Write the derivatives of `step` to A (36, 36) and B (36, 12)."""
        contact_set = self.sets.get(mask_of(contacts))
        a = self._solve(contact_set, q, v, tau)
        _assemble_step(v, a, *self._differentiate(contact_set), dt, A, B)

    def _solve(self, contact_set: ContactSet, q: Array, v: Array, tau: Array) -> Array:
        """Return a new array (18) with the acceleration; leave the rest in the set's buffers."""
        force = self._generalised_force
        force[6:] = tau
        s = contact_set
        return pin.constraintDynamics(
            self.model, s.data, q, v, force, s.models, s.datas, s.proximal
        ).copy()

    def _differentiate(self, contact_set: ContactSet) -> tuple[Array, Array, Array]:
        """Return da/dq, da/dv, da/dtau (18, 18) at the point that `_solve` was called for."""
        s = contact_set
        return pin.computeConstraintDynamicsDerivatives(
            self.model, s.data, s.models, s.datas, s.proximal
        )[:3]


@njit(cache=True)
def semi_implicit_step(q: Array, v: Array, a: Array, dt: float) -> tuple[Array, Array]:
    """Return v+ = v + a dt and q+ = q (+) v+ dt as (q+, v+)."""
    nv = v.shape[0]
    dx = np.empty(2 * nv)
    dx[nv:] = dt * a
    dx[:nv] = dt * (v + dx[nv:])
    return integrate(q, v, dx)


@njit(cache=True)
def _assemble_step(
    v: Array, a: Array, a_q: Array, a_v: Array, a_tau: Array, dt: float, A: Array, B: Array
) -> None:
    """Write A (2 nv, 2 nv), B (2 nv, nv - 6) from the derivatives of the acceleration."""
    nv = v.shape[0]
    A[nv:, :nv] = dt * a_q
    A[nv:, nv:] = dt * a_v
    B[nv:] = dt * a_tau[:, 6:]
    for i in range(nv):
        A[nv + i, nv + i] += 1.0  # the velocity half: dv+ = dv + dt da
    B[6:nv] = dt * B[nv + 6 :]
    linear, angular = fill_positions(v + dt * a, dt, A)
    _multiply_rows(linear, B[nv : nv + 3], B[:3])
    _multiply_rows(angular, B[nv + 3 : nv + 6], B[3:6])


@njit(cache=True)
def fill_positions(v_next: Array, dt: float, A: Array) -> tuple[Array, Array]:
    """Write the position half of A (2 nv, 2 nv) of a step to v+ (nv); its velocity half is there.

    With E = exp3(w+ dt): p+ = p + R v+ dt and R+ = R E give, in the tangent at x+,
    dp+ = E' (dp - dt [v+]x dphi + dt dv+) and dphi+ = E' dphi + dt Jr(w+ dt) dw+.

    Return what dv+ and dw+ of the base move dp+ and dphi+ by (3, 3) [s].
    """
    nv = v_next.shape[0]
    A[6:nv] = dt * A[nv + 6 :]
    for i in range(6, nv):
        A[i, i] += 1.0
    rotation = exp3(dt * v_next[3:6]).T.copy()
    linear = dt * rotation
    angular = dt * right_jacobian(dt * v_next[3:6])
    _multiply_rows(linear, A[nv : nv + 3], A[:3])
    _multiply_rows(angular, A[nv + 3 : nv + 6], A[3:6])
    A[:3, :3] += rotation
    A[:3, 3:6] -= linear @ skew(v_next[:3])
    A[3:6, 3:6] += rotation
    return linear, angular


@njit(cache=True)
def _multiply_rows(matrix: Array, rows: Array, out: Array) -> None:
    """Write matrix (3, 3) @ rows (3, n) to `out`; a plain loop beats BLAS at this size."""
    for i in range(3):
        for j in range(rows.shape[1]):
            out[i, j] = (
                matrix[i, 0] * rows[0, j] + matrix[i, 1] * rows[1, j] + matrix[i, 2] * rows[2, j]
            )
