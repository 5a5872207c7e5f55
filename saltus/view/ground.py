"""The ground in the scene of a page: boxes, a mesh of the grid of heights, and patches."""

from __future__ import annotations

import mujoco
import numpy as np
import viser

from robots.terrain import Ground, plate_at

STONE, ICE = (178, 184, 194), (150, 200, 230)
PATCH_THICKNESS = 0.002  # [m]


def add_ground(server: viser.ViserServer, name: str, ground: Ground) -> None:
    """Add what stands on the floor, below the node `name`."""
    boxes = zip(ground.centre, ground.half, ground.rotation, strict=True)
    for i, (centre, half, rotation) in enumerate(boxes):
        wxyz = np.empty(4)
        mujoco.mju_mat2Quat(wxyz, rotation.ravel())
        server.scene.add_box(
            f"{name}/box{i}", STONE, tuple(2.0 * half), position=tuple(centre), wxyz=wxyz
        )
    if ground.grid.size:
        _add_grid(server, f"{name}/grid", ground)
    for i, (x, y, x_most, y_most) in enumerate(ground.patch):
        middle = 0.5 * (x + x_most), 0.5 * (y + y_most)
        z, axes = plate_at(ground, *middle)
        wxyz = np.empty(4)
        mujoco.mju_mat2Quat(wxyz, axes.ravel())
        server.scene.add_box(
            f"{name}/patch{i}", ICE, (x_most - x, y_most - y, PATCH_THICKNESS),
            position=(*middle, z), wxyz=wxyz,
        )  # fmt: skip


def _add_grid(server: viser.ViserServer, name: str, ground: Ground) -> None:
    rows, columns = ground.grid.shape
    i, j = np.divmod(np.arange(rows * columns), columns)
    x, y = ground.grid_origin
    d, heights = ground.grid_spacing, ground.floor + ground.grid.ravel()
    vertices = np.stack((x + d * j, y + d * i, heights), axis=1)
    low = (columns * np.arange(rows - 1)[:, None] + np.arange(columns - 1)).ravel()
    faces = np.concatenate((
        np.stack((low, low + 1, low + columns + 1), axis=1),
        np.stack((low, low + columns + 1, low + columns), axis=1),
    ))  # fmt: skip
    server.scene.add_mesh_simple(name, vertices, faces, color=STONE, flat_shading=True)
