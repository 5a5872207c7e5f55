"""The process that draws a robot off-screen: ``python -m saltus.film.painter DIR``, see `drawing`.

A picture shows the robot, the push that acts on it and the path that it plans. Pictures become
strips or films.
"""

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from PIL import Image, ImageDraw

from robots.legs import foot_positions_in_base
from robots.mujoco_model import load_mujoco
from robots.robot import Robot, load_robot
from robots.rotations import rotation_from_quaternion
from robots.state import mujoco_from_pinocchio
from robots.terrain import Ground, height_at, plate_at
from runtime.checked import Array
from saltus.film.drawing import (
    ARROW_COLOUR,
    FORCE_COLOUR,
    JOBS,
    NO_ROOM,
    PLAN_COLOUR,
    Job,
    Picture,
    View,
)
from sim_bridge.ground import ground_of

CAPTION_AT = (12, 10)  # [pixels]
CAPTION_COLOUR = (35, 45, 60)
CAPTION_SHARE = 0.05  # of the height of a picture: height of the text
SMALL = 800  # width of a picture in which labels are smaller [pixels]
# Pixels of the shadow map, samples of a pixel, facets of round shapes.
QUICK = {"shadowsize": 2048, "offsamples": 4, "numslices": 16, "numstacks": 8}
REFERENCE_COLOUR = (0.85, 0.25, 0.15, 1.0)  # of the line that the reference walks along
REFERENCE_WIDTH = 0.012  # half of it [m]
REFERENCE_REACH = (-2.0, 8.0)  # from the robot, along x [m]
REFERENCE_STEP = 0.02  # [m]
PATCH_COLOUR = (0.59, 0.78, 0.9, 1.0)
LINE_OF_SIGHT = 0.1  # least height above the ground [m]
PLATE = 0.001  # half the thickness of what lies on the ground [m]
PLAN_RADIUS = 0.006  # [m]
PLAN_EVERY = 5  # knots from one point of the drawn path to the next
FOOTHOLD_RADIUS = 0.025  # [m]
FORCE_RADIUS, METRES_PER_NEWTON, LEAST_FORCE = 0.012, 0.004, 3.0  # [m], [m/N], [N]
ARROW_RADIUS = 0.016  # [m]
LABEL_HEIGHT = 0.06  # of the label above the arrow's tail [m]
ARROW_END = 0.13  # from the trunk's centre to the arrow's point [m]: beside the trunk
STRIP_QUALITY = 78  # of WebP, 0 to 100
H264 = {"crf": "21", "preset": "medium"}
GIF_COLOURS = 96
SHADES = (0.5, 0.7, 0.85, 1.0)  # of what stands out, in the palette of a GIF


