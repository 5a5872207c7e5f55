"""The ground as launch files and suites describe it: parts that are placed and combined.

A part begins at `at` and goes on along its `heading`. A part that rises stays up behind its end, as
a platform does; one that goes down has the robot start on the platform. Where parts overlap the
highest counts, and where patches do, the last.
"""

from __future__ import annotations

from typing import Annotated, Literal

from runtime.options import Options, Range, positive

FAR = 30.0  # to which platforms and patches reach [m]
WIDTH = 3.0  # of slopes and stairs, unless said otherwise [m]
MOST_BOXES = 2000
MOST_HEIGHTS = 2**20  # of a grid: 8 MB
WAVE_CELLS = 24  # of the grid in a wavelength

Place = Annotated[tuple[float, float], Range("m", -1000.0, 1000.0)]
Length = Annotated[float, positive("m", 1000.0)]
Angle = Annotated[float, Range("rad", -7.0, 7.0)]


class Slope(Options, frozen=True, tag_field="kind", tag="slope"):
    """A slope, and the platform above it.

    Attributes:
        angle: angle above the level; below 0 it goes down from the platform of the start.
        length: length, seen from above.
        at: middle of the end that comes first along the heading.
        heading: direction in which it rises or goes down, from x.
        width: width of slope and platform.
    """

    angle: Annotated[float, Range("rad", -0.8, 0.8)]
    length: Length
    at: Place = (0.0, 0.0)
    heading: Angle = 0.0
    width: Length = WIDTH


class Stairs(Options, frozen=True, tag_field="kind", tag="stairs"):
    """Stairs, and the platform above them.

    Attributes:
        rise: height of a step; below 0 they go down from the platform of the start.
        run: depth of a step.
        count: number of steps.
        at: middle of the first edge.
        heading: direction in which they rise or go down, from x.
        width: width of stairs and platform.
    """

    rise: Annotated[float, Range("m", -1.0, 1.0)]
    run: Length = 0.3
    count: Annotated[int, Range("-", 1, 100)] = 1
    at: Place = (0.0, 0.0)
    heading: Angle = 0.0
    width: Length = WIDTH


class Boxes(Options, frozen=True, tag_field="kind", tag="boxes"):
    """A field of boxes side by side, with random heights.

    Attributes:
        seed: draws the heights; null takes the seed of the simulation.
        size: size of a box along and across.
        heights: least and largest height.
        length: length of the field along its heading.
        width: width of the field.
        at: middle of the side that comes first along the heading.
        heading: direction of the field, from x.
    """

    seed: Annotated[int, Range("-", 0, 2**32 - 1)] | None = None
    size: Annotated[tuple[float, float], positive("m", 10.0)] = (0.3, 0.3)
    heights: Annotated[tuple[float, float], Range("m", 0.0, 1.0)] = (0.0, 0.06)
    length: Length = 2.0
    width: Length = 1.5
    at: Place = (0.5, 0.0)
    heading: Angle = 0.0

    def check(self) -> None:
        """Raise ValueError for numbers out of range or out of order, and for too many boxes."""
        if not self.heights[0] <= self.heights[1]:
            raise ValueError(f"heights is {list(self.heights)}; give the least first")
        along, across = self.counts()
        if along * across > MOST_BOXES:
            raise ValueError(
                f"size is {list(self.size)}: {along * across} boxes; most are {MOST_BOXES}"
            )

    def counts(self) -> tuple[int, int]:
        """Number of boxes along the heading and across it."""
        return (
            max(1, round(self.length / self.size[0])), max(1, round(self.width / self.size[1]))
        )  # fmt: skip


class Block(Options, frozen=True, tag_field="kind", tag="box"):
    """One box.

    Attributes:
        height: height of its top.
        length: length along its heading.
        width: width across it.
        at: middle of the side that comes first along the heading.
        heading: direction, from x.
    """

    height: Annotated[float, positive("m", 1.0)]
    length: Length = 0.5
    width: Length = 0.5
    at: Place = (0.5, 0.0)
    heading: Angle = 0.0


class Waves(Options, frozen=True, tag_field="kind", tag="waves"):
    """Waves along x, from the floor up.

    Attributes:
        amplitude: half the height from trough to crest.
        wavelength: distance from crest to crest.
        length: length along x.
        width: width along y.
        at: middle of the side of least x.
    """

    amplitude: Annotated[float, Range("m", 0.0, 0.5)] = 0.03
    wavelength: Annotated[float, Range("m", 0.1, 100.0)] = 0.8
    length: Length = 4.0
    width: Length = 2.0
    at: Place = (0.5, 0.0)

    def check(self) -> None:
        """Raise ValueError for numbers out of range, and for too many heights."""
        rows, columns = self.counts()
        if rows * columns > MOST_HEIGHTS:
            raise ValueError(
                f"wavelength is {self.wavelength:g}: {rows} x {columns} heights in {self.length:g} "
                f"by {self.width:g} m; most are {MOST_HEIGHTS}"
            )

    def counts(self) -> tuple[int, int]:
        """Number of heights along y and along x."""
        spacing = self.wavelength / WAVE_CELLS
        return max(2, int(self.width / spacing) + 1), max(2, int(self.length / spacing) + 1)


class Heightfield(Options, frozen=True, tag_field="kind", tag="heightfield"):
    """Heights from a file.

    Attributes:
        file: NPY of heights, rows along y and columns along x; or a PNG of grey values, as seen
            from above.
        spacing: distance between neighbours.
        height: height of the brightest point of a PNG; factor on those of an NPY.
        at: place of the first row and column.
    """

    file: str
    spacing: Length = 0.05
    height: Annotated[float, positive("m", 10.0)] = 1.0
    at: Place = (0.0, 0.0)


class SurfacePatch(Options, frozen=True, tag_field="kind", tag="patch"):
    """A rectangle of other friction or softness; one of them is given.

    Attributes:
        friction: sliding friction of foot and ground; null leaves the ground's.
        stiffness: force on a foot per depth that it sinks in; null leaves the ground's.
        length: length along x.
        width: width along y.
        at: middle of the side of least x.
    """

    friction: Annotated[float, positive("-", 10.0)] | None = None
    stiffness: Annotated[float, Range("N/m", 2000.0, 50_000.0)] | None = None
    length: Length = 1.0
    width: Length = FAR
    at: Place = (0.5, 0.0)

    def check(self) -> None:
        """Raise ValueError for numbers out of range, and for a patch that changes nothing."""
        if self.friction is None and self.stiffness is None:
            raise ValueError("friction is missing, and so is stiffness; give one of them")


TerrainPart = Slope | Stairs | Boxes | Block | Waves | Heightfield | SurfacePatch
Terrain = Literal["flat"] | tuple[TerrainPart, ...]
