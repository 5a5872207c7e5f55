"""The ground that the robot walks on: height, normal, friction and stiffness at a place.

Ground is a level floor with solids on it: boxes in any attitude, and a grid of heights. Where
solids overlap the highest counts. Patches change friction and stiffness of whatever lies there. A
robot that starts at the origin starts at z = 0: the floor is as far below as the solids there are
high.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numba import njit

from robots.rotations import Array
from robots.vectors import Vector, apply_transposed, dot, minus, triple

FLOOR_FRICTION = 0.8  # of `a1.xml`


class Ground(NamedTuple):
    """Floor, solids and patches, as arrays that compiled code reads.

    Attributes:
        floor: height of the floor [m].
        centre: (B, 3) of boxes [m].
        reach: (B,) from the centre to a corner [m].
        half: (B, 3) half their sizes [m].
        rotation: (B, 3, 3) their axes as columns.
        grid: (ny, nx) heights above the floor [m]; empty without a grid.
        grid_origin: (2,) x, y of grid[0, 0] [m].
        grid_spacing: between heights [m].
        patch: (P, 4) least x, least y, most x, most y [m]; the last one that covers a place counts.
        patch_friction: (P,) sliding friction of foot and ground [-].
        patch_stiffness: (P,) of a foot's contact [N/m]; NaN: as elsewhere.
        friction: elsewhere [-].
        roughness: standard deviation of the true heights from these [m]; 0 where they are known.
    """

    floor: float
    centre: Array
    reach: Array
    half: Array
    rotation: Array
    grid: Array
    grid_origin: Array
    grid_spacing: float
    patch: Array
    patch_friction: Array
    patch_stiffness: Array
    friction: float
    roughness: float


class Simulator(Protocol):
    """Physics on a ground: a rollout backend, or derivatives."""

    def move_ground(self, ground: Ground) -> None:
        """Put the boxes of the ground that this was made for where `ground` has them now."""
        ...


class Box(NamedTuple):
    """A box; its attitude is that after a turn by `pitch` about its own y and `yaw` about z.

    Attributes:
        centre: (3,) [m]; half: (3,) half its sizes [m].
        yaw, pitch: [rad]; a positive pitch lowers the end of greater x.
    """

    centre: tuple[float, float, float]
    half: tuple[float, float, float]
    yaw: float = 0.0
    pitch: float = 0.0


class Patch(NamedTuple):
    """A rectangle of other ground: its corners (2,) [m].

    Attributes:
        friction: sliding friction [-]; stiffness: of a foot's contact [N/m]; None: as elsewhere.
    """

    least: tuple[float, float]
    most: tuple[float, float]
    friction: float | None = None
    stiffness: float | None = None


class Grid(NamedTuple):
    """Heights (ny, nx) [m] above the floor at `origin` + spacing * (column, row)."""

    heights: Array
    origin: tuple[float, float]
    spacing: float


def make_ground(
    boxes: tuple[Box, ...] = (), grid: Grid | None = None, patches: tuple[Patch, ...] = (),
    friction: float = FLOOR_FRICTION,
) -> Ground:  # fmt: skip
    """Ground of these parts.

    Raises:
        ValueError: numbers that are not finite, sizes that are not positive, or heights below 0.
    """
    heights = np.zeros((0, 0)) if grid is None else np.ascontiguousarray(grid.heights, float)
    if grid is not None:
        _check_grid(heights, grid.spacing)
    half = np.array([box.half for box in boxes], float).reshape(-1, 3)
    centre = np.array([box.centre for box in boxes], float).reshape(-1, 3)
    if not (np.isfinite(centre).all() and np.isfinite(half).all() and (half > 0.0).all()):
        raise ValueError("boxes: centres must be finite and sizes positive")
    corners = np.array([(*p.least, *p.most) for p in patches], float).reshape(-1, 4)
    if not (np.isfinite(corners).all() and (corners[:, :2] < corners[:, 2:]).all()):
        raise ValueError("patches: give the least corner first, then the most")
    ground = Ground(
        0.0,
        centre, np.linalg.norm(half, axis=1), half,
        np.array([_attitude(box.yaw, box.pitch) for box in boxes]).reshape(-1, 3, 3),
        heights,
        np.array(grid.origin if grid else (0.0, 0.0), float),
        float(grid.spacing) if grid else 1.0,
        corners,
        np.array([friction if p.friction is None else p.friction for p in patches], float),
        np.array([np.nan if p.stiffness is None else p.stiffness for p in patches], float),
        float(friction),
        0.0,
    )  # fmt: skip
    floor = 0.0 - height_at(ground, 0.0, 0.0)
    return ground._replace(floor=floor, centre=centre + [0.0, 0.0, floor])


def unknown_ground() -> Ground:
    """Ground of unknown height: a floor at NaN."""
    return make_ground()._replace(floor=np.nan)


def _check_grid(heights: Array, spacing: float) -> None:
    if heights.ndim != 2 or min(heights.shape) < 2:
        raise ValueError(f"heights have shape {heights.shape}; give two rows and columns or more")
    if not np.isfinite(heights).all():
        raise ValueError("heights have holes: NaN or infinity")
    if (heights < 0.0).any():
        raise ValueError(f"heights go down to {heights.min():g} m; give 0 or more, above the floor")
    if not spacing > 0.0:
        raise ValueError(f"spacing is {spacing:g} m; give more than 0")


def _attitude(yaw: float, pitch: float) -> Array:
    c, s, cp, sp = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    about_z = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return about_z @ np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])


@njit(cache=True)
def height_at(ground: Ground, x: float, y: float) -> float:
    """Height of the ground at a place [m]."""
    return surface_at(ground, x, y)[0]


@njit(cache=True)
def look_below(ground: Ground, feet: Array, heights: Array) -> None:
    """Write the ground's height below each of the feet (4, 3) to `heights` (4) [m]."""
    for i in range(4):
        heights[i] = height_at(ground, feet[i, 0], feet[i, 1])


