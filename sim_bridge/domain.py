"""The MuJoCo model of the robot in the world that the options describe."""

import math

import mujoco
import numpy as np

from robots.mujoco_model import load_mujoco
from robots.robot import Robot
from robots.terrain import Ground
from sim_bridge.motors import motor_limits
from sim_bridge.options import SimulationOptions


def build_model(
    robot: Robot, options: SimulationOptions, ground: Ground | None = None
) -> mujoco.MjModel:
    """Load the robot on its ground, with the options' friction, masses, slope and motors."""
    model = load_mujoco(robot, timestep=options.timestep, ground=ground)
    model.geom_friction[:, 0] = options.friction
    model.body_mass *= options.mass_scale
    model.body_inertia *= options.mass_scale
    model.body_mass[model.body("trunk").id] += options.payload_mass
    half = -0.5 * options.floor_slope
    model.geom_quat[model.geom("floor").id] = (math.cos(half), 0.0, math.sin(half), 0.0)
    limit = motor_limits(robot, options.motors)[0]
    model.actuator_ctrlrange[:] = np.column_stack((-limit, limit))
    model.actuator_forcerange[:] = model.actuator_ctrlrange
    model.actuator_ctrllimited[:] = model.actuator_forcelimited[:] = True
    # Rubber feet do not creep: the pyramidal cone at equal impedance lets them slide at 14 mm/s
    # under a sideways load of a fifth of the weight. The values are mujoco_menagerie's for the A1.
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    model.opt.impratio = 100.0
    # A diverged state must show as such; MuJoCo would silently put the robot back at its start.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model
