"""Rollouts by the server behind the stand-in; the conformance suite holds them to MuJoCo's."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from pytest import approx

from robots.terrain import Box, Grid, height_at, make_ground
from runtime.physics_messages import PROTOCOL, GroundReply, Hello, Refusal, decode_reply
from runtime.wire import encode
from sim_bridge.ground_exchange import name_of, to_request
from sim_bridge.isaac_gym import server
from tests.sim_bridge.isaac_gym.stand_in import Server, StandInRollout
from tests.sim_bridge.isaac_gym.stand_in_gym import CALLS, height_of
from tests.sim_bridge.physics.requests import place_request, rollout_request
from tests.sim_bridge.rollouts.motions import on_its_feet, policies

KNOTS, PERIOD = 8, 0.01
STAND, PLACE = on_its_feet(), encode(place_request())
LEVEL = make_ground((Box((0.0, 0.0, -0.5), (3.0, 3.0, 0.5)),))


def rollout(knots=KNOTS, candidates=4, **changes):
    return rollout_request(policies(knots, candidates), **changes)


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"candidates": 5}, "1 to 4"),
        ({"candidates": 0}, "1 to 4"),
        ({"policy_index": [0, 0, 2, 0]}, "policies 0 to 1"),
        ({"policy_index": [0, 0, -1, 0]}, "policies 0 to 1"),
        ({"policy_index": [0, 0, 0]}, "ValueError"),
        ({"substeps": 0}, "division"),
        ({"ground": "abc"}, "send it first"),
    ],
    ids=str,
)
def test_what_it_cannot_do_it_refuses(changes, named):
    reply = decode_reply(Server().front.answer(b"a", encode(rollout(**changes))))
    assert isinstance(reply, Refusal) and named in reply.reason and "\n" not in reply.reason


@pytest.mark.parametrize("frame", [
    b"", b"\xc1", PLACE[:-1], PLACE.replace(b"place", b"pluck"), PLACE.replace(b"id", b"ip"),
    server.encode({"kind": "place", "id": 1, "q": np.zeros(18), "v": np.zeros(18)}),
    server.encode({"kind": "place", "id": 1, "q": np.zeros(19, "f4"), "v": np.zeros(18)}),
    server.encode({"kind": "place", "id": 1, "q": [1.0] * 19, "v": np.zeros(18)}),
], ids=len)  # fmt: skip
def test_what_is_no_request_is_refused(frame):
    reply = decode_reply(Server().front.answer(b"", frame))
    assert isinstance(reply, Refusal) and reply.id == server.NOBODY


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_a_policy_that_is_no_number_ends_its_candidate_alone_at_its_knot(device):
    policy, backend = policies(KNOTS, 4), StandInRollout(PERIOD, 2, device)
    good = backend.roll_out(STAND, policy)
    policy.gains[1, 3] = np.nan
    batch = backend.roll_out(STAND, policy)
    assert_array_equal(batch.finite, policy.policy_index == 0)
    assert np.isfinite(batch.states[1, :4]).all() and np.isnan(batch.states[1, 4:]).all()
    assert_array_equal(batch.states[0], good.states[0])


def test_nothing_comes_to_the_host_and_states_are_set_once_within_a_rollout():
    CALLS.clear()
    Server().ask(rollout(substeps=2))
    first, last = CALLS.index("simulate"), len(CALLS) - 1 - CALLS[::-1].index("simulate")
    assert "to host" not in CALLS[first:last]
    assert CALLS.count("simulate") == CALLS.count("set effort") == 2 * KNOTS
    assert CALLS.count("set root") == CALLS.count("set dof") == 1


def test_joints_may_turn_faster_than_the_urdf_says_and_physx_s_fastest_has_diverged():
    backend, start = StandInRollout(PERIOD, 2), STAND.copy()
    start[2], start[25] = 50.0, 60.0
    assert backend.roll_out(start, policies(1, 1, held=False)).states[0, 1, 25] > 50.0
    start[19] = 999.5
    assert not backend.roll_out(start, policies(KNOTS, 4)).finite.any()


def test_a_process_that_cannot_is_replaced():
    here = Server(ground=LEVEL)
    hello = here.ask(Hello(id=2, protocol=PROTOCOL))
    assert (hello.protocol, hello.most_candidates, hello.moves_ground) == (PROTOCOL, 4, False)
    assert isinstance(here.ask(to_request(1, LEVEL)), GroundReply)
    on_ground = {"ground": name_of(LEVEL)}
    CALLS.clear()
    for changes, spawned in (
        ({}, 1), ({}, 1), ({"period": 0.02}, 2), (on_ground, 3), (on_ground, 3), ({}, 4),
    ):  # fmt: skip
        assert here.ask(rollout(**changes)).finite == [True] * 4
        assert CALLS.count("spawn") == spawned, changes
    assert "TypeError" in here.ask(rollout(substeps=0.5)).reason  # it has ended with that
    assert here.ask(rollout()).finite == [True] * 4 and CALLS.count("spawn") == 6
    assert isinstance(here.ask(rollout(**on_ground), client=b"another"), Refusal)


def test_the_mesh_has_the_grounds_heights_and_is_open_below_alone():
    heights = np.random.default_rng(1).uniform(0.0, 0.3, (4, 5))
    boxes = Box((0.2, 0.1, -0.2), (0.5, 0.3, 0.2), 0.4, 0.2), Box((-1, 0, -0.2), (0.2, 0.3, 0.3))
    ground = make_ground(boxes, Grid(heights, (1.0, -1.0), 0.4))
    vertices, triangles = server.mesh_of(server.decode(encode(to_request(1, ground))))
    for x, y in np.random.default_rng(0).uniform(-1.5, 3.0, (200, 2)):
        found = height_of(vertices, triangles, x, y)
        assert found == approx(height_at(ground, x, y), abs=1e-6)
    edges = {(int(a), int(b)) for t in triangles for a, b in zip(t, np.roll(t, -1), strict=True)}
    assert len(edges) == 3 * len(triangles)
    rim = {a for a, b in edges if (b, a) not in edges}
    assert len(rim) == 3 * 12 + 2 * (5 + 6)  # of floor and boxes, and of the grid
