"""The ground that a triangle mesh is: read back from its vertices, as MuJoCo's solids.

A connected part is a closed box, a level rectangle, or a grid of heights with sides down to a
floor. Anything else is a broken rule, and so are faces that look inward.
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
        corners = points[faces]
        area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        if len(points) == 4 and np.ptp(points[:, 2]) == 0.0:
            if not (area[:, 2] > 0.0).all():
                raise RuleBroken("a floor that is seen from above only from below")
            half = np.array([*(0.5 * np.ptp(points[:, :2], axis=0)), 0.5 * THICK])
            centre = points.mean(axis=0) - [0.0, 0.0, 0.5 * THICK]
            self.boxes.append((centre, half, np.eye(3)))
        elif len(points) == 8:
            self.boxes.append(_box(points, corners, area))
        else:
            self.grids.append(_grid(points, corners, area))


def _box(points, corners, area):
    """Centre, half sizes and axes; its faces look outward, and close it."""
    centre = points.mean(axis=0)
    edges = points[[1, 2, 4]] - points[0]
    half = 0.5 * np.linalg.norm(edges, axis=1)
    axes = (edges / (2.0 * half[:, None])).T
    outward = np.einsum("ij,ij->i", area, corners.mean(axis=1) - centre)
    volume = outward.sum() / 6.0
    spread = np.abs(np.abs((points - centre) @ axes) - half).max()
    if len(area) != 12 or (outward <= 0.0).any() or spread > 1e-4 or np.linalg.det(axes) < 0.0:
        raise RuleBroken("a box that is none, or is seen from inside")
    if abs(volume / (8.0 * half.prod()) - 1.0) > 1e-3:
        raise RuleBroken("a box that is open")
    return centre, half, axes


def _grid(points, corners, area):
    """Heights above the floor, x and y of a grid, and the floor."""
    floor = points[:, 2].min()
    x, y = np.unique(points[:, 0]), np.unique(points[:, 1])
    x, y = x[np.append(True, np.diff(x) > 1e-4)], y[np.append(True, np.diff(y) > 1e-4)]
    heights = np.full((len(y), len(x)), -np.inf)
    column, row = (np.searchsorted(at, points[:, i] + 1e-4) - 1 for i, at in ((0, x), (1, y)))
    np.maximum.at(heights, (row, column), points[:, 2])
    up = area[:, 2] > 1e-9
    if up.sum() != 2 * (len(x) - 1) * (len(y) - 1) or (area[:, 2] < -1e-9).any():
        raise RuleBroken("a grid with holes, or seen from below")
    longest = np.array([corners[up, 1] - corners[up, 0], corners[up, 2] - corners[up, 1],
                        corners[up, 0] - corners[up, 2]])[..., :2]  # fmt: skip
    slanted = longest[(np.abs(longest) > 1e-4).all(axis=2)]
    if len(slanted) != up.sum() or (slanted.prod(axis=1) <= 0.0).any():
        raise RuleBroken("a grid whose cells are cut along their other diagonal than MuJoCo's")
    away = corners[~up].mean(axis=1)[:, :2] - [x.mean(), y.mean()]
    if (np.einsum("ij,ij->i", area[~up, :2], away) < -1e-9).any():
        raise RuleBroken("a grid's side that is seen from inside")
    return heights - floor, x, y, floor
