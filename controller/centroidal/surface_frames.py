"""Axes of the ground's surface below each foot, in which the feet's forces are chosen."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.terrain import Ground, surface_at, write_surface_frame

Array = NDArray[np.float64]


def level_frames(shape: tuple[int, ...]) -> Array:
    """Frames (*shape, 3, 3) of level ground: the identity."""
    return np.tile(np.eye(3), (*shape, 1, 1))


def along_axes(frames: Array, forces: Array) -> Array:
    """Forces (..., 3) along the axes of frames (..., 3, 3), in the world that the frames are in."""
    return (frames @ forces[..., None])[..., 0]


def frames_below(ground: Ground, heading: Array, feet: Array) -> Array:
    """Frames of the ground's surface below feet.

    Args:
        ground: in the world.
        heading: (2, 2) axes of the path in the world, as columns.
        feet: (n, 3) along the path's axes [m].

    Returns:
        (n, 3, 3): their columns are two tangents and the normal, along the path's axes.
    """
    frames = np.empty((len(feet), 3, 3))
    _write_frames(ground, np.ascontiguousarray(heading), np.ascontiguousarray(feet), frames)
    return frames


@njit(cache=True)
def _write_frames(ground: Ground, heading: Array, feet: Array, frames: Array) -> None:
    c, s = heading[0, 0], heading[1, 0]
    for i in range(len(feet)):
        x, y = feet[i, 0], feet[i, 1]
        _, nx, ny, nz = surface_at(ground, c * x - s * y, s * x + c * y)
        write_surface_frame(c * nx + s * ny, c * ny - s * nx, nz, frames[i])
