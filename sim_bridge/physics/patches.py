"""Patches of the ground in MuJoCo: a foot's geom decides on its contact's friction and softness.

A contact's force is f = (a_ref - a) / R with a_ref = -b v - k d r at the penetration r, and
R = (1 - d) A / d for an inverse mass A (MuJoCo's documentation, chapter Computation, "Constraint
model"). With a constant impedance d, and k and b in MuJoCo's direct form, it is a spring and a
damper, S r + C v, beside a mass d / ((1 - d) A) that moves along:

    solref = -(S, C) (1 - d) A
"""

from __future__ import annotations

import mujoco
import numpy as np

from robots.a1.constants import FOOT_NAMES
from robots.rotations import Array
from robots.terrain import Ground, friction_at, stiffness_at

IMPEDANCE = 0.5  # d on a soft patch: the mass is 0.6 kg then; of MuJoCo's 0.95 it would be 11 kg


class Patches:
    """The patches of a ground, for the feet of one model, which nobody else changes."""

    def __init__(self, model: mujoco.MjModel, ground: Ground) -> None:
        """Read from the model what its feet are outside of patches."""
        self._model, self._ground = model, ground
        self._feet = [model.geom(f"{name}_foot").id for name in FOOT_NAMES]
        self._usual = model.geom_solref.copy(), model.geom_solimp.copy()
        self._corners: list[list[float]] = ground.patch.tolist()
        self._under: list[int | None] = [None] * len(self._feet)  # the patch below each foot

    def apply(self, data: mujoco.MjData) -> None:
        """Give each foot the friction and softness of the ground below it."""
        for i, foot in enumerate(self._feet):
            x, y, _ = data.geom_xpos[foot].tolist()
            patch = self._patch_at(x, y)
            if patch != self._under[i]:
                self._under[i] = patch
                self._put_on(foot, x, y)

    def _patch_at(self, x: float, y: float) -> int:
        """As `patch_at`: each step asks, and to call compiled code takes longer than the answer."""
        for number in range(len(self._corners) - 1, -1, -1):
            least_x, least_y, most_x, most_y = self._corners[number]
            if least_x <= x <= most_x and least_y <= y <= most_y:
                return number
        return -1

    def _put_on(self, foot: int, x: float, y: float) -> None:
        """Give a foot what the ground at a place has."""
        model, ground = self._model, self._ground
        model.geom_friction[foot, 0] = friction_at(ground, x, y)
        stiffness = stiffness_at(ground, x, y)
        soft = not np.isnan(stiffness)
        usual_solref, usual_solimp = self._usual
        model.geom_solref[foot] = self._solref(foot, stiffness) if soft else usual_solref[foot]
        model.geom_solimp[foot] = usual_solimp[foot]
        if soft:
            model.geom_solimp[foot, :2] = IMPEDANCE

    def _solref(self, foot: int, stiffness: float) -> Array:
        """Of a spring [N/m] whose damper is critical under a quarter of the robot."""
        model = self._model
        damping = 2.0 * np.sqrt(stiffness * 0.25 * model.body_mass.sum())
        inverse_mass = model.body_invweight0[model.geom_bodyid[foot], 0]
        return -np.array([stiffness, damping]) * (1.0 - IMPEDANCE) * inverse_mass
