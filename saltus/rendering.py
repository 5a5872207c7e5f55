"""Pictures of recorded runs, drawn off-screen: ``python -m saltus.rendering RUN PICTURE.png``."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

if not os.environ.get("DISPLAY"):
    os.environ.setdefault("MUJOCO_GL", "egl")  # read once, when mujoco is imported

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from robots.a1.models import load_mujoco
from robots.state import mujoco_from_pinocchio
from runtime.messages import GroundTruth
from runtime.recording import read_recording
from saltus.errors import BadRequest

PANEL = (480, 400)  # width, height [pixels]
LABEL_AT = (12, 10)  # of a panel's time [pixels]
CAMERA = {"distance": 1.15, "azimuth": 155.0, "elevation": -16.0}  # [m], [deg], [deg]

Array = NDArray[np.float64]


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
    panels = _Panels(size)
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


class _Panels:
    """Draws the A1 in given configurations, the camera beside it."""

    def __init__(self, size: tuple[int, int]) -> None:
        self._model = load_mujoco()
        self._data = mujoco.MjData(self._model)
        self._renderer = mujoco.Renderer(self._model, width=size[0], height=size[1])
        self._camera = mujoco.MjvCamera()
        for name, value in CAMERA.items():
            setattr(self._camera, name, value)

    def draw(self, q: Array, label: str) -> Image.Image:
        self._data.qpos[:] = mujoco_from_pinocchio(q, np.zeros(18))[0]
        mujoco.mj_forward(self._model, self._data)
        # It follows the robot forward alone, so that a push to the side is seen.
        self._camera.lookat[:] = (q[0], 0.0, 0.2)
        self._renderer.update_scene(self._data, self._camera)
        picture = Image.fromarray(self._renderer.render())
        ImageDraw.Draw(picture).text(LABEL_AT, label, fill="white", font_size=22)
        return picture

    def close(self) -> None:
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
