"""The ground as launch files and suites describe it: parts that are placed and combined.

A part begins at `at` and goes on along its `heading`. A part that rises stays up behind its end, as
a platform does; one that goes down has the robot start on the platform. Where parts overlap the
highest counts, and where patches do, the last.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

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
from runtime.options import Options, Range, positive

Array = NDArray[np.float64]

FAR = 30.0  # to which platforms and patches reach [m]
WIDTH = 3.0  # of slopes and stairs, unless said otherwise [m]
DEPTH = 0.5  # of solids below the floor: whatever enters one is nearest to its top [m]
WAVE_CELLS = 24  # of the grid in a wavelength
STEEPEST = 0.25  # that neighbours of a height field may differ by: the robot's legs are as long [m]
MOST_BOXES = 2000
START = (0.3, 0.2)  # half the length and width of the plane on which a robot starts [m]
LEAST_EDGE = 0.01  # that counts there [m]

Place = Annotated[tuple[float, float], Range("m", -1000.0, 1000.0)]
Length = Annotated[float, positive("m", 1000.0)]
Angle = Annotated[float, Range("rad", -7.0, 7.0)]


class Slope(Options, frozen=True, tag_field="kind", tag="slope"):
    """A slope, and the platform above it.

    Attributes:
        angle: above the level; below 0 it goes down from the platform that the robot starts on.
        length: from end to end, seen from above.
        at: middle of the end that comes first along the heading.
        heading: in which it rises, or goes down, from x.
        width: of slope and platform.
    """

    angle: Annotated[float, Range("rad", -0.8, 0.8)]
    length: Length
    at: Place = (0.0, 0.0)
    heading: Angle = 0.0
    width: Length = WIDTH

    def boxes(self) -> list[Box]:
        """Its solids."""
        if self.angle < 0.0:
            return _reversed(self, self.length, angle=-self.angle).boxes()
        if self.angle == 0.0:
            return []
        # The face begins below the floor, so that no edge stands where it leaves it.
        before = min(1.0, DEPTH / np.tan(self.angle))
        face = (self.length + before) / np.cos(self.angle)
        middle, deep = 0.5 * (self.length - before), 0.5 * DEPTH
        centre = (
            middle + deep * np.sin(self.angle),
            middle * np.tan(self.angle) - deep * np.cos(self.angle),
        )
        half = (0.5 * face, 0.5 * self.width, deep)
        top = self.length * np.tan(self.angle)
        return [_placed(self, *centre, half, -self.angle), _platform(self, self.length, top)]


class Stairs(Options, frozen=True, tag_field="kind", tag="stairs"):
    """Stairs, and the platform above them.

    Attributes:
        rise: of a step; below 0 they go down from the platform that the robot starts on.
        run: of a step along the heading.
        count: of steps.
        at: middle of the first edge.
        heading: in which they rise, or go down, from x.
        width: of stairs and platform.
    """

    rise: Annotated[float, Range("m", -1.0, 1.0)]
    run: Length = 0.3
    count: Annotated[int, Range("-", 1, 100)] = 1
    at: Place = (0.0, 0.0)
    heading: Angle = 0.0
    width: Length = WIDTH

    def boxes(self) -> list[Box]:
        """Its solids: one upon the other, without seams on which a foot would touch two."""
        if self.rise < 0.0:
            return _reversed(self, (self.count - 1) * self.run, rise=-self.rise).boxes()
        if self.rise == 0.0:
            return []
        return [_platform(self, i * self.run, (i + 1) * self.rise) for i in range(self.count)]


class Boxes(Options, frozen=True, tag_field="kind", tag="boxes"):
    """A field of boxes side by side, with random heights.

    Attributes:
        seed: draws the heights; None takes the seed of the simulation.
        size: of a box along and across.
        heights: least and most.
        length: of the field along its heading.
        width: of the field across it.
        at: middle of the side that comes first along the heading.
        heading: of the field, from x.
    """

    seed: Annotated[int, Range("-", 0, 2**32 - 1)] | None = None
    size: Annotated[tuple[float, float], positive("m", 10.0)] = (0.3, 0.3)
    heights: Annotated[tuple[float, float], Range("m", 0.0, 1.0)] = (0.0, 0.06)
    length: Length = 2.0
    width: Length = 1.5
    at: Place = (0.5, 0.0)
    heading: Angle = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError for numbers out of range or out of order, and for too many boxes."""
        Options.__post_init__(self)
        if not self.heights[0] <= self.heights[1]:
            raise ValueError(f"heights is {list(self.heights)}; give the least first")
        if (count := np.prod(self._counts())) > MOST_BOXES:
            raise ValueError(f"size is {list(self.size)}: {count} boxes; most are {MOST_BOXES}")

    def _counts(self) -> tuple[int, int]:
        return (
            max(1, round(self.length / self.size[0])), max(1, round(self.width / self.size[1]))
        )  # fmt: skip

    def boxes(self, seed: int) -> list[Box]:
        """Its solids; `seed` counts where it has none of its own."""
        along, across = self._counts()
        draw = np.random.default_rng(seed if self.seed is None else self.seed)
        heights = draw.uniform(*self.heights, (along, across))
        found = []
        for (i, j), height in np.ndenumerate(heights):
            half = (0.5 * self.size[0], 0.5 * self.size[1], 0.5 * (height + DEPTH))
            side = (j - 0.5 * (across - 1)) * self.size[1]
            x = (i + 0.5) * self.size[0]
            found.append(_placed(self, x, 0.5 * (height - DEPTH), half, across=side))
        return found


