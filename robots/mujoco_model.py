"""Load a robot into MuJoCo, in a world with ground."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import ctypes
from pathlib import Path

import mujoco
import numpy as np

from robots.robot import Robot
from robots.terrain import Ground, make_ground


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
    ground: Ground | None = None,
    meshes: bool = False,
) -> mujoco.MjModel:
    """Return the MuJoCo model.

    Args:
        robot: to be loaded.
        timestep: physics step [s].
        ground: None for the level floor z = 0.
        meshes: whether the model is to be looked at.
    """
    spec = robot.spec(meshes)
    add_geoms(spec, ground or make_ground())
    model = spec.compile()
    model.opt.timestep = timestep
    return model


GRID_DEPTH = 0.5  # of the solid below the grid's lowest height [m]
STONES = ((0.62, 0.64, 0.68, 1.0), (0.52, 0.55, 0.6, 1.0))  # in turns, so that edges are visible


def add_geoms(spec: mujoco.MjSpec, ground: Ground) -> None:
    """Add the ground's solids to a model that has the geom ``floor``; they act like it."""
    floor = spec.geom("floor")
    floor.pos = [0.0, 0.0, ground.floor]
    like = {
        "contype": floor.contype, "conaffinity": floor.conaffinity, "friction": floor.friction,
        "group": floor.group,
    }  # fmt: skip
    for b, (centre, half, rotation) in enumerate(
        zip(ground.centre, ground.half, ground.rotation, strict=True)
    ):
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, rotation.ravel())
        spec.worldbody.add_geom(
            name=f"ground_{b}", type=mujoco.mjtGeom.mjGEOM_BOX, pos=centre, size=half,
            quat=quaternion, rgba=STONES[b % 2], **like,
        )  # fmt: skip
    if ground.grid.size:
        rows, columns = ground.grid.shape
        x, y = 0.5 * (columns - 1) * ground.grid_spacing, 0.5 * (rows - 1) * ground.grid_spacing
        least, most = float(ground.grid.min()), float(ground.grid.max())
        spec.add_hfield(  # MuJoCo scales what it is given to 0..1
            name="ground", nrow=rows, ncol=columns, userdata=ground.grid.ravel(),
            size=[x, y, max(most - least, 1e-9), GRID_DEPTH],
        )  # fmt: skip
        spec.worldbody.add_geom(
            name="ground_grid", type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="ground",
            pos=[*(ground.grid_origin + [x, y]), ground.floor + least], rgba=STONES[0], **like,
        )  # fmt: skip


def move_geoms(model: mujoco.MjModel, ground: Ground) -> None:
    """Put the boxes of a model that `add_geoms` made where the ground has them now."""
    for b, (centre, rotation) in enumerate(zip(ground.centre, ground.rotation, strict=True)):
        geom = model.geom(f"ground_{b}")
        model.geom_sameframe[geom.id] = 0  # what was parallel to the world may turn now
        geom.pos[:] = centre
        mujoco.mju_mat2Quat(geom.quat, rotation.ravel())
