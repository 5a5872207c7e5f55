"""The planner's robot as MuJoCo Warp simulates it."""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from robots.robot import Robot
from robots.terrain import Ground
from sim_bridge.rollouts.planning_model import planning_model
from sim_bridge.rollouts.warp_device import WarpDevice

# Contacts of a foot for which there is room: pairs that are near each other count, too.
ON_BOXES, ON_GRID = 16, 48


class WarpPhysics(NamedTuple):
    """The robot on a device.

    Attributes:
        solids: (S,) geoms of the ground's boxes, and of its grid after them; without the floor.
    """

    robot: Robot
    here: WarpDevice
    host_model: mujoco.MjModel
    model: Any  # mujoco_warp.Model
    substeps: int
    contacts: int  # room for so many a candidate
    solids: NDArray[np.int32]


def make_physics(
    robot: Robot, here: WarpDevice, timestep: float, substeps: int, deterministic: bool,
    contacts: int | None, ground: Ground | None,
) -> WarpPhysics:  # fmt: skip
    """The planner's model on the device, with room for `contacts` a candidate.

    None: for all contacts that the feet can make.
    """
    host, flags = planning_model(robot, timestep, ground), mujoco.mjtDisableBit
    # MuJoCo Warp has neither flag: it never resets by itself and has no middle phase.
    host.opt.disableflags &= ~int(flags.mjDSBL_AUTORESET | flags.mjDSBL_MIDPHASE)
    with here.warp.ScopedDevice(here.device):
        model = here.mjw.put_model(host)
    model.opt.warn_overflow = 0  # the flags are read after every call
    if here.device.is_cuda:  # on the CPU device threads run one after another: results repeat
        every = here.mjw.DeterminismType.ALL if deterministic else here.mjw.DeterminismType.NONE
        model.opt.deterministic = int(every)
        # Without these nodes (CUDA before 12.4) the contact solver runs all its iterations.
        model.opt.graph_conditional = here.warp.is_conditional_graph_supported()
    if contacts is None:
        contacts = _most_contacts(host)
    return WarpPhysics(robot, here, host, model, substeps, contacts, _solids(host))


def solid_poses(model: mujoco.MjModel, ground: Ground | None) -> NDArray[np.float64]:
    """(S, 12) position [m] and axes, row by row, of the solids of a model made for `ground`."""
    if ground is None:
        return np.empty((0, 12))
    rotation = ground.rotation.reshape(-1, 9)
    poses = np.concatenate([ground.centre, rotation], axis=1)
    if not ground.grid.size:
        return poses
    grid = np.concatenate([model.geom("ground_grid").pos, np.eye(3).ravel()])
    return np.concatenate([poses, grid[None]])


def constraint_rows(model: mujoco.MjModel, contacts: int) -> int:
    """Most rows that the contact solver can meet: a pyramid a contact, and a limit a joint."""
    feet = model.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE
    pyramid = 2 * (int(model.geom_condim[feet].max()) - 1)
    return pyramid * contacts + int(model.jnt_limited.sum())  # a joint is at one limit at a time


def _solids(model: mujoco.MjModel) -> NDArray[np.int32]:
    names = [model.geom(i).name for i in range(model.ngeom)]
    return np.array([i for i, name in enumerate(names) if name.startswith("ground")], np.int32)


def _most_contacts(model: mujoco.MjModel) -> int:
    """Contacts of all feet; nothing else collides. A sphere meets plane and box in one point."""
    types, kinds = model.geom_type, mujoco.mjtGeom
    boxes = int((types == kinds.mjGEOM_BOX).sum())
    grids = int((types == kinds.mjGEOM_HFIELD).sum())
    feet = int((types == kinds.mjGEOM_SPHERE).sum())
    return feet * (1 + min(boxes, ON_BOXES) + ON_GRID * grids)