@njit(cache=True)
def surface_at(ground: Ground, x: float, y: float) -> tuple[float, float, float, float]:
    """Height of the ground at a place [m], and its unit normal (x, y, z)."""
    top, nx, ny, nz = _grid_surface(ground, x, y)
    for b in range(len(ground.centre)):
        dx, dy = x - ground.centre[b, 0], y - ground.centre[b, 1]
        if dx * dx + dy * dy > ground.reach[b] * ground.reach[b]:
            continue
        z, face = _box_top(ground.half[b], ground.rotation[b], dx, dy)
        z += ground.centre[b, 2]
        if z > top:
            axis, sign = abs(face) - 1, 1.0 if face > 0 else -1.0
            top, (nx, ny, nz) = z, sign * ground.rotation[b, :, axis]
    return top, nx, ny, nz


@njit(cache=True)
def _box_top(half: Array, rotation: Array, dx: float, dy: float) -> tuple[float, int]:
    """Height over a box's centre of the point where a vertical line leaves it [m], and its face.

    The line is (dx, dy) from the centre. A face is 1 to 3, an axis, with its sign. -inf and 0 where
    the line misses the box. In the box's axes the line is o + z d.
    """
    low, high, face = -np.inf, np.inf, 0
    for i in range(3):
        o = rotation[0, i] * dx + rotation[1, i] * dy
        d = rotation[2, i]
        if abs(d) < 1e-12:
            if abs(o) > half[i]:
                return -np.inf, 0
            continue
        out, into = (half[i] - o) / d, (-half[i] - o) / d
        sign = 1
        if d < 0.0:
            out, into, sign = into, out, -1
        if out < high:
            high, face = out, sign * (i + 1)
        low = max(low, into)
    return (high, face) if low <= high else (-np.inf, 0)


