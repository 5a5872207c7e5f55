"""A physics server's core answers every request; what cannot be done it refuses in one line."""

import pytest
from msgspec.structs import replace

from runtime.physics_messages import PROTOCOL, Hello, Refusal, ServerInfo, WorldReply
from sim_bridge.physics_service import MOST_STEPS, PhysicsService
from tests.sim_bridge.physics.requests import (
    StillRollout,
    StillWorld,
    place_request,
    rollout_request,
    tick_request,
    world_request,
)
from tests.sim_bridge.rollouts.motions import policies

MOST, N, C = 8, 3, 4

LIMIT = {"c": 5, "n": 1000, "substeps": MOST_STEPS // 5000}


def asked(n=N, c=C, **changes):
    return rollout_request(policies(n, c), **changes)


class Engine(StillRollout):
    """It says what it was asked; its second candidate diverges."""

    def __init__(self, *made_for):
        super().__init__()
        self.made_for, self.asked = made_for, 0

    def roll_out(self, x0, policies):
        self.asked += 1
        batch = super().roll_out(x0, policies)
        batch.finite[1:2] = False
        return batch


@pytest.fixture
def engines():
    return []


@pytest.fixture
def service(engines):
    def make(*made_for):
        engines.append(Engine(*made_for))
        return engines[-1]

    return PhysicsService("toy", "a toy", MOST, make, StillWorld)


def test_introduces_itself_to_another_protocol_too(service):
    assert service.answer(Hello(id=3, protocol=PROTOCOL + 1)) == ServerInfo(
        id=3, protocol=PROTOCOL, backend="toy", device="a toy", most_candidates=MOST,
        rollouts=True, robot=True, moves_ground=True,
    )  # fmt: skip
    nothing = PhysicsService("toy", "a toy", MOST).answer(Hello(id=3, protocol=PROTOCOL))
    assert isinstance(nothing, ServerInfo) and not nothing.rollouts and not nothing.robot


@pytest.mark.parametrize("change, words", [
    ({"policy_index": [0, 1, 2, 0]}, "policy_index"), ({"policy_index": [0, 1, 0]}, "step sizes"),
    ({"period": 0.0}, "period"), ({"period": float("nan")}, "period"),
    ({"substeps": 0}, "substeps"), ({"substeps": MOST_STEPS}, str(MOST_STEPS)),
    ({"c": MOST + 1}, str(MOST)), ({"c": 0}, "candidates"), ({"n": 0}, "knots"),
    (LIMIT | {"c": 6}, str(MOST_STEPS)), ({"c": MOST}, ""), (LIMIT, ""),
])  # fmt: skip
def test_what_cannot_be_rolled_out_is_refused_and_not_tried(service, engines, change, words):
    reply = service.answer(asked(**change))
    if not words:
        assert reply.finite == [index != 1 for index in range(change.get("c", C))]
        assert engines[0].made_for == (change.get("n", N), 0.01, change.get("substeps", 2), None)
        return
    assert isinstance(reply, Refusal) and reply.id == 7 and words in reply.reason
    assert not engines or not engines[0].asked


def test_what_is_not_served_is_refused():
    service = PhysicsService("toy", "a toy", MOST)
    for request in (asked(), world_request(), tick_request(), place_request()):
        reply = service.answer(request)
        assert isinstance(reply, Refusal) and reply.id == request.id


def test_a_world_is_its_clients_who_began_it_last(service):
    for request, client, kind in (
        (tick_request(), b"a", Refusal), (world_request(), b"a", WorldReply),
        (tick_request(), b"a", WorldReply), (place_request(), b"b", Refusal),
        (world_request(), b"b", WorldReply), (tick_request(), b"a", Refusal),
        (place_request(), b"b", WorldReply),
    ):  # fmt: skip
        assert isinstance(service.answer(request, client), kind)


def test_what_breaks_is_a_refusal_and_the_next_request_is_served():
    def breaks(self, *_):
        raise RuntimeError("two\nlines")

    broken = (
        type("Broken", (Engine,), {"roll_out": breaks}),
        type("W", (StillWorld,), {"tick": breaks}),
    )
    service = PhysicsService("toy", "a toy", MOST, *broken)
    assert isinstance(service.answer(world_request()), WorldReply)
    for request in (asked(), replace(tick_request(), id=7)):
        assert service.answer(request) == Refusal(id=7, reason="RuntimeError: two lines")
    assert isinstance(service.answer(place_request()), WorldReply)
