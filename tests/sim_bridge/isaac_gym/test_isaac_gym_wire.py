"""The server's frames are ours, both ways; other bytes are refused, never more."""

import numpy as np
import pytest

from robots.terrain import Box, make_ground
from runtime import physics_messages as messages
from runtime.wire import encode
from sim_bridge.ground_exchange import to_request
from sim_bridge.isaac_gym import server
from tests.sim_bridge.physics.requests import (
    place_request,
    rollout_request,
    tick_request,
    world_request,
)
from tests.sim_bridge.rollouts.motions import policies

RNG = np.random.default_rng(0)


def some(*shape):
    return RNG.normal(size=shape)


GROUND = make_ground((Box((0.0, 0.0, -0.5), (3.0, 3.0, 0.5), 0.3, 0.2),))
REQUESTS = (
    messages.Hello(id=3, protocol=3), to_request(8, GROUND), rollout_request(policies(5, 3)),
    world_request(), tick_request(some(5, 12), 2), place_request(some(19), some(18)),
)  # fmt: skip


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: type(request).__name__)
def test_it_reads_our_requests(request_):
    read = server.decode(encode(request_))
    for name in request_.__struct_fields__:
        np.testing.assert_array_equal(read[name], getattr(request_, name))
    assert set(read) == {*request_.__struct_fields__, "kind"}


@pytest.mark.parametrize(
    "reply",
    [
        messages.ServerInfo(
            id=1, protocol=3, backend="isaacgym", device="a GPU", most_candidates=16, rollouts=True,
            robot=False, moves_ground=False,
        ),
        messages.RolloutReply(
            id=2, states=some(3, 6, 37), inputs=some(3, 5, 12), normal_forces=some(3, 5, 4),
            finite=[True, False, True], compute_s=0.5,
        ),
        messages.WorldReply(
            id=3, q=some(19), v=some(18), torque=some(12), foot_force=some(4, 3),
            trunk_contact=False,
        ),
        messages.Refusal(id=4, reason="because"),
        messages.GroundReply(id=5),
    ],
    ids=lambda reply: type(reply).__name__,
)  # fmt: skip
def test_we_read_its_replies(reply):
    tag = type(reply).__struct_config__.tag
    fields = {name: getattr(reply, name) for name in reply.__struct_fields__}
    assert messages.decode_reply(server.encode({"kind": tag, **fields})) == reply


def test_they_speak_one_protocol():
    assert server.PROTOCOL == messages.PROTOCOL
    tags = {kind.__struct_config__.tag for kind in messages.Request.__args__}
    assert set(server._REQUESTS) == tags


@pytest.mark.parametrize(
    "changes",
    [{"q": np.zeros(18)}, {"more": 1}, {"id": "1"}, {"kind": ["place"]},
     {"q": ["<f4", [19], bytes(76)]}, {"q": ["<f8", [19], bytes(80)]},
     {"q": ["<f8", [-1], bytes(152)]}, {"q": [1.0] * 19}],
    ids=str,
)  # fmt: skip
def test_what_is_no_request_is_refused(changes):
    good = {"kind": "place", "id": 1, "q": np.zeros(19), "v": np.zeros(18)}
    server.decode(server.encode(good))
    with pytest.raises(ValueError):
        server.decode(server.encode({**good, **changes}))