class Painter:
    """Draws a robot in given configurations, off-screen; `close` gives the graphics back."""

    def __init__(self, robot: Robot, size: tuple[int, int], view: View, ground: Ground) -> None:
        """Pictures of ``size``, width and height [pixels], from ``view``, on ``ground``.

        Raises:
            Exception: MuJoCo's or the driver's own, where there are no graphics.
        """
        self._view, self._legs = view, robot.legs
        self._ground = ground
        self._model = load_mujoco(robot, ground=ground, meshes=True)
        # MuJoCo's clipping planes and shadows are in units of it; a wide ground shall not count.
        self._model.stat.extent = load_mujoco(robot).stat.extent
        self._model.vis.global_.offwidth, self._model.vis.global_.offheight = size
        for name, value in QUICK.items() if view.quick else ():
            setattr(self._model.vis.quality, name, value)
        self._data = mujoco.MjData(self._model)
        fonts = mujoco.mjtFontScale
        font = fonts.mjFONTSCALE_100 if size[0] < SMALL else fonts.mjFONTSCALE_150
        self._renderer = mujoco.Renderer(
            self._model, width=size[0], height=size[1], font_scale=font
        )
        self._camera = mujoco.MjvCamera()
        for name in ("distance", "azimuth", "elevation"):
            setattr(self._camera, name, getattr(view, name))

    def draw(self, shown: Picture) -> Image.Image:
        """The robot in one instant."""
        q = shown.q
        view = self._view
        self._data.qpos[:] = mujoco_from_pinocchio(q, np.zeros(18))[0]
        mujoco.mj_forward(self._model, self._data)
        beyond = q[1] - np.clip(q[1], -view.follow, view.follow)
        self._camera.lookat[:] = (q[0], beyond, height_at(self._ground, q[0], q[1]) + 0.2)
        self._camera.elevation = self._elevation(self._camera.lookat)
        self._renderer.update_scene(self._data, self._camera)
        self._draw_patches()
        if view.reference_path:
            self._draw_reference(q[0])
        self._draw_plan(shown.plan_path)
        self._draw_footholds(shown.footholds)
        self._draw_forces(q, shown.force)
        self._draw_arrow(q[:3], shown.arrow, shown.arrow_label)
        picture = Image.fromarray(self._renderer.render())
        ImageDraw.Draw(picture).multiline_text(
            CAPTION_AT, shown.caption, CAPTION_COLOUR, font_size=CAPTION_SHARE * picture.height
        )
        return picture

    def close(self) -> None:
        """Give the graphics back."""
        self._renderer.close()

    def _elevation(self, target: Array) -> float:
        """The view's elevation, or a steeper one where the ground is in front of the target [deg].

        Args:
            target: (3,) [m].
        """
        view, angle = self._view, np.deg2rad(self._view.azimuth)
        steepest = -view.elevation
        for share in (0.25, 0.5, 0.75, 1.0):
            reach = share * view.distance * np.cos(np.deg2rad(view.elevation))
            x, y = target[:2] - reach * np.array((np.cos(angle), np.sin(angle)))
            rise = height_at(self._ground, x, y) + LINE_OF_SIGHT - target[2]
            steepest = max(steepest, float(np.rad2deg(np.arctan2(rise, reach))))
        return -steepest

    def _draw_reference(self, x: float) -> None:
        """The line y = 0, on the ground."""
        first, last = REFERENCE_REACH
        for at in np.arange(round((x + first) / REFERENCE_STEP), (x + last) / REFERENCE_STEP):
            size = (0.5 * REFERENCE_STEP, REFERENCE_WIDTH)
            self._lay(at * REFERENCE_STEP, 0.0, size, PLATE, REFERENCE_COLOUR)

    def _draw_patches(self) -> None:
        for x, y, x_most, y_most in self._ground.patch:
            size = (0.5 * (x_most - x), 0.5 * (y_most - y))
            self._lay(0.5 * (x + x_most), 0.5 * (y + y_most), size, 0.0, PATCH_COLOUR)

    def _lay(
        self, x: float, y: float, size: tuple[float, float], above: float,
        colour: tuple[float, ...],
    ) -> None:  # fmt: skip
        """A thin plate along the ground at a place, half its size given [m]."""
        z, axes = plate_at(self._ground, x, y)
        geom = self._add(
            mujoco.mjtGeom.mjGEOM_BOX, np.array((*size, PLATE)), np.array((x, y, z + above)), colour
        )
        geom.mat[:] = axes

    def _draw_plan(self, path: Array) -> None:
        """The base's planned path (K, 3), on the ground: at its height the trunk would hide it."""
        points = path[::PLAN_EVERY].copy()
        for point in points:
            point[2] = height_at(self._ground, point[0], point[1]) + PLAN_RADIUS
        for start, end in zip(points, points[1:], strict=False):
            self._connect(mujoco.mjtGeom.mjGEOM_CAPSULE, PLAN_RADIUS, start, end, PLAN_COLOUR)

    def _draw_footholds(self, places: Array) -> None:
        """Discs on the ground."""
        size = np.array((FOOTHOLD_RADIUS, PLATE, 0.0))
        for x, y, _ in places:
            place = np.array((x, y, height_at(self._ground, x, y) + PLATE))
            self._add(mujoco.mjtGeom.mjGEOM_CYLINDER, size, place, PLAN_COLOUR)

    def _draw_forces(self, q: Array, force: Array) -> None:
        """An arrow from each foot that the ground pushes."""
        rotation = rotation_from_quaternion(q[3:7])
        feet = q[:3] + foot_positions_in_base(self._legs, q[7:]) @ rotation.T
        for foot, each in zip(feet, force, strict=True):
            if np.linalg.norm(each) > LEAST_FORCE:
                end, kind = foot + METRES_PER_NEWTON * each, mujoco.mjtGeom.mjGEOM_ARROW
                self._connect(kind, FORCE_RADIUS, foot, end, FORCE_COLOUR)

    def _draw_arrow(self, base: Array, arrow: Array, label: str) -> None:
        """An arrow (3) [m] that ends at the base; none where it has no length."""
        length = float(np.linalg.norm(arrow))
        if length == 0.0:
            return
        end = base - ARROW_END / length * arrow
        start = end - arrow
        self._connect(mujoco.mjtGeom.mjGEOM_ARROW, ARROW_RADIUS, start, end, ARROW_COLOUR)
        above = start + [0.0, 0.0, LABEL_HEIGHT]
        self._add(mujoco.mjtGeom.mjGEOM_LABEL, np.zeros(3), above, ARROW_COLOUR).label = label

    def _connect(
        self, kind: mujoco.mjtGeom, radius: float, start: Array, end: Array,
        colour: tuple[float, ...],
    ) -> None:  # fmt: skip
        geom = self._add(kind, np.zeros(3), np.zeros(3), colour)
        mujoco.mjv_connector(geom, kind, radius, start, end)

    def _add(
        self, kind: mujoco.mjtGeom, size: Array, place: Array, colour: tuple[float, ...]
    ) -> mujoco.MjvGeom:
        scene = self._renderer.scene
        geom = scene.geoms[scene.ngeom]
        mujoco.mjv_initGeom(
            geom, kind, size, place, np.eye(3).ravel(), np.array(colour, np.float32)
        )
        scene.ngeom += 1
        return geom


