"""Dynamics of a floating-base robot whose feet stick to the ground, and its derivatives."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from robots.euler_step import assemble_step, semi_implicit_step
from robots.rotations import Array


class ContactSet:
    """Sticking point contacts of some feet, with the working memory of Pinocchio's algorithms.

    Each foot contributes three rows, in world axes at the centre of its sphere: the sphere is held
    as a point, its rolling is left out.
    """

    def __init__(self, model: pin.Model, frames: Sequence[int]) -> None:
        """Take a model and the frames at the centres of the feet that stand."""
        self.models = pin.StdVec_RigidConstraintModel()
        self.datas = pin.StdVec_RigidConstraintData()
        for frame in (model.frames[number] for number in frames):
            contact = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, model, frame.parentJoint, frame.placement,
                pin.LOCAL_WORLD_ALIGNED,
            )  # fmt: skip
            self.models.append(contact)
            self.datas.append(contact.createData())
        self.data = model.createData()
        pin.initConstraintDynamics(model, self.data, self.models, self.datas)
        # The KKT matrix is regular while no leg is stretched out: a regularisation at rounding
        # level and one iteration are exact to 1e-10.
        self.proximal = pin.ProximalSettings(1e-12, 1e-12, 1)


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
        """Take the model and the four foot frames (`robots.pinocchio_model`)."""
        self.model, self.foot_frames = model, tuple(foot_frames)
        self._sets: dict[tuple[int, ...], ContactSet] = {}
        self._generalised_force = np.zeros(model.nv)

    def held(self, contacts: Sequence[float] | Array) -> ContactSet:
        """The set of the feet whose `contacts` (4) are above 0.5, made on first use."""
        frames = tuple(f for f, c in zip(self.foot_frames, contacts, strict=True) if c > 0.5)
        if frames not in self._sets:
            self._sets[frames] = ContactSet(self.model, frames)
        return self._sets[frames]

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
        held, forces = self.held(contacts), np.zeros((4, 3))
        acceleration = self._solve(held, q, v, tau)
        forces[np.asarray(contacts) > 0.5] = held.data.lambda_c.reshape(-1, 3)
        return acceleration, forces

    def step(
        self, q: Array, v: Array, tau: Array, contacts: Sequence[float] | Array, dt: float
    ) -> tuple[Array, Array]:
        """Return (q+, v+) after `dt` [s]: v+ = v + a dt, q+ = q (+) v+ dt (semi-implicit Euler)."""
        return semi_implicit_step(q, v, self._solve(self.held(contacts), q, v, tau), dt)

    def step_derivatives_into(
        self, q: Array, v: Array, tau: Array, contacts: Sequence[float] | Array, dt: float,
        A: Array, B: Array,
    ) -> None:  # fmt: skip
        """Write A (36, 36), B (36, 12) of `step`: dx+ = A dx + B dtau, in the tangents at x, x+.

        Analytic, from Pinocchio's derivatives of the constrained dynamics.
        """
        s = self.held(contacts)
        a = self._solve(s, q, v, tau)
        a_q, a_v, a_tau, *_ = pin.computeConstraintDynamicsDerivatives(
            self.model, s.data, s.models, s.datas, s.proximal
        )
        assemble_step(v, a, a_q, a_v, a_tau, dt, A, B)

    def _solve(self, s: ContactSet, q: Array, v: Array, tau: Array) -> Array:
        """Return a new array (18) with the acceleration; leave the rest in the set's buffers."""
        force = self._generalised_force
        force[6:] = tau
        return pin.constraintDynamics(
            self.model, s.data, q, v, force, s.models, s.datas, s.proximal
        ).copy()