@njit(cache=True)
def _grid_surface(ground: Ground, x: float, y: float) -> tuple[float, float, float, float]:
    """Height and normal of grid and floor. A cell is two triangles, as in MuJoCo's height field.

    They meet along the diagonal from the cell's (least x, least y) to its (most x, most y).
    """
    rows, columns = ground.grid.shape
    u = (x - ground.grid_origin[0]) / ground.grid_spacing
    v = (y - ground.grid_origin[1]) / ground.grid_spacing
    if rows == 0 or not (0.0 <= u <= columns - 1.0 and 0.0 <= v <= rows - 1.0):
        return ground.floor, 0.0, 0.0, 1.0
    i, j = min(int(v), rows - 2), min(int(u), columns - 2)
    s, t = u - j, v - i
    g = ground.grid
    low, high = g[i, j], g[i + 1, j + 1]
    if s >= t:
        by_x, by_y = g[i, j + 1] - low, high - g[i, j + 1]
    else:
        by_x, by_y = high - g[i + 1, j], g[i + 1, j] - low
    z = low + s * by_x + t * by_y
    if z <= 0.0:
        return ground.floor, 0.0, 0.0, 1.0
    a, b = by_x / ground.grid_spacing, by_y / ground.grid_spacing
    size = np.sqrt(1.0 + a * a + b * b)
    return ground.floor + z, -a / size, -b / size, 1.0 / size


@njit(cache=True)
def nearest_surface(
    ground: Ground, x: float, y: float, z: float
) -> tuple[float, float, float, float]:
    """Distance of a point from the ground [m], negative inside, and the unit normal there.

    Of a box it is the distance from its nearest point, edges and corners included; of the grid that
    from the plane of the triangle below.
    """
    top, nx, ny, nz = _grid_surface(ground, x, y)
    distance = (z - top) * nz
    p = (x, y, z)
    for b in range(len(ground.centre)):
        away = minus(p, triple(ground.centre[b]))
        if dot(away, away) > (ground.reach[b] + distance) ** 2:
            continue
        near, gx, gy, gz = _box_distance(ground.half[b], ground.rotation[b], away)
        if near < distance:
            distance, nx, ny, nz = near, gx, gy, gz
    return distance, nx, ny, nz


@njit(cache=True)
def _box_distance(half: Array, rotation: Array, away: Vector) -> tuple[float, float, float, float]:
    """Distance of a point from a box [m], negative inside, and its gradient, the normal.

    The point is `away` from the box's centre.
    """
    local, beyond = apply_transposed(rotation, away), np.zeros(3)
    square, deepest, face = 0.0, -np.inf, 0
    for i in range(3):
        over = abs(local[i]) - half[i]
        if over > 0.0:
            beyond[i] = over if local[i] > 0.0 else -over
            square += over * over
        if over > deepest:
            deepest, face = over, i
    if square > 0.0:
        distance = np.sqrt(square)
        for i in range(3):
            beyond[i] /= distance
    else:
        distance = deepest
        beyond[face] = 1.0 if local[face] > 0.0 else -1.0
    normal = rotation @ beyond
    return distance, normal[0], normal[1], normal[2]


@njit(cache=True, error_model="numpy")
def write_surface_frame(nx: float, ny: float, nz: float, frame: Array) -> None:
    """Write the least rotation (3, 3) from the vertical to a unit normal, nz > -1.

    Its columns are two tangents and the normal; on level ground it is the identity, exactly.
    """
    frame[0] = 1.0 - nx * nx / (1.0 + nz), -nx * ny / (1.0 + nz), nx
    frame[1] = -nx * ny / (1.0 + nz), 1.0 - ny * ny / (1.0 + nz), ny
    frame[2] = -nx, -ny, nz


def plate_at(ground: Ground, x: float, y: float) -> tuple[float, Array]:
    """Height of the ground at a place [m], and the axes (3, 3) of a plate that lies there."""
    z, nx, ny, nz = surface_at(ground, x, y)
    axes = np.zeros((3, 3))
    write_surface_frame(nx, ny, nz, axes)
    return z, axes


@njit(cache=True)
def patch_at(ground: Ground, x: float, y: float) -> tuple[float, float]:
    """Sliding friction of foot and ground at a place [-], and a foot contact's stiffness [N/m].

    The stiffness is NaN where no patch changes it.
    """
    for p in range(len(ground.patch) - 1, -1, -1):
        least_x, least_y, most_x, most_y = ground.patch[p]
        if least_x <= x <= most_x and least_y <= y <= most_y:
            return ground.patch_friction[p], ground.patch_stiffness[p]
    return ground.friction, np.nan
