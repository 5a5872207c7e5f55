"""Load a robot into MuJoCo, in a world with ground."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

import mujoco

from robots.robot import Robot
from robots.terrain import Ground, make_ground
from robots.terrain_geoms import add_geoms


def load_mujoco(
    robot: Robot,
    timestep: float = 0.001,
    body_collisions: bool = True,
    ground: Ground | None = None,
    meshes: bool = False,
) -> mujoco.MjModel:
    """Return the MuJoCo model.

    Args:
        robot: to be loaded.
        timestep: physics step [s].
        body_collisions: whether trunk, thighs and calves touch the ground too; a planner's
            rollouts, which only need the feet, are faster without.
        ground: None for the level floor z = 0.
        meshes: whether the model is to be looked at.
    """
    spec = robot.spec(meshes)
    add_geoms(spec, ground or make_ground())
    model = spec.compile()
    model.opt.timestep = timestep
    if not body_collisions:
        model.geom_conaffinity[model.geom_group == 3] = 0
    return model
