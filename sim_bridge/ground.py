"""The ground that a description of terrain stands for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.terrain import (
    FLOOR_FRICTION,
    Box,
    Grid,
    Ground,
    Patch,
    height_at,
    make_ground,
    surface_at,
)
from sim_bridge.terrain_options import (
    FAR,
    MOST_HEIGHTS,
    WAVE_CELLS,
    Block,
    Boxes,
    Heightfield,
    Slope,
    Stairs,
    SurfacePatch,
    Terrain,
    TerrainPart,
    Waves,
)

Array = NDArray[np.float64]

DEPTH = 0.5  # of solids below the floor: whatever enters one is nearest to its top [m]
STEEPEST = 0.25  # that neighbours of a height field may differ by: the robot's legs are as long [m]
START = (0.3, 0.2)  # half the length and width of the plane on which a robot starts [m]
LEAST_EDGE = 0.01  # that counts there [m]


def ground_of(terrain: Terrain, friction: float = FLOOR_FRICTION, seed: int = 0) -> Ground:
    """The ground that a description stands for; z = 0 is where the robot starts.

    Args:
        terrain: the description.
        friction: of it, but for patches.
        seed: for what is random and has no seed of its own.

    Raises:
        ValueError: parts that do not go together, a bad height field, or ground inside the robot at
            its start; one line.
    """
    parts = () if terrain == "flat" else terrain
    boxes = [box for part in parts for box in _boxes(part, seed)]
    grids = [part for part in parts if isinstance(part, Waves | Heightfield)]
    if len(grids) > 1:
        raise ValueError("one part of waves or heightfield at most")
    patches = tuple(_patch(part) for part in parts if isinstance(part, SurfacePatch))
    ground = make_ground(tuple(boxes), _grid(grids[0]) if grids else None, patches, friction)
    _check_start(ground)
    return ground


def _boxes(part: TerrainPart, seed: int) -> list[Box]:
    """The solids of a part; none of heights and patches."""
    match part:
        case Slope():
            return _slope_boxes(part)
        case Stairs():
            return _stairs_boxes(part)
        case Boxes():
            return _field_boxes(part, seed)
        case Block():
            return _block_boxes(part)
    return []


def _grid(part: Waves | Heightfield) -> Grid:
    return _wave_grid(part) if isinstance(part, Waves) else _file_grid(part)


def _check_start(ground: Ground) -> None:
    """Raise ValueError where the ground is no plane below a robot at the origin."""
    _, *normal = surface_at(ground, 0.0, 0.0)
    for x in np.linspace(-START[0], START[0], 11):
        for y in np.linspace(-START[1], START[1], 9):
            level = -(normal[0] * x + normal[1] * y) / normal[2]
            above = height_at(ground, x, y) - level
            if abs(above) > LEAST_EDGE:
                where = f"at x {x:.2g} m, y {y:.2g} m"
                raise ValueError(
                    f"it is {abs(above):.2g} m {'above' if above > 0.0 else 'below'} the robot's "
                    f"start {where}; leave {START[0]:g} m along x and {START[1]:g} m to the sides"
                )


def _slope_boxes(part: Slope) -> list[Box]:
    """Its solids."""
    if part.angle < 0.0:
        return _slope_boxes(_reversed(part, part.length, angle=-part.angle))
    if part.angle == 0.0:
        return []
    # The face begins below the floor, so that no edge stands where it leaves it.
    before = min(1.0, DEPTH / np.tan(part.angle))
    face = (part.length + before) / np.cos(part.angle)
    middle, deep = 0.5 * (part.length - before), 0.5 * DEPTH
    centre = (
        middle + deep * np.sin(part.angle),
        middle * np.tan(part.angle) - deep * np.cos(part.angle),
    )
    half = (0.5 * face, 0.5 * part.width, deep)
    top = part.length * np.tan(part.angle)
    return [_placed(part, *centre, half, -part.angle), _platform(part, part.length, top)]


def _stairs_boxes(part: Stairs) -> list[Box]:
    """Its solids: one upon the other, without seams on which a foot would touch two."""
    if part.rise < 0.0:
        return _stairs_boxes(_reversed(part, (part.count - 1) * part.run, rise=-part.rise))
    if part.rise == 0.0:
        return []
    return [_platform(part, i * part.run, (i + 1) * part.rise) for i in range(part.count)]


def _field_boxes(part: Boxes, seed: int) -> list[Box]:
    """Its solids; `seed` counts where it has none of its own."""
    along, across = part.counts()
    draw = np.random.default_rng(seed if part.seed is None else part.seed)
    heights = draw.uniform(*part.heights, (along, across))
    found = []
    for (i, j), height in np.ndenumerate(heights):
        half = (0.5 * part.size[0], 0.5 * part.size[1], 0.5 * (height + DEPTH))
        side = (j - 0.5 * (across - 1)) * part.size[1]
        x = (i + 0.5) * part.size[0]
        found.append(_placed(part, x, 0.5 * (height - DEPTH), half, across=side))
    return found


def _block_boxes(part: Block) -> list[Box]:
    """Its solid."""
    half = (0.5 * part.length, 0.5 * part.width, 0.5 * (part.height + DEPTH))
    return [_placed(part, 0.5 * part.length, 0.5 * (part.height - DEPTH), half)]


def _wave_grid(part: Waves) -> Grid:
    """Its heights; they begin and end in a trough."""
    spacing = part.wavelength / WAVE_CELLS
    rows, columns = part.counts()
    x = spacing * np.arange(columns)
    heights = part.amplitude * (1.0 - np.cos(2.0 * np.pi * x / part.wavelength))
    low = (part.at[0], part.at[1] - 0.5 * (rows - 1) * spacing)
    return Grid(np.tile(heights, (rows, 1)), low, spacing)


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused
def _file_grid(part: Heightfield) -> Grid:
    """Its heights.

    Raises:
        ValueError: no such file, or its heights are none that the robot can stand on.
    """
    heights = part.height * _read_heights(Path(part.file))
    if heights.ndim != 2 or min(heights.shape) < 2:
        raise ValueError(f"{part.file} has the shape {heights.shape}; give rows and columns")
    if not np.isfinite(heights).all():
        raise ValueError(f"{part.file} has holes: {int((~np.isfinite(heights)).sum())} of NaN")
    steepest = max(float(np.abs(np.diff(heights, axis=i)).max()) for i in (0, 1))
    if steepest > STEEPEST:
        raise ValueError(
            f"{part.file} has neighbours that differ by {steepest:.2g} m; the robot's legs "
            f"allow {STEEPEST:g} m"
        )
    return Grid(heights - heights.min(), part.at, part.spacing)


def _patch(part: SurfacePatch) -> Patch:
    """Its rectangle."""
    (x, y), half = part.at, 0.5 * part.width
    return Patch((x, y - half), (x + part.length, y + half), part.friction, part.stiffness)


def _placed(
    part: Any, along: float, z: float, half: tuple[float, float, float], pitch: float = 0.0,
    across: float = 0.0,
) -> Box:  # fmt: skip
    """A box with its centre `along` a part's heading and `across` it, to the left [m]."""
    c, s = np.cos(part.heading), np.sin(part.heading)
    x, y = part.at[0] + c * along - s * across, part.at[1] + s * along + c * across
    return Box((float(x), float(y), float(z)), half, part.heading, pitch)


