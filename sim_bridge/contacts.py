"""Reads from MuJoCo what touches the ground, and how hard."""

from typing import NamedTuple

import mujoco
import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.a1.constants import FOOT_NAMES

Array = NDArray[np.float64]
OTHER, TRUNK, GROUND = -1, -2, -3  # what a geometry belongs to; a foot's are 0 to 3


class FloorContacts(NamedTuple):
    """Contacts of the last physics step."""

    foot_force: Array  # (4, 3) of the floor on each foot, in world [N]
    normal_force: Array  # (4) the part of it along the floor's normal [N]
    trunk: bool  # the trunk touches


class ContactReader:
    """Sums contact forces per foot; knows the geometries of one compiled model."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Find feet and trunk in `model`."""
        self._parts = np.full(model.ngeom, OTHER)
        self._parts[model.geom_bodyid == model.body("trunk").id] = TRUNK
        self._parts[model.geom_bodyid == 0] = GROUND
        self._parts[[model.geom(f"{name}_foot").id for name in FOOT_NAMES]] = range(4)
        self._model = model
        self._wrenches = np.zeros((16, 6, 1))
        self._rows = list(self._wrenches)

    def read(self, data: mujoco.MjData) -> FloorContacts:
        """The contacts that the last physics step solved for.

        Only the ground can be touched. A contact's frame begins with the normal that points from
        its first geometry to the second, on which the force acts; the ground is either.
        """
        contact, count = data.contact, data.ncon
        while len(self._rows) < count:
            self._wrenches = np.zeros((2 * len(self._wrenches), 6, 1))
            self._rows = list(self._wrenches)
        for index in range(count):
            mujoco.mj_contactForce(self._model, data, index, self._rows[index])
        geoms, frames = np.ascontiguousarray(contact.geom), np.ascontiguousarray(contact.frame)
        return FloorContacts(*_sum_forces(geoms, frames, self._wrenches[:, :, 0], self._parts))


@njit(cache=True)
def _sum_forces(
    geoms: NDArray[np.int32], frames: Array, wrenches: Array, parts: NDArray[np.int64]
) -> tuple[Array, Array, bool]:
    """Return the fields of `FloorContacts`.

    Args:
        geoms, frames, wrenches: (n, 2), (n, 9), (n or more, 6) of the contacts.
        parts: what each geometry belongs to.
    """
    foot_force, normal_force, trunk = np.zeros((4, 3)), np.zeros(4), False
    for index in range(len(geoms)):
        is_first = parts[geoms[index, 0]] == GROUND
        sign, part = (1.0, parts[geoms[index, 1]]) if is_first else (-1.0, parts[geoms[index, 0]])
        trunk |= part == TRUNK
        if part >= 0:
            normal_force[part] += wrenches[index, 0]
            for axis in range(3):
                force = 0.0
                for k in range(3):
                    force += wrenches[index, k] * frames[index, 3 * k + axis]
                foot_force[part, axis] += sign * force
    return foot_force, normal_force, trunk
