"""The planner's robot as MuJoCo Warp simulates it."""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco

from sim_bridge.rollouts.planning_model import planning_model
from sim_bridge.rollouts.warp_device import WarpDevice


class WarpPhysics(NamedTuple):
    """The robot on a device."""

    here: WarpDevice
    host_model: mujoco.MjModel
    model: Any  # mujoco_warp.Model
    substeps: int
    contacts: int  # room for so many a candidate


def make_physics(
    here: WarpDevice, timestep: float, substeps: int, deterministic: bool, contacts: int | None
) -> WarpPhysics:
    """The planner's model on the device; `contacts` a candidate, all its feet's where None."""
    host, flags = planning_model(timestep), mujoco.mjtDisableBit
    # MuJoCo Warp knows neither: it never resets by itself and has no middle phase.
    host.opt.disableflags &= ~int(flags.mjDSBL_AUTORESET | flags.mjDSBL_MIDPHASE)
    with here.warp.ScopedDevice(here.device):
        model = here.mjw.put_model(host)
    model.opt.warn_overflow = 0  # the flags are read after every call
    if here.device.is_cuda:
        # One thread after another on the CPU device: its results repeat in any case.
        every = here.mjw.DeterminismType.ALL if deterministic else here.mjw.DeterminismType.NONE
        model.opt.deterministic = int(every)
        # Without these nodes (CUDA before 12.4) the contact solver runs all its iterations.
        model.opt.graph_conditional = here.warp.is_conditional_graph_supported()
    # A sphere meets the plane in one point, and nothing but feet collides.
    feet = int((host.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE).sum())
    return WarpPhysics(here, host, model, substeps, feet if contacts is None else contacts)


def constraint_rows(model: mujoco.MjModel) -> int:
    """Most rows that the contact solver can meet: a pyramid a foot, and a limit a joint."""
    spheres = model.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE
    pyramids = 2 * (model.geom_condim[spheres] - 1)
    return int(pyramids.sum()) + int(model.jnt_limited.sum())  # a joint is at one limit at a time
