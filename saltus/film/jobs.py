"""Has pictures of the robot drawn by a child process: a graphics driver may crash."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from saltus.film.camera import View
from saltus.film.frames import Frames
from sim_bridge.terrain_options import Terrain

PATIENCE_S = 120.0  # for one picture
NO_ROOM = 2  # exit status of a child that could not write its files
GRAPHICS_HINT = "; drawing off-screen needs EGL or OSMesa: see `saltus doctor`"


class Job(msgspec.Struct, frozen=True):
    """Pictures that belong together.

    Attributes:
        name: of the files; no two jobs share one.
        size: width and height of a picture [pixels].
        view: where the camera stands.
        ending: of the one file ``NAME.ENDING`` that is made of all pictures, one of
            `saltus.film.writers.WRITERS`; empty for a file ``NAME-0.webp`` and so on of each.
        frames_per_second: of a film.
        robot: that is drawn.
        terrain: the ground; seed: of what is random in it.
    """

    name: str
    size: tuple[int, int]
    view: View
    ending: str = ""
    frames_per_second: float = 25.0
    robot: str = "a1"
    terrain: Terrain = "flat"
    seed: int = 0


def draw(
    jobs: Sequence[tuple[Job, Frames]], folder: Path, show: Callable[[int], None] | None = None
) -> str:
    """Draw jobs into an empty folder; what could be drawn is there, whatever happens to the rest.

    Args:
        jobs: with what their pictures show.
        folder: takes the files; the child's own stand there too.
        show: is called with the number of pictures drawn so far.

    Returns:
        Why not all could be drawn, with what helps; empty when all could.

    Raises:
        OSError: the folder cannot be written.
    """
    for job, frames in jobs:
        np.savez(folder / f"{job.name}.npz", **frames._asdict())
    (folder / "jobs.msgpack").write_bytes(msgspec.msgpack.encode([job for job, _ in jobs]))
    with (folder / "errors").open("w+") as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", "saltus.film.child", str(folder)],
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


def _graphics() -> dict[str, str]:
    """The environment of the child: without a screen MuJoCo draws by EGL, if nobody says how."""
    usual = {} if os.environ.get("DISPLAY") else {"MUJOCO_GL": "egl"}
    return usual | os.environ


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
