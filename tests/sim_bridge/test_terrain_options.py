"""Parts of terrain: where the ground is high, and what is refused."""

import msgspec
import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image
from pytest import approx

from robots.terrain import height_at, surface_at
from sim_bridge.ground import ground_of
from sim_bridge.terrain_options import Terrain
from tests.refusals import refusal

HEIGHTS = {  # parts; places along x, and the ground's height there
    "flat": ([], (-5.0, 7.0), (0.0, 0.0)),
    "steps up": ([{"kind": "stairs", "rise": 0.08, "run": 0.3, "count": 3, "at": [0.5, 0.0]}],
                 (0.49, 0.51, 0.79, 0.81, 1.11, 5.0), (0.0, 0.08, 0.08, 0.16, 0.24, 0.24)),
    "steps down": ([{"kind": "stairs", "rise": -0.08, "run": 0.3, "count": 3, "at": [0.5, 0.0]}],
                   (0.49, 0.51, 1.11), (0.0, -0.08, -0.24)),
    "the highest": ([{"kind": "box", "height": 0.25, "at": [1.0, 0.0]},
                     {"kind": "slope", "angle": 0.1, "length": 3.0, "at": [0.4, 0.0]}],
                    (0.9, 1.2, 1.6), (0.5 * np.tan(0.1), 0.25, 1.2 * np.tan(0.1))),
    "waves": ([{"kind": "waves", "amplitude": 0.04, "wavelength": 0.8, "at": [0.5, 0.0]}],
              (0.5, 0.9, 1.3), (0.0, 0.08, 0.0)),
}  # fmt: skip

HOLES, STEEP, EDGE = np.zeros((4, 4)), np.zeros((40, 40)), np.array([[1.0, -1.0], [1.0, -1.0]])

HOLES[1, 1], STEEP[:, 30:] = np.nan, 0.5

REFUSED = {
    "holes": HOLES, "0.5 m": STEEP, "shape": np.zeros(5), "integers": np.zeros((4, 4), complex),
    "16 of NaN": np.full((4, 4), 0x7FA00000, np.uint32).view(np.float32), "inf m": 1.7e308 * EDGE,
    "bad.txt": {"kind": "heightfield", "file": "bad.txt"},
    "missing.npy": {"kind": "heightfield", "file": "missing.npy"},
    "heights": {"kind": "waves", "wavelength": 0.1, "length": 1000.0, "width": 1000.0},
    "above": {"kind": "box", "height": 0.1, "at": [0.1, 0.0]},
    "below": {"kind": "stairs", "rise": -0.1, "at": [0.1, 0.0]},
    "boxes": {"kind": "boxes", "size": [0.01, 0.01]}, "give one of them": {"kind": "patch"},
    "stiffness": {"kind": "patch", "stiffness": 100.0},
}  # fmt: skip


def ground(*parts, seed=0):
    return ground_of(msgspec.convert(list(parts), Terrain), seed=seed)


def heights(found, *xs, y=0.0):
    return [height_at(found, x, y) for x in xs]


@pytest.mark.parametrize("heading", [0.0, 1.0, -2.5])
@pytest.mark.parametrize("angle", [0.2, -0.3])
def test_a_slope_rises_from_its_end_and_stays_up(angle, heading):
    c, s = np.cos(heading), np.sin(heading)
    found = ground(
        {"kind": "slope", "angle": angle, "length": 2.0, "at": [float(0.5 * c), float(0.5 * s)],
         "heading": heading}
    )  # fmt: skip
    for along, height in ((0.0, 0.0), (0.5, 0.0), (1.5, 1.0), (2.49, 1.99), (3.0, 2.0)):
        for across in (-0.4, 0.3):
            x, y = c * along - s * across, s * along + c * across
            assert height_at(found, x, y) == approx(height * np.tan(angle), abs=1e-6)
    _, *normal = surface_at(found, 1.2 * c, 1.2 * s)
    expected = [-np.sin(angle) * c, -np.sin(angle) * s, np.cos(angle)]
    assert_allclose(normal, expected, atol=1e-9)


def test_boxes_lie_side_by_side_with_heights_by_their_seed():
    part = {"kind": "boxes", "heights": [0.02, 0.06], "length": 1.2, "width": 0.9}
    first, second, again = (ground(part, seed=seed) for seed in (1, 2, 1))
    xs = np.linspace(0.55, 1.65, 23)
    tops = heights(first, *xs)
    assert min(tops) >= 0.02 and max(tops) <= 0.06 and len({round(top, 9) for top in tops}) == 4
    assert heights(again, *xs) == tops != heights(second, *xs)
    assert heights(ground(part | {"seed": 1}, seed=2), *xs) == tops
    assert heights(first, 0.45, 1.75) == [0.0, 0.0]


def test_heights_come_from_arrays_and_pictures(tmp_path):
    x = np.minimum(1.0, np.maximum(0.0, np.linspace(-2.0, 2.0, 41)))
    np.save(tmp_path / "heights.npy", np.tile(0.1 * x, (21, 1)))
    grey = np.tile(np.round(255.0 * x), (21, 1)).astype(np.uint8)
    grey[:10] = 0  # the upper half of the picture is level: y above 0
    Image.fromarray(grey).save(tmp_path / "heights.png")
    place = {"kind": "heightfield", "spacing": 0.1, "at": [-1.5, -1.0]}
    array = ground(place | {"file": str(tmp_path / "heights.npy")})
    picture = ground(place | {"file": str(tmp_path / "heights.png"), "height": 0.1})
    assert heights(array, 0.5, 1.0, 2.0) == approx([0.0, 0.05, 0.1])
    assert heights(picture, 0.5, 1.0, 2.0, y=-0.5) == approx([0.0, 0.05, 0.1], abs=3e-4)
    assert heights(picture, 1.0, y=0.5) == [0.0]


@pytest.mark.parametrize("name", HEIGHTS)
def test_parts_have_their_heights_and_the_highest_counts(name):
    parts, xs, expected = HEIGHTS[name]
    assert heights(ground(*parts), *xs) == approx(expected, abs=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", REFUSED)
def test_ground_that_cannot_be_walked_on_is_refused_in_one_line(tmp_path, name):
    part = REFUSED[name]
    if isinstance(part, np.ndarray):
        np.save(tmp_path / "bad.npy", part)
        part = {"kind": "heightfield", "file": str(tmp_path / "bad.npy")}
    assert name in refusal((ValueError, msgspec.ValidationError), ground, part)
