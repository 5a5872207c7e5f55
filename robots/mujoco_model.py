"""Load a robot into MuJoCo, in a world with ground."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

import ctypes
from pathlib import Path

import mujoco

from robots.robot import Robot
from robots.terrain import Ground, make_ground
from robots.terrain_geoms import add_geoms


def mujoco_library() -> ctypes.CDLL:
    """The library that the `mujoco` package has loaded."""
    folder = Path(mujoco.__file__).parent
    return ctypes.CDLL(str(next(folder.glob("libmujoco*"))))


class _LogConfig(ctypes.Structure):
    """MuJoCo's mjLogConfig."""

    _fields_ = (
        ("to_console", ctypes.c_bool), ("to_file", ctypes.c_bool), ("file", 1024 * ctypes.c_char),
        ("topics", ctypes.c_int),
    )  # fmt: skip


def _write_no_log_file() -> None:
    """Let warnings go to standard error alone: `MUJOCO_LOG.TXT` would lie in the user's folder."""
    library = mujoco_library()
    library.mju_getLogConfig.restype = _LogConfig
    library.mju_setLogConfig.argtypes = [_LogConfig]
    config = library.mju_getLogConfig()
    config.to_file = False
    library.mju_setLogConfig(config)


_write_no_log_file()


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
