"""A robot as rollouts simulate it: the whole motion, and nothing that the planner does not use."""

from __future__ import annotations

import mujoco

from robots.conventions import FOOT_NAMES
from robots.mujoco_model import add_geoms
from robots.robot import Robot
from robots.terrain import Ground, make_ground

FLOOR_GROUP, FOOT_GROUP = 0, 1  # geom groups of the model that a rollout needs


def planning_model(robot: Robot, timestep: float, ground: Ground | None = None) -> mujoco.MjModel:
    """The robot as the planner simulates it: only feet collide, and nothing unused is computed.

    The same motion as the whole model's with its body collisions off, and without damping, friction
    and springs of joints, in 0.6 of the time. `ground` is the level floor z = 0 where None.
    """
    spec = robot.spec()
    for unused in _unused(spec):
        spec.delete(unused)
    add_geoms(spec, ground or make_ground())
    model = spec.compile()
    option, flags = model.opt, mujoco.mjtDisableBit
    option.timestep = timestep
    # Without damping Euler gives implicitfast's result without a factorisation; matrices of 18 rows
    # are faster dense; a cold start of the contact solver takes fewer iterations than a warm one.
    option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    # A diverged candidate must stay diverged, not start again from the model's default pose.
    off = (
        flags.mjDSBL_EULERDAMP, flags.mjDSBL_ISLAND, flags.mjDSBL_AUTORESET,
        flags.mjDSBL_WARMSTART, flags.mjDSBL_MIDPHASE, flags.mjDSBL_EQUALITY,
        flags.mjDSBL_FRICTIONLOSS, flags.mjDSBL_SPRING, flags.mjDSBL_DAMPER,
    )  # fmt: skip
    option.disableflags |= sum(int(flag) for flag in off)
    return model


def _unused(spec: mujoco.MjSpec) -> list:
    """Parts that move with the robot and do not touch the floor: looks, body shapes, cameras."""
    geoms = [geom for geom in spec.geoms if geom.group not in (FLOOR_GROUP, FOOT_GROUP)]
    return [*geoms, *spec.cameras, *spec.lights]


def touch_slice(model: mujoco.MjModel) -> slice:
    """Place of the feet's touch sensors in `sensordata`, in foot order."""
    addresses = [int(model.sensor(f"{foot}_touch").adr[0]) for foot in FOOT_NAMES]
    return slice(addresses[0], addresses[-1] + 1)
