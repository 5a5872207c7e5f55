"""Dynamics of a floating-base robot whose feet stick to the ground, and its derivatives."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from robots.euler_step import assemble_step, semi_implicit_step
from robots.rotations import Array


def mask_of(contacts: Sequence[float] | Array) -> int:
    """Return the bit mask of a contact vector (4): bit i is set when contacts[i] > 0.5."""
    c0, c1, c2, c3 = contacts.tolist() if isinstance(contacts, np.ndarray) else contacts
    return (c0 > 0.5) | (c1 > 0.5) << 1 | (c2 > 0.5) << 2 | (c3 > 0.5) << 3


@dataclass(frozen=True)
class ContactSet:
    """Sticking point contacts of some feet, with the working memory of Pinocchio's algorithms.

    Each foot contributes three rows, in world axes at the centre of its sphere: the sphere is held
    as a point, its rolling is left out.
    """

    feet: list[int]
    frames: list[int]
    models: pin.StdVec_RigidConstraintModel
    datas: pin.StdVec_RigidConstraintData
    data: pin.Data
    proximal: pin.ProximalSettings

    def forces(self, stacked: Array) -> Array:
        """Return (4, 3) world-frame forces or impulses of all feet from the stacked rows (3 n)."""
        forces = np.zeros((4, 3))
        if self.feet:
            forces[self.feet] = stacked.reshape(-1, 3)
        return forces


class ContactSets:
    """The contact sets of one model, made on first use. Not for use by two threads at once."""

    def __init__(self, model: pin.Model, foot_frames: Sequence[int]) -> None:
        """Take a model and the four frames at the centres of the feet (FR, FL, RR, RL)."""
        self.model = model
        self.foot_frames = tuple(foot_frames)
        self._sets: dict[int, ContactSet] = {}

    def get(self, mask: int) -> ContactSet:
        """Return the set whose feet are the bits of `mask`."""
        found = self._sets.get(mask)
        if found is None:
            found = self._sets[mask] = self._make([i for i in range(4) if mask >> i & 1])
        return found

    def _make(self, feet: list[int]) -> ContactSet:
        models = pin.StdVec_RigidConstraintModel()
        datas = pin.StdVec_RigidConstraintData()
        frames = [self.foot_frames[foot] for foot in feet]
        for frame_id in frames:
            frame = self.model.frames[frame_id]
            contact = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D,
                self.model,
                frame.parentJoint,
                frame.placement,
                pin.LOCAL_WORLD_ALIGNED,
            )
            models.append(contact)
            datas.append(contact.createData())
        data = self.model.createData()
        pin.initConstraintDynamics(self.model, data, models, datas)
        # The KKT matrix is regular while no leg is stretched out: a regularisation at rounding
        # level and one iteration are exact to 1e-10.
        proximal = pin.ProximalSettings(1e-12, 1e-12, 1)
        return ContactSet(feet, frames, models, datas, data, proximal)


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

    def step_derivatives_into(
        self, q: Array, v: Array, tau: Array, contacts: Sequence[float] | Array, dt: float,
        A: Array, B: Array,
    ) -> None:  # fmt: skip
        """Write A (36, 36), B (36, 12) of `step`: dx+ = A dx + B dtau, in the tangents at x, x+.

        Analytic, from Pinocchio's derivatives of the constrained dynamics.
        """
        contact_set = self.sets.get(mask_of(contacts))
        a = self._solve(contact_set, q, v, tau)
        assemble_step(v, a, *self._differentiate(contact_set), dt, A, B)

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
