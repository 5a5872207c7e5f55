"""MuJoCo's soft contact: the force of one contact or one joint limit, and its derivative.

With the residual r = J a - a_ref, a_ref = -b J v - k imp(d) d, of a contact at the distance d < 0,
MuJoCo's solver finds the acceleration at which f = -ds/dr of a convex s(r); D below is
imp / (1 - imp) times a constant (MuJoCo's documentation, chapter Computation, "Constraint model").
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from numba import njit

from robots.conventions import FOOT_NAMES
from robots.robot import Robot
from robots.rotations import Array
from robots.terrain import Ground, make_ground

PROBE_DEPTH = 1e-3  # of the feet in the ground, and of joints beyond a limit [m, rad]


class SoftContact(NamedTuple):
    """Parameters of MuJoCo's contact between a foot's sphere and the ground.

    Attributes:
        centre: (4, 3) of a foot's sphere in the body of the leg's third joint [m].
        radius: (4,) [m].
        ground: that the feet meet.
        friction: (2,) coefficients along the tangents.
        stiffness, damping: k [1/s^2] and b [1/s].
        impedance: (5,) d_0, d_width, width, midpoint, power.
        weight: (4,) D (1 - imp) / imp of a friction pyramid's edges [kg].
        lower, upper: (12,) of the joints [rad].
        limit_stiffness, limit_damping, limit_impedance, limit_weight (12,): of their limits.
    """

    centre: Array
    radius: Array
    ground: Ground
    friction: Array
    stiffness: float
    damping: float
    impedance: Array
    weight: Array
    lower: Array
    upper: Array
    limit_stiffness: float
    limit_damping: float
    limit_impedance: Array
    limit_weight: Array


def soft_contact_of(
    robot: Robot, model: mujoco.MjModel, ground: Ground | None = None
) -> SoftContact:
    """Read the law from a model of a robot on a level floor: feet alike, and joint limits alike.

    Args:
        robot: that the model is of.
        model: on the floor z = 0.
        ground: that the law is for; None for that floor.

    Raises:
        ValueError: the feet do not all meet one plane, or with other friction than sliding in a
            pyramid.
    """
    data, stand = mujoco.MjData(model), robot.stand.copy()
    data.qpos[2], data.qpos[3], data.qpos[7:] = robot.stand_height - PROBE_DEPTH, 1.0, stand
    mujoco.mj_forward(model, data)
    feet, hit = [model.geom(f"{name}_foot").id for name in FOOT_NAMES], data.contact
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    alike = data.ncon == 4 and (hit.dim == 3).all() and (hit.geom[:, 0] == hit.geom[0, 0]).all()
    pyramid = model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL
    if not (alike and pyramid) or model.geom_type[hit.geom[0, 0]] != plane:
        raise ValueError("soft contact is for four feet on one plane, with sliding friction alone")
    order = [int(np.flatnonzero(hit.geom[:, 1] == foot)[0]) for foot in feet]
    first = hit.efc_address[0]
    k, b, imp, _ = data.efc_KBIP[first]
    D = data.efc_D[first:].reshape(4, -1)[order, 0]
    friction, law = hit.friction[0, :2].copy(), hit.solimp[0].copy()
    lower, upper = model.jnt_range[1:].T.copy()
    data.qpos[7:] = stand + np.where(np.arange(12) == 0, upper + PROBE_DEPTH - stand, 0.0)
    data.qpos[2] = 10.0
    mujoco.mj_forward(model, data)
    limit_k, limit_b = data.efc_KBIP[0, :2]
    return SoftContact(
        centre=model.geom_pos[feet].copy(),
        radius=model.geom_size[feet, 0].copy(),
        ground=ground or make_ground(),
        friction=friction,
        stiffness=float(k),
        damping=float(b),
        impedance=law,
        weight=D * (1.0 - imp) / imp,
        lower=lower,
        upper=upper,
        limit_stiffness=float(limit_k),
        limit_damping=float(limit_b),
        limit_impedance=model.jnt_solimp[1].copy(),
        limit_weight=1.0 / model.dof_invweight0[6:],
    )


@njit(cache=True)
def impedance(distance: float, solimp: Array) -> tuple[float, float]:
    """imp(d) of d < 0 and its derivative by d (MuJoCo's solimp: a sigmoid of |d| / width)."""
    d_0, d_width, width, midpoint, power = solimp
    x = -distance / width
    if x >= 1.0:
        return d_width, 0.0
    if power == 1.0:
        y, slope = x, 1.0
    elif x <= midpoint:
        y = x**power / midpoint ** (power - 1.0)
        slope = power * (x / midpoint) ** (power - 1.0)
    else:
        y = 1.0 - (1.0 - x) ** power / (1.0 - midpoint) ** (power - 1.0)
        slope = power * ((1.0 - x) / (1.0 - midpoint)) ** (power - 1.0)
    return d_0 + y * (d_width - d_0), -slope * (d_width - d_0) / width


@njit(cache=True)
def contact_force(
    contact: SoftContact, foot: int, scale: float, r: Array, force: Array, curvature: Array
) -> None:
    """Write f (3,) and K = d^2 s / dr^2 (3, 3) in the contact's frame.

    Args:
        contact: the law; foot: 0 to 3.
        scale: imp / (1 - imp).
        r: residual (3,) [m/s^2], normal first.
        force, curvature: filled [N], [kg].
    """
    force[:] = 0.0
    curvature[:] = 0.0
    D = scale * contact.weight[foot]
    for i in range(2):
        for sign in (1.0, -1.0):
            along = sign * contact.friction[i]
            edge = r[0] + along * r[1 + i]
            if edge < 0.0:
                force[0] -= D * edge
                force[1 + i] -= D * edge * along
                curvature[0, 0] += D
                curvature[0, 1 + i] += D * along
                curvature[1 + i, 0] += D * along
                curvature[1 + i, 1 + i] += D * along * along
