"""The ground's heights, normals and distances are those of MuJoCo's geoms."""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from robots.mujoco_model import add_geoms
from robots.terrain import Box, Grid, height_at, make_ground, nearest_surface, surface_at
from tests.differences import slopes
from tests.refusals import refusal

FLOOR = '<mujoco><worldbody><geom name="floor" type="plane" size="0 0 .05"/></worldbody></mujoco>'


def boxes(count=12, seed=0):
    draw = np.random.default_rng(seed)
    return tuple(
        Box(
            (*draw.uniform(-1.0, 1.0, 2), draw.uniform(0.0, 0.2)),
            tuple(draw.uniform(0.1, 0.4, 3)),
            draw.uniform(-3.0, 3.0),
            draw.uniform(-0.6, 0.6),
        )  # fmt: skip
        for _ in range(count)
    )


def waves():
    x, y = np.meshgrid(np.linspace(0, 6, 41), np.linspace(0, 4, 31))
    return Grid(0.1 * (1.0 + np.sin(x) * np.cos(y)), (-1.0, -0.75), 0.05)


GROUNDS = {
    "floor": make_ground(), "boxes": make_ground(boxes()), "waves": make_ground(grid=waves()),
    "boxes on waves": make_ground(boxes(5, 1), waves()),
}  # fmt: skip


def model_of(ground):
    spec = mujoco.MjSpec.from_string(FLOOR)
    add_geoms(spec, ground)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize("name", GROUNDS)
def test_heights_are_those_that_a_vertical_ray_meets(name):
    ground, draw = GROUNDS[name], np.random.default_rng(2)
    model, data = model_of(ground)
    geom = np.zeros(1, np.int32)
    for x, y in draw.uniform(-1.5, 1.5, (400, 2)):
        down = mujoco.mj_ray(
            model, data, np.array([x, y, 3.0]), np.array([0.0, 0.0, -1.0]), None, 1, -1, geom
        )
        assert height_at(ground, x, y) == approx(3.0 - down, abs=1e-6)


@pytest.mark.parametrize("name", GROUNDS)
def test_the_normal_is_the_gradient_of_the_height(name):
    ground, draw = GROUNDS[name], np.random.default_rng(3)
    compared = 0
    for x, y in draw.uniform(-1.5, 1.5, (200, 2)):
        by = slopes(lambda p: height_at(ground, *p), [x, y], 1e-7)
        if max(map(abs, by)) > 5.0:  # across a wall
            continue
        normal = np.array([-by[0], -by[1], 1.0])
        _, *found = surface_at(ground, x, y)
        assert_allclose(found, normal / np.linalg.norm(normal), atol=1e-5)
        compared += 1
    assert compared > 150


@pytest.mark.parametrize(
    "name, furthest, error",
    # Of a grid the plane below counts, and MuJoCo finds the nearest of the triangles around.
    [("boxes", 0.4, 1e-9), ("waves", 0.02, 2e-4)],
)
def test_distances_are_those_of_a_small_sphere_in_mujoco(name, furthest, error):
    ground, draw = GROUNDS[name], np.random.default_rng(4)
    spec = mujoco.MjSpec.from_string(FLOOR)
    add_geoms(spec, ground)
    ball = spec.worldbody.add_body(name="ball")
    ball.add_freejoint()
    kind = mujoco.mjtGeom.mjGEOM_SPHERE
    ball.add_geom(name="ball", type=kind, size=[0.02, 0, 0], margin=furthest)
    model = spec.compile()
    data, sphere, touching = mujoco.MjData(model), model.geom("ball").id, 0
    for p in draw.uniform([-0.9, -0.7, 0.0], [1.2, 1.2, 0.5], (2000, 3)):
        p[2] += ground.floor
        distance, *normal = nearest_surface(ground, *p)
        if not 0.0 <= distance < furthest:  # inside a box MuJoCo chooses a face in another way
            continue
        data.qpos[:3] = p
        mujoco.mj_forward(model, data)
        nearest = np.argmin(data.contact.dist)
        assert data.contact.dist[nearest] == approx(distance - 0.02, abs=error)
        frame = data.contact.frame[nearest][:3]
        sign = -1.0 if data.contact.geom[nearest, 0] == sphere else 1.0
        assert_allclose(sign * frame, normal, atol=0.05 if name == "waves" else 1e-9)
        touching += 1
    assert touching > 80


@pytest.mark.parametrize(
    "heights, words",
    [
        (np.full((3, 3), np.nan), "holes"), (np.full((3, 3), -0.1), "-0.1"),
        (np.zeros((1, 5)), "two rows"),
    ],
)  # fmt: skip
def test_a_grid_that_cannot_be_is_refused(heights, words):
    assert words in refusal(ValueError, make_ground, grid=Grid(heights, (0.0, 0.0), 0.1))