class Block(Options, frozen=True, tag_field="kind", tag="box"):
    """One box.

    Attributes:
        height: of its top.
        length: along its heading.
        width: across it.
        at: middle of the side that comes first along the heading.
        heading: from x.
    """

    height: Annotated[float, positive("m", 1.0)]
    length: Length = 0.5
    width: Length = 0.5
    at: Place = (0.5, 0.0)
    heading: Angle = 0.0

    def boxes(self) -> list[Box]:
        """Itself."""
        half = (0.5 * self.length, 0.5 * self.width, 0.5 * (self.height + DEPTH))
        return [_placed(self, 0.5 * self.length, 0.5 * (self.height - DEPTH), half)]


class Waves(Options, frozen=True, tag_field="kind", tag="waves"):
    """Waves along x, from the floor up.

    Attributes:
        amplitude: half the height from trough to crest.
        wavelength: from crest to crest.
        length: of the field along x.
        width: of the field along y.
        at: middle of the side of least x.
    """

    amplitude: Annotated[float, Range("m", 0.0, 0.5)] = 0.03
    wavelength: Annotated[float, Range("m", 0.1, 100.0)] = 0.8
    length: Length = 4.0
    width: Length = 2.0
    at: Place = (0.5, 0.0)

    def grid(self) -> Grid:
        """Its heights; they begin and end in a trough."""
        spacing = self.wavelength / WAVE_CELLS
        columns, rows = int(self.length / spacing) + 1, max(2, int(self.width / spacing) + 1)
        x = spacing * np.arange(columns)
        heights = self.amplitude * (1.0 - np.cos(2.0 * np.pi * x / self.wavelength))
        low = (self.at[0], self.at[1] - 0.5 * (rows - 1) * spacing)
        return Grid(np.tile(heights, (rows, 1)), low, spacing)


class Heightfield(Options, frozen=True, tag_field="kind", tag="heightfield"):
    """Heights from a file.

    Attributes:
        file: NPY of heights, rows along y and columns along x; or a PNG of grey values, as seen
            from above.
        spacing: between neighbours.
        height: of the brightest point of a PNG; 1 leaves the heights of an NPY.
        at: of the first row and column.
    """

    file: str
    spacing: Length = 0.05
    height: Annotated[float, positive("m", 10.0)] = 1.0
    at: Place = (0.0, 0.0)

    def grid(self) -> Grid:
        """Its heights.

        Raises:
            ValueError: no such file, or its heights are none that the robot can stand on.
        """
        heights = self.height * _read_heights(Path(self.file))
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise ValueError(f"{self.file} has the shape {heights.shape}; give rows and columns")
        if not np.isfinite(heights).all():
            raise ValueError(f"{self.file} has holes: {int((~np.isfinite(heights)).sum())} of NaN")
        steepest = max(float(np.abs(np.diff(heights, axis=i)).max()) for i in (0, 1))
        if steepest > STEEPEST:
            raise ValueError(
                f"{self.file} has neighbours that differ by {steepest:.2g} m; the robot's legs "
                f"allow {STEEPEST:g} m"
            )
        return Grid(heights - heights.min(), self.at, self.spacing)


class FrictionPatch(Options, frozen=True, tag_field="kind", tag="patch"):
    """A rectangle of other friction.

    Attributes:
        friction: sliding friction of foot and ground.
        length: along x.
        width: along y.
        at: middle of the side of least x.
    """

    friction: Annotated[float, positive("-", 10.0)]
    length: Length = 1.0
    width: Length = FAR
    at: Place = (0.5, 0.0)

    def patch(self) -> Patch:
        """Itself."""
        (x, y), half = self.at, 0.5 * self.width
        return Patch((x, y - half), (x + self.length, y + half), self.friction)


TerrainPart = Slope | Stairs | Boxes | Block | Waves | Heightfield | FrictionPatch
Terrain = Literal["flat"] | tuple[TerrainPart, ...]


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
    patches = tuple(part.patch() for part in parts if isinstance(part, FrictionPatch))
    ground = make_ground(tuple(boxes), grids[0].grid() if grids else None, patches, friction)
    _check_start(ground)
    return ground


def _boxes(part: TerrainPart, seed: int) -> list[Box]:
    """The solids of a part; none of heights and patches."""
    if isinstance(part, Boxes):
        return part.boxes(seed)
    return part.boxes() if isinstance(part, Slope | Stairs | Block) else []


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
            return np.load(path, allow_pickle=False).astype(np.float64)
        if path.suffix.lower() != ".png":
            raise ValueError(f"file is {str(path)!r}; give a .npy or a .png")
        from PIL import Image  # few grounds have a picture

        with Image.open(path) as picture:
            deepest = 65535.0 if picture.mode.startswith("I") else 255.0
            grey = picture if picture.mode.startswith("I") else picture.convert("L")
            return np.asarray(grey, dtype=np.float64)[::-1] / deepest  # its top is the greatest y
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot read {path}: {error}".split("\n")[0]) from error
