"""Scene and camera of pictures, and the child process that draws them.

A graphics driver may crash, so pictures are drawn by a process of their own (`painter`).
"""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from runtime.checked import Array
from saltus.common.errors import BadRequest
from sim_bridge.terrain_options import Terrain

PATIENCE_S = 120.0  # for one picture
JOBS = "jobs"  # file of the child, which alone reads it
NO_ROOM = 2  # exit status of a child that could not write its files
GRAPHICS_HINT = "; drawing off-screen needs EGL or OSMesa: see `saltus doctor`"
ASIDE = 0.3  # of its distance: how far aside the robot goes before the camera of a film goes along
DISTANCES = (0.3, 20.0)  # of a camera that a person describes [m]
ARROW_COLOUR = (0.95, 0.35, 0.05, 1.0)  # red, green, blue, opacity
PLAN_COLOUR = (0.05, 0.45, 0.85, 1.0)
FORCE_COLOUR = (0.1, 0.6, 0.25, 1.0)


class View(NamedTuple):
    """Place of the camera. It follows the robot forward, so that a push aside is seen.

    Attributes:
        distance: from what it looks at [m].
        azimuth: direction in which it looks [deg]: 0 is forward, from behind the robot.
        elevation: of its direction above the ground [deg].
        follow: it follows the robot sideways as well, beyond this distance [m].
        reference_path: draw the line that the reference walks along.
        quick: coarser shadows and edges, in half the time.
    """

    distance: float = 1.15
    azimuth: float = 155.0
    elevation: float = -16.0
    follow: float = float("inf")
    reference_path: bool = False
    quick: bool = False


def _film_view(azimuth: float, elevation: float, distance: float) -> View:
    return View(distance, azimuth, elevation, follow=ASIDE * distance, quick=True)


CAMERAS = {
    # A little ahead of the robot's right side: from there an arrow to the left has a length too.
    "side": _film_view(115.0, -14.0, 1.3),
    "front": _film_view(180.0, -14.0, 1.3),
    # It goes aside with the robot late, so what a push does to the path is seen.
    "behind": View(1.7, 8.0, -22.0, follow=0.6, reference_path=True, quick=True),
    "top": _film_view(90.0, -89.0, 1.6),
}


class Picture(NamedTuple):
    """The robot in one instant.

    Attributes:
        q: (19,) configuration.
        caption: text in the corner.
        arrow: (3,) of the push that acts on the base, in world [m]; zero where none does.
        arrow_label: text beside it.
        plan_path: (K, 3) positions of the base that the newest plan goes through, in world [m].
        footholds: (M, 3) where that plan sets feet down, in world [m].
        force: (4, 3) on the feet, in world [N].
    """

    q: Array
    caption: str = ""
    arrow: Array = np.zeros(3)
    arrow_label: str = ""
    plan_path: Array = np.zeros((0, 3))
    footholds: Array = np.zeros((0, 3))
    force: Array = np.zeros((4, 3))


class Job(NamedTuple):
    """Pictures that belong together.

    Attributes:
        name: of the files; no two jobs share one.
        pictures: in their order.
        size: width and height of a picture [pixels].
        view: where the camera stands.
        ending: of the file ``NAME.ENDING`` that is made of all pictures, one of
            `saltus.film.painter.WRITERS`.
        frames_per_second: of a film.
        robot: that is drawn.
        terrain: the ground; seed: of what is random in it.
        beside: jobs whose pictures, as many, stand to the right of these.
    """

    name: str
    pictures: Sequence[Picture]
    size: tuple[int, int]
    view: View
    ending: str = "png"
    frames_per_second: float = 25.0
    robot: str = "a1"
    terrain: Terrain = "flat"
    seed: int = 0
    beside: tuple[Job, ...] = ()


def draw(jobs: Sequence[Job], folder: Path, show: Callable[[int], None] | None = None) -> str:
    """Draw jobs into an empty folder; what could be drawn is there, whatever happens to the rest.

    Args:
        jobs: what to draw.
        folder: takes the files; the child's own stand there too.
        show: is called with the number of pictures drawn so far.

    Returns:
        Why not all could be drawn, with what helps; empty when all could.

    Raises:
        OSError: the folder cannot be written.
    """
    (folder / JOBS).write_bytes(pickle.dumps(jobs))
    with (folder / "errors").open("w+") as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", "saltus.film.painter", str(folder)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env=_graphics(),
        )  # fmt: skip
        with child:
            try:
                if not _follow(child, show or (lambda _: None)):
                    return f"no picture came for {PATIENCE_S:g} s{GRAPHICS_HINT}"
                status = child.wait()
            finally:
                child.kill()
        errors.seek(0)
        lines = errors.read().strip().splitlines() or [f"exit status {status}"]
    if status == 0:
        return ""
    return lines[-1] + ("" if status == NO_ROOM else GRAPHICS_HINT)


def draw_file(job: Job, file: Path, show: Callable[[int], None] | None = None) -> str:
    """Draw a job into a file that is whole or as it was.

    Returns:
        Why it could not be drawn; empty when it could.

    Raises:
        OSError: it cannot be written.
    """
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".film-") as beside:
        failure = draw([job], Path(beside), show)
        if not failure:
            (Path(beside) / f"{job.name}.{job.ending}").replace(file)
    return failure


def _graphics() -> dict[str, str]:
    """The environment of the child: without a screen and without `MUJOCO_GL` MuJoCo draws by EGL.

    `disable`, which `saltus launch` sets for its own process, does not count.
    """
    usual = {} if os.environ.get("DISPLAY") else {"MUJOCO_GL": "egl"}
    own = ("MUJOCO_GL", "disable")
    return usual | {name: value for name, value in os.environ.items() if (name, value) != own}


def _follow(child: subprocess.Popen[bytes], show: Callable[[int], None]) -> bool:
    """Count the pictures, a line each, until the child ends; False when it is stuck."""
    assert child.stdout is not None
    pictures, pipe = 0, child.stdout.fileno()
    while select.select([pipe], [], [], PATIENCE_S)[0]:
        lines = os.read(pipe, 4096)
        if not lines:
            return True
        pictures += lines.count(b"\n")
        show(pictures)
    return False


def camera_view(text: str) -> View:
    """The view that a person names or describes: ``side``, or ``130,-20,1.5``.

    Raises:
        BadRequest: it is neither a name nor azimuth [deg], elevation [deg] and distance [m].
    """
    if text in CAMERAS:
        return CAMERAS[text]
    try:
        azimuth, elevation, distance = (float(part) for part in text.split(","))
    except ValueError:
        azimuth = elevation = distance = float("nan")
    nearest, furthest = DISTANCES
    if abs(azimuth) <= 360.0 and abs(elevation) < 90.0 and nearest <= distance <= furthest:
        return _film_view(azimuth, elevation, distance)
    raise BadRequest(
        f"--camera {text!r}: accepted: {', '.join(CAMERAS)}, or AZIMUTH,ELEVATION,DISTANCE such as "
        f"130,-20,1.5 (at most 360 degrees, less than 90 degrees, {nearest:g} to {furthest:g} m)"
    )
