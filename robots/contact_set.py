"""Which feet stand: Pinocchio's constraint models and buffers, one set for each subset."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

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
