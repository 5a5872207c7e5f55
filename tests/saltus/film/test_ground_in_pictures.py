"""Pictures on rough ground show the whole robot, and what lies on the ground."""

import numpy as np
import pytest
from PIL import Image

from robots.terrain import height_at
from saltus.film.drawing import Job, Picture, View, draw
from sim_bridge.ground import ground_of
from sim_bridge.terrain_options import Slope, SurfacePatch

SIZE = (256, 192)


pytestmark = pytest.mark.usefixtures("graphics")


@pytest.fixture(scope="module")
def level(tmp_path_factory):
    return picture(tmp_path_factory.mktemp("ground") / "level", "flat", 0.0)


def picture(folder, terrain, x):
    q = np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0, *[0.0, 0.8, -1.6] * 4])
    q[0], q[2] = x, q[2] + height_at(ground_of(terrain, seed=0), x, 0.0)
    folder.mkdir()
    failed = draw([Job("a", [Picture(q)], SIZE, View(), terrain=terrain)], folder)
    assert failed == ""
    return np.asarray(Image.open(folder / "a.png"), dtype=float)[32:]


def dark(frame):
    return int((frame.max(axis=-1) < 50).sum())


def test_a_slope_does_not_hide_the_robot(tmp_path, level):
    slope = Slope(angle=0.35, length=20.0, width=20.0, at=(0.4, -15.708), heading=1.5708)
    assert dark(picture(tmp_path / "slope", (slope,), 1.2)) > 0.7 * dark(level) > 500


def test_ice_is_drawn(tmp_path, level):
    def blue(frame):
        red, _, blue = np.moveaxis(frame, -1, 0)
        return int((blue > red + 50).sum())

    ice = SurfacePatch(friction=0.2, length=2.0, at=(-1.0, 0.0))
    assert blue(picture(tmp_path / "ice", (ice,), 0.0)) > blue(level) + 1000
