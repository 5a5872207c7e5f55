"""Parts of terrain: where the ground is high, and what is refused."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from robots.rotations import rotation_from_quaternion
from robots.terrain import Ground, friction_at, height_at, surface_at
from sim_bridge.ground import ground_of
from sim_bridge.options import SimulationOptions
from sim_bridge.simulated_robot import SimulatedRobot
from sim_bridge.terrain_options import Terrain
from tests.a1 import A1


def ground(*parts: dict, seed: int = 0) -> Ground:
    return ground_of(msgspec.convert(list(parts), Terrain), seed=seed)


def heights(found: Ground, *xs: float, y: float = 0.0) -> list[float]:
    return [height_at(found, x, y) for x in xs]


def test_flat_is_level_everywhere() -> None:
    assert heights(ground_of("flat"), -5.0, 0.0, 7.0) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("heading", [0.0, 1.0, -2.5])
@pytest.mark.parametrize("angle", [0.2, -0.3])
def test_a_slope_rises_from_its_end_and_stays_up(angle: float, heading: float) -> None:
    c, s = np.cos(heading), np.sin(heading)
    found = ground(
        {"kind": "slope", "angle": angle, "length": 2.0, "at": [float(0.5 * c), float(0.5 * s)],
         "heading": heading}
    )  # fmt: skip
    for along, height in ((0.0, 0.0), (0.5, 0.0), (1.5, 1.0), (2.49, 1.99), (3.0, 2.0)):
        for across in (-0.4, 0.3):
            x, y = c * along - s * across, s * along + c * across
            assert height_at(found, x, y) == pytest.approx(height * np.tan(angle), abs=1e-6)
    _, *normal = surface_at(found, 1.2 * c, 1.2 * s)
    expected = [-np.sin(angle) * c, -np.sin(angle) * s, np.cos(angle)]
    np.testing.assert_allclose(normal, expected, atol=1e-9)


@pytest.mark.parametrize("rise", [0.08, -0.08])
def test_stairs_rise_a_step_at_each_edge(rise: float) -> None:
    found = ground({"kind": "stairs", "rise": rise, "run": 0.3, "count": 3, "at": [0.5, 0.0]})
    steps = heights(found, 0.0, 0.49, 0.51, 0.79, 0.81, 1.09, 1.11, 5.0)
    np.testing.assert_allclose(steps, rise * np.array([0, 0, 1, 1, 2, 2, 3, 3]), atol=1e-9)


def test_boxes_lie_side_by_side_with_heights_by_their_seed() -> None:
    part = {"kind": "boxes", "heights": [0.02, 0.06], "length": 1.2, "width": 0.9}
    first, second, again = (ground(part, seed=seed) for seed in (1, 2, 1))
    xs = np.linspace(0.55, 1.65, 23)
    tops = heights(first, *xs)
    assert min(tops) >= 0.02 and max(tops) <= 0.06 and len({round(top, 9) for top in tops}) == 4
    assert heights(again, *xs) == tops != heights(second, *xs)
    assert heights(ground(part | {"seed": 1}, seed=2), *xs) == tops
    assert heights(first, 0.45, 1.75) == [0.0, 0.0]


def test_parts_combine_and_the_highest_counts() -> None:
    found = ground(
        {"kind": "box", "height": 0.25, "at": [1.0, 0.0]},
        {"kind": "slope", "angle": 0.1, "length": 3.0, "at": [0.4, 0.0]},
    )
    assert heights(found, 0.9, 1.2, 1.6) == pytest.approx(
        [0.5 * np.tan(0.1), 0.25, 1.2 * np.tan(0.1)]
    )


def test_waves_begin_in_a_trough() -> None:
    found = ground({"kind": "waves", "amplitude": 0.04, "wavelength": 0.8, "at": [0.5, 0.0]})
    assert heights(found, 0.5, 0.9, 1.3) == pytest.approx([0.0, 0.08, 0.0], abs=1e-9)


def test_heights_come_from_arrays_and_pictures(tmp_path: Path) -> None:
    x = np.minimum(1.0, np.maximum(0.0, np.linspace(-2.0, 2.0, 41)))
    np.save(tmp_path / "heights.npy", np.tile(0.1 * x, (21, 1)))
    grey = np.tile(np.round(255.0 * x), (21, 1)).astype(np.uint8)
    grey[:10] = 0  # the upper half of the picture is level: y above 0
    Image.fromarray(grey).save(tmp_path / "heights.png")
    place = {"kind": "heightfield", "spacing": 0.1, "at": [-1.5, -1.0]}
    array = ground(place | {"file": str(tmp_path / "heights.npy")})
    picture = ground(place | {"file": str(tmp_path / "heights.png"), "height": 0.1})
    assert heights(array, 0.5, 1.0, 2.0) == pytest.approx([0.0, 0.05, 0.1])
    assert heights(picture, 0.5, 1.0, 2.0, y=-0.5) == pytest.approx([0.0, 0.05, 0.1], abs=3e-4)
    assert heights(picture, 1.0, y=0.5) == [0.0]


def refused(*parts: dict) -> str:
    with pytest.raises((ValueError, msgspec.ValidationError)) as refusal:
        ground(*parts)
    message = str(refusal.value)
    assert "\n" not in message
    return message


def test_heights_that_no_robot_walks_on_are_refused(tmp_path: Path) -> None:
    def field(heights: np.ndarray) -> dict:
        np.save(tmp_path / "bad.npy", heights)
        return {"kind": "heightfield", "file": str(tmp_path / "bad.npy")}

    holes = np.zeros((4, 4))
    holes[1, 1] = np.nan
    assert "holes" in refused(field(holes))
    steep = np.zeros((40, 40))
    steep[:, 30:] = 0.5
    assert "0.5 m" in refused(field(steep))
    assert "shape" in refused(field(np.zeros(5)))
    assert "bad.txt" in refused({"kind": "heightfield", "file": "bad.txt"})
    assert "missing.npy" in refused({"kind": "heightfield", "file": "missing.npy"})


def test_more_heights_than_memory_should_hold_are_refused(tmp_path: Path) -> None:
    waves = {"kind": "waves", "wavelength": 0.1, "length": 1000.0, "width": 1000.0}
    assert "240001 x 240001 heights" in refused(waves)
    Image.new("L", (1025, 1024)).save(tmp_path / "large.png")  # 1 kB
    assert "1049600 points" in refused({"kind": "heightfield", "file": str(tmp_path / "large.png")})


def test_the_shortest_waves_are_a_grid_too() -> None:
    found = ground({"kind": "waves", "length": 1e-3, "width": 1e-3})
    assert found.grid.shape == (2, 2)


def test_ground_inside_the_robot_or_below_its_feet_at_the_start_is_refused() -> None:
    assert "above" in refused({"kind": "box", "height": 0.1, "at": [0.1, 0.0]})
    assert "below" in refused({"kind": "stairs", "rise": -0.1, "at": [0.1, 0.0]})
    waves = {"kind": "waves"}
    assert "waves" in refused(waves, waves)
    assert "heights" in refused({"kind": "boxes", "heights": [0.1, 0.0]})
    assert "boxes" in refused({"kind": "boxes", "size": [0.01, 0.01]})
    assert "give one of them" in refused({"kind": "patch"})
    assert "stiffness" in refused({"kind": "patch", "stiffness": 100.0})


def on_slope(**patch: float) -> SimulatedRobot:
    parts: list[dict] = [{"kind": "slope", "angle": 0.25, "length": 10.0, "at": [-5.0, 0.0]}]
    if patch:
        parts.append({"kind": "patch", "length": 10.0, "at": [-5.0, 0.0], **patch})
    robot = SimulatedRobot(A1, SimulationOptions(), None, ground(*parts))
    for _ in range(300):
        robot.advance(None)
    return robot


def test_the_robot_stands_on_a_slope_and_slides_where_it_is_icy() -> None:
    truth, icy = on_slope().truth(), on_slope(friction=0.1).truth()
    up = rotation_from_quaternion(truth.q[3:7])[:, 2]
    np.testing.assert_allclose(up, [-np.sin(0.25), 0.0, np.cos(0.25)], atol=0.02)
    assert truth.contact.all() and truth.foot_force[:, 2].sum() == pytest.approx(134.0, rel=0.1)
    assert abs(truth.q[0]) < 0.03
    assert icy.q[0] < truth.q[0] - 0.03


def test_friction_is_that_of_the_patch() -> None:
    found = ground({"kind": "patch", "friction": 0.2, "at": [0.5, 0.0], "width": 1.0})
    assert [friction_at(found, x, 0.0) for x in (0.4, 0.6, 1.4, 1.6)] == [0.8, 0.2, 0.2, 0.8]
    assert friction_at(found, 1.0, 0.6) == 0.8
