"""Reads from MuJoCo what touches the ground, and how hard."""

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from robots.a1.constants import FOOT_NAMES

Array = NDArray[np.float64]


class FloorContacts(NamedTuple):
    """Contacts of the last physics step."""

    foot_force: Array  # (4, 3) of the floor on each foot, in world [N]
    normal_force: Array  # (4) the part of it along the floor's normal [N]
    trunk: bool  # the trunk touches


class ContactReader:
    """Sums contact forces per foot; knows the geometries of one compiled model."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Find feet and trunk in `model`."""
        trunk = model.body("trunk").id
        self._foot_of_geom = {model.geom(f"{name}_foot").id: i for i, name in enumerate(FOOT_NAMES)}
        self._trunk_geoms = frozenset(np.flatnonzero(model.geom_bodyid == trunk).tolist())
        self._ground = frozenset(np.flatnonzero(model.geom_bodyid == 0).tolist())
        self._model = model
        self._wrench = np.zeros((6, 1))

    def read(self, data: mujoco.MjData) -> FloorContacts:
        """The contacts that the last physics step solved for.

        Only the ground can be touched. A contact's frame begins with the normal that points from
        its first geometry to the second, on which the force acts; the ground is either.
        """
        foot_force, normal_force = np.zeros((4, 3)), np.zeros(4)
        trunk = False
        if data.ncon:
            frames = data.contact.frame.reshape(-1, 3, 3)
            for index, (first, second) in enumerate(data.contact.geom.tolist()):
                sign, geom = (1.0, second) if first in self._ground else (-1.0, first)
                foot = self._foot_of_geom.get(geom)
                trunk = trunk or geom in self._trunk_geoms
                if foot is not None:
                    mujoco.mj_contactForce(self._model, data, index, self._wrench)
                    foot_force[foot] += sign * self._wrench[:3, 0] @ frames[index]
                    normal_force[foot] += self._wrench[0, 0]
        return FloorContacts(foot_force, normal_force, trunk)
