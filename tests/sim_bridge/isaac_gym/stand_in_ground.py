"""The ground that a triangle mesh is: read back from its vertices, as MuJoCo's solids.

A connected part is a box, a level rectangle, or a grid of heights with sides down to a floor.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from robots.terrain import make_ground
from tests.sim_bridge.isaac_gym.stand_in_api import RuleBroken

FAR_BELOW = -1e3  # of MuJoCo's own floor [m]
THICK = 0.5  # of a rectangle, which MuJoCo takes for a box [m]


class MeshParts:
    """The solids of a mesh.

    Attributes:
        boxes: (centre, half, axes) each; grids: (heights above the floor, x, y, floor) each.
    """

    def __init__(self, vertices, triangles):
        self.boxes, self.grids = [], []
        ends = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]]]).T
        links = coo_array((np.ones(ends.shape[1]), ends), shape=(len(vertices),) * 2)
        _, part = connected_components(links, directed=False)
        for number in range(part.max() + 1):
            points, faces = vertices[part == number], triangles[part[triangles[:, 0]] == number]
            self._read(points, faces - np.flatnonzero(part == number)[0])

    def floor_at(self, z):
        """Of the grid nearest to the height z [m]."""
        return min((grid[3] for grid in self.grids), key=lambda floor: abs(floor - z))

    def ground(self):
        """Every box, and the first grid, at a floor far below; all grids have the same heights."""
        ground = make_ground()
        centre, half, rotation = (np.array(each) for each in zip(*self.boxes, strict=True))
        ground = ground._replace(
            floor=FAR_BELOW, centre=centre, half=half, rotation=rotation,
            reach=np.linalg.norm(half, axis=1),
        )  # fmt: skip
        if not self.grids:
            return ground
        heights, x, y, _ = self.grids[0]
        for other in self.grids:
            np.testing.assert_allclose(other[0], heights, atol=1e-4)
        return ground._replace(
            grid=heights, grid_origin=np.array([x[0], y[0]]),
            grid_spacing=(x[-1] - x[0]) / (len(x) - 1),
        )  # fmt: skip

    def _read(self, points, faces):
        if len(points) == 4:
            half = np.array([*(0.5 * np.ptp(points[:, :2], axis=0)), 0.5 * THICK])
            centre = points.mean(axis=0) - [0.0, 0.0, 0.5 * THICK]
            self.boxes.append((centre, half, np.eye(3)))
        elif len(points) == 8:
            edges = points[[1, 2, 4]] - points[0]
            half = 0.5 * np.linalg.norm(edges, axis=1)
            self.boxes.append((points.mean(axis=0), half, (edges / (2.0 * half[:, None])).T))
        else:
            self.grids.append(_grid(points, points[faces]))


def _grid(points, corners):
    """Heights above the floor, x and y of a grid, and the floor."""
    floor = points[:, 2].min()
    x, y = (np.unique(points[:, i].round(4)) for i in (0, 1))
    column, row = (np.abs(points[:, i, None] - at).argmin(axis=1) for i, at in ((0, x), (1, y)))
    heights = np.full((len(y), len(x)), -np.inf)
    np.maximum.at(heights, (row, column), points[:, 2])
    sides = (np.roll(corners, -1, axis=1) - corners)[..., :2]
    slanted = sides[(np.abs(sides) > 1e-4).all(axis=2)]
    if (slanted.prod(axis=1) <= 0.0).any():
        raise RuleBroken("a grid whose cells are cut along their other diagonal than MuJoCo's")
    return heights - floor, x, y, floor
