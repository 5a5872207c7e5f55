"""Pictures of recorded runs, drawn off-screen: ``python -m saltus.rendering RUN PICTURE.png``."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

if not os.environ.get("DISPLAY"):
    os.environ.setdefault("MUJOCO_GL", "egl")  # read once, when mujoco is imported

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from robots.a1.mujoco_model import load_mujoco
from robots.state import mujoco_from_pinocchio
from runtime.messages import GroundTruth
from runtime.recording import read_recording
from saltus.errors import BadRequest

PANEL = (480, 400)  # width, height [pixels]
LABEL_AT = (12, 10)  # of a panel's time [pixels]
QUICK = (1024, 4)  # pixels of the shadow map, samples of a pixel
PATH_COLOUR = (0.85, 0.25, 0.15, 1.0)  # of the line that the reference walks along
PATH_SIZE = (20.0, 0.012, 0.001)  # half of its length, width and height [m]

Array = NDArray[np.float64]


class View(NamedTuple):
    """Where the camera stands. It follows the robot forward alone, so that a push is seen.

    Attributes:
        distance: from what it looks at [m].
        azimuth: direction in which it looks [deg]: 0 is forward, from behind the robot.
        elevation: of its direction above the ground [deg].
        sideways: where it looks [m].
        follow: it follows the robot sideways as well, beyond this distance from there [m].
        path: draw the line that the reference walks along.
        quick: coarser shadows and edges, in two thirds of the time.
    """

    distance: float = 1.15
    azimuth: float = 155.0
    elevation: float = -16.0
    sideways: float = 0.0
    follow: float = float("inf")
    path: bool = False
    quick: bool = False


def film_strip(run: Path, times: Sequence[float], size: tuple[int, int] = PANEL) -> Image.Image:
    """Pictures of a recorded run at some instants, side by side.

    Args:
        run: folder that `saltus launch --record` wrote.
        times: instants from the start of the run [s].
        size: width and height of one picture [pixels].

    Raises:
        BadRequest: the folder holds no recording, or no true states.
    """
    ticks, qs = true_configurations(run)
    wide = Image.new("RGB", (size[0] * len(times), size[1]))
    panels = Painter(size)
    for column, time in enumerate(times):
        index = int(np.argmin(np.abs(1e-3 * ticks - time)))
        panel = panels.draw(qs[index], f"{time:.2f} s")
        wide.paste(panel, (column * size[0], 0))
    panels.close()
    return wide


def true_configurations(run: Path) -> tuple[NDArray[np.int64], Array]:
    """Ticks (n,) and true configurations (n, 19) of a recorded run.

    Raises:
        BadRequest: there are none.
    """
    recording = run / "run.mcap"
    if not recording.exists():
        raise BadRequest(f"{run}: no recording; make one with `saltus launch NAME --record {run}`")
    truths = [m for _, m in read_recording(recording) if isinstance(m, GroundTruth)]
    if not truths:
        raise BadRequest(f"{recording}: no true states in it")
    return np.array([truth.tick for truth in truths]), np.array([truth.q for truth in truths])


class Painter:
    """Draws the A1 in given configurations, off-screen; `close` gives the graphics back."""

    def __init__(self, size: tuple[int, int], view: View | None = None) -> None:
        """Pictures of ``size``, width and height [pixels], from ``view``.

        Raises:
            Exception: MuJoCo's or the driver's own, where there are no graphics.
        """
        self._view = view or View()
        self._model = load_mujoco()
        if self._view.quick:
            self._model.vis.quality.shadowsize, self._model.vis.quality.offsamples = QUICK
        self._data = mujoco.MjData(self._model)
        self._renderer = mujoco.Renderer(self._model, width=size[0], height=size[1])
        self._camera = mujoco.MjvCamera()
        for name in ("distance", "azimuth", "elevation"):
            setattr(self._camera, name, getattr(self._view, name))

    def draw(self, q: Array, label: str = "") -> Image.Image:
        """The robot in the configuration q (19,), with a label in the corner."""
        self._data.qpos[:] = mujoco_from_pinocchio(q, np.zeros(18))[0]
        mujoco.mj_forward(self._model, self._data)
        view = self._view
        beyond = q[1] - np.clip(q[1], view.sideways - view.follow, view.sideways + view.follow)
        self._camera.lookat[:] = (q[0], view.sideways + beyond, 0.2)
        self._renderer.update_scene(self._data, self._camera)
        if view.path:
            self._draw_path(q[0])
        picture = Image.fromarray(self._renderer.render())
        ImageDraw.Draw(picture).text(LABEL_AT, label, fill="white", font_size=22)
        return picture

    def _draw_path(self, x: float) -> None:
        scene = self._renderer.scene
        mujoco.mjv_initGeom(
            scene.geoms[scene.ngeom], mujoco.mjtGeom.mjGEOM_BOX, np.array(PATH_SIZE),
            np.array([x, 0.0, PATH_SIZE[2]]), np.eye(3).ravel(), np.array(PATH_COLOUR, np.float32),
        )  # fmt: skip
        scene.ngeom += 1

    def close(self) -> None:
        """Give the graphics back."""
        self._renderer.close()


def main(arguments: Sequence[str]) -> int:
    """Write a picture of a run: ``RUN PICTURE.png [TIME...]``."""
    if len(arguments) < 2:
        print("give RUN PICTURE.png and, if you like, times [s]", file=sys.stderr)
        return 2
    run, picture, *rest = arguments
    try:
        film_strip(Path(run), [float(t) for t in rest] or [2.4, 2.6, 2.8, 3.2, 4.5]).save(picture)
    except (BadRequest, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
