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
from numba import njit

from robots.conventions import FOOT_NAMES
from robots.rotations import Array
from robots.terrain import Ground, patch_at

IMPEDANCE = 0.5  # d on a soft patch: the mass is 0.6 kg then; of MuJoCo's 0.95 it would be 11 kg


class Patches:
    """The patches of a ground, for the feet of one model, which nothing else changes."""

    def __init__(self, model: mujoco.MjModel, ground: Ground) -> None:
        """Read from the model what its feet are outside of patches."""
        feet = [model.geom(f"{name}_foot").id for name in FOOT_NAMES]
        self._fixed = (
            ground, np.array(feet), model.body_invweight0[model.geom_bodyid[feet], 0],
            0.25 * model.body_mass.sum(), model.geom_solref[feet], model.geom_solimp[feet],
        )  # fmt: skip
        self._geoms = model.geom_friction, model.geom_solref, model.geom_solimp

    def apply(self, data: mujoco.MjData) -> None:
        """Give each foot the friction and softness of the ground below it."""
        _put_on(data.geom_xpos, *self._fixed, *self._geoms)


@njit(cache=True)
def _put_on(
    places: Array, ground: Ground, feet: Array, inverse_mass: Array, load: float,
    usual_solref: Array, usual_solimp: Array, friction: Array, solref: Array, solimp: Array,
) -> None:  # fmt: skip
    """Write each foot's row of friction, solref and solimp.

    A soft patch is a spring [N/m] whose damper is critical under a quarter of the robot, `load`
    [kg].
    """
    for i, foot in enumerate(feet):
        x, y = places[foot, 0], places[foot, 1]
        friction[foot, 0], stiffness = patch_at(ground, x, y)
        solref[foot], solimp[foot] = usual_solref[i], usual_solimp[i]
        if not np.isnan(stiffness):
            spring = np.array((stiffness, 2.0 * np.sqrt(stiffness * load)))
            solref[foot] = -spring * (1.0 - IMPEDANCE) * inverse_mass[i]
            solimp[foot, :2] = IMPEDANCE
