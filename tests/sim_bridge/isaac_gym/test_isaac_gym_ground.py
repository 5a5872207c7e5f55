"""A ground in Isaac Gym's server: its name, its mesh, and what is refused."""

import numpy as np
from numpy.testing import assert_allclose
from pytest import approx

from robots.terrain import Box, Grid, height_at, make_ground
from runtime.physics_messages import GroundReply, RolloutReply, decode_reply
from runtime.wire import encode
from sim_bridge.ground_exchange import name_of, to_request
from sim_bridge.isaac_gym import server
from tests.sim_bridge.isaac_gym.stand_in import make_front
from tests.sim_bridge.isaac_gym.stand_in_physics import height_of
from tests.sim_bridge.isaac_gym.test_isaac_gym_rollouts import ask

HEIGHTS = np.random.default_rng(1).uniform(0.0, 0.3, (4, 5))
GROUND = make_ground(
    (Box((0.2, 0.1, -0.2), (0.5, 0.3, 0.2), 0.4, 0.2), Box((-1.0, 0.0, -0.2), (0.2, 0.3, 0.3))),
    Grid(HEIGHTS, (1.0, -1.0), 0.4),
)
LEVEL = make_ground((Box((0.0, 0.0, -0.5), (3.0, 3.0, 0.5)),))


def served(ground):
    return server.Ground(server.decode(encode(to_request(1, ground))))


def test_every_solid_but_the_floor_is_closed():
    """Each edge of a triangle is met by another one the other way round, but at the grid's foot."""
    vertices, triangles = served(GROUND).mesh(np.zeros((1, 3)))
    directed = {(int(a), int(b)) for t in triangles for a, b in zip(t, np.roll(t, -1), strict=True)}
    open_edges = [(a, b) for a, b in directed if (b, a) not in directed]
    assert len(directed) == 3 * len(triangles)
    heights = vertices[np.unique(open_edges), 2]
    assert_allclose(heights, GROUND.floor, atol=1e-12)


def test_a_fresh_process_has_the_grounds_of_the_one_before():
    front = make_front("--envs", "4", ground=LEVEL)
    for ground in (GROUND, LEVEL):
        assert isinstance(decode_reply(front.answer(encode(to_request(3, ground)))), GroundReply)
    for restarts, ground in ((0, ""), (1, name_of(LEVEL)), (1, name_of(LEVEL)), (2, "")):
        assert isinstance(ask(front, ground=ground), RolloutReply)
        assert front.restarts == restarts


def test_the_mesh_has_the_grounds_heights_and_looks_outward():
    """Its signed volume is that of the solids: of boxes, and of each half of the grid's cells."""
    places = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 7.0]])
    vertices, triangles = served(GROUND).mesh(places)
    half = len(vertices) // 2
    assert_allclose(vertices[half:], vertices[:half] + places[1], atol=1e-12)
    first = triangles[: len(triangles) // 2]
    for x, y in np.random.default_rng(0).uniform(-1.5, 3.0, (200, 2)):
        found = height_of(vertices[:half], first, x, y)
        assert found == approx(height_at(GROUND, x, y), abs=1e-6)
    volume = np.linalg.det(vertices[first] - [0.0, 0.0, GROUND.floor]).sum() / 6.0
    thirds = HEIGHTS[:-1, :-1] + HEIGHTS[1:, 1:] + 0.5 * (HEIGHTS[:-1, 1:] + HEIGHTS[1:, :-1])
    boxes = 8.0 * GROUND.half.prod(axis=1).sum()
    assert volume == approx(boxes + 0.4**2 * thirds.sum() / 3.0, rel=1e-6)
