"""Load the A1 into MuJoCo, from the same file as into Pinocchio."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

import mujoco

from robots.a1.constants import MJCF_PATH


def load_mujoco(timestep: float = 0.001, body_collisions: bool = True) -> mujoco.MjModel:
    """Return the MuJoCo model.

    Args:
        timestep: physics step [s].
        body_collisions: whether trunk, thighs and calves touch the floor too; a planner's rollouts,
        which only need
            the feet, are faster without.
    """
    model = mujoco.MjModel.from_xml_path(str(MJCF_PATH))
    model.opt.timestep = timestep
    if not body_collisions:
        model.geom_conaffinity[model.geom_group == 3] = 0
    return model