def _platform(part: Slope | Stairs, begin: float, top: float) -> Box:
    """All that lies behind `begin` along the heading, up to `top` [m]."""
    half = (0.5 * FAR, 0.5 * part.width, 0.5 * (top + DEPTH))
    return _placed(part, begin + 0.5 * FAR, 0.5 * (top - DEPTH), half)


def _reversed(part: Any, length: float, **rising: float) -> Any:
    """A part that goes down as the one that rises from its other end towards this one."""
    fields = {name: getattr(part, name) for name in part.__struct_fields__} | rising
    c, s = np.cos(part.heading), np.sin(part.heading)
    fields["at"] = (part.at[0] + c * length, part.at[1] + s * length)
    fields["heading"] = part.heading + np.pi
    return type(part)(**fields)


def _read_heights(path: Path) -> Array:
    """Heights of an NPY, grey values from 0 to 1 of a PNG. Raises ValueError."""
    try:
        if path.suffix.lower() == ".npy":
            heights = np.load(path, allow_pickle=False)
            if getattr(heights, "dtype", np.dtype(object)).kind not in "iuf":
                raise ValueError("give one array of floats or integers")
            return heights.astype(np.float64)
        if path.suffix.lower() != ".png":
            raise ValueError(f"file is {str(path)!r}; give a .npy or a .png")
        from PIL import Image  # few grounds have a picture

        with Image.open(path, formats=("PNG",)) as picture:  # all others take a second to load
            if (count := picture.width * picture.height) > MOST_HEIGHTS:
                raise ValueError(f"it has {count} points; most are {MOST_HEIGHTS}")
            deepest = 65535.0 if picture.mode.startswith("I") else 255.0
            grey = picture if picture.mode.startswith("I") else picture.convert("L")
            return np.asarray(grey, dtype=np.float64)[::-1] / deepest  # its top is the greatest y
    except Exception as error:  # of a damaged file NumPy and Pillow raise many kinds
        raise ValueError(f"cannot read {path}: {error}".split("\n")[0]) from error