def _strip(path: Path, pictures: Iterable[Image.Image], rate: float) -> None:
    """Write the pictures side by side."""
    row = list(pictures)
    width, height = row[0].size
    strip = Image.new("RGB", (width * len(row), height))
    for column, picture in enumerate(row):
        strip.paste(picture, (column * width, 0))
    strip.save(path, quality=STRIP_QUALITY)


def _gif(path: Path, pictures: Iterable[Image.Image], rate: float) -> None:
    """Write a GIF that repeats.

    All pictures share one palette, and none is dithered: else they would flicker.
    """
    palette, plain = None, []
    for picture in pictures:
        palette = palette or _palette(picture)
        plain.append(picture.quantize(palette=palette, dither=Image.Dither.NONE))
    # GIF counts hundredths of a second: what rounding takes from one picture the next one gets.
    ends = [round(100 * n / rate) for n in range(len(plain) + 1)]
    durations = [10 * (end - begin) for begin, end in zip(ends, ends[1:], strict=False)]
    plain[0].save(path, "GIF", save_all=True, append_images=plain[1:], loop=0, duration=durations)


def _mp4(path: Path, pictures: Iterable[Image.Image], rate: float) -> None:
    """Write H.264 in MP4; the package ``av`` brings the encoder."""
    import av  # an extra

    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        fraction = Fraction(rate).limit_denominator(1000)
        stream: Any = container.add_stream("libx264", rate=fraction, options=H264)
        stream.pix_fmt = "yuv420p"  # the only one that every browser plays
        for picture in pictures:
            if not stream.codec_context.is_open:
                stream.width, stream.height = picture.size
            container.mux(stream.encode(av.VideoFrame.from_image(picture)))
        container.mux(stream.encode(None))


def _palette(picture: Image.Image) -> Image.Image:
    """The colours of a picture, and those of what is drawn into later ones."""
    width, height = picture.size
    bright = [colour[:3] for colour in (ARROW_COLOUR, PLAN_COLOUR, FORCE_COLOUR)]
    swatches = [tuple(round(255 * shade * part) for part in colour)
                for colour in bright for shade in SHADES]  # fmt: skip
    sample = Image.new("RGB", (width, height + height // 4))
    sample.paste(picture, (0, 0))
    for column, swatch in enumerate(swatches):
        left = column * width // len(swatches)
        sample.paste(swatch, (left, height, width, sample.height))
    return sample.quantize(GIF_COLOURS, Image.Quantize.MEDIANCUT)


WRITERS: dict[str, Callable[[Path, Iterable[Image.Image], float], None]] = {
    "png": _strip, "webp": _strip, "gif": _gif, "mp4": _mp4,
}  # fmt: skip


def main(folder: Path) -> int:
    """Do the jobs of a folder, with a line on standard output for each picture."""
    try:
        for job in pickle.loads((folder / JOBS).read_bytes()):
            file = folder / f"{job.name}.{job.ending}"
            WRITERS[job.ending](file, _pictures(job), job.frames_per_second)
    except OSError as error:
        print(error.strerror or error, file=sys.stderr)
        return NO_ROOM
    return 0


def _pictures(job: Job) -> Iterator[Image.Image]:
    for row in zip(*map(_drawn, (job, *job.beside)), strict=True):
        yield Image.fromarray(np.hstack([np.asarray(each) for each in row]))
        print(flush=True)


def _drawn(job: Job) -> Iterator[Image.Image]:
    ground = ground_of(job.terrain, seed=job.seed)
    painter = Painter(load_robot(job.robot), job.size, job.view, ground)
    yield from map(painter.draw, job.pictures)
    painter.close()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
