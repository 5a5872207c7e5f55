"""A physics server's core answers every request; what cannot be done it refuses in one line."""

import numpy as np
import pytest
from msgspec.structs import replace

from runtime.physics_messages import (
    PROTOCOL,
    Hello,
    Refusal,
    ServerInfo,
    WorldReply,
)
from sim_bridge.physics_service import (
    MOST_KNOTS,
    MOST_STEPS,
    MOST_SUBSTEPS,
    PhysicsService,
)
from sim_bridge.rollouts.batch import RolloutBatch
from tests.sim_bridge.physics.requests import (
    place_request,
    rollout_request,
    tick_request,
    world_request,
)
from tests.sim_bridge.rollouts.motions import STAND, policies

MOST, N, C = 8, 3, 4

LIMIT = {"c": 5, "n": MOST_KNOTS, "substeps": MOST_STEPS // (5 * MOST_KNOTS)}


def asked(n=N, c=C, **changes):
    return rollout_request(policies(n, c), **changes)


class Engine:
    """A backend that says what it was asked."""

    def __init__(self, *made_for):
        self.made_for, self.asked = made_for, []

    def roll_out(self, x0, policies):
        self.asked.append(policies)
        c, n = policies.count, policies.inputs.shape[1]
        states = np.full((c, n + 1, 37), float(len(self.asked)))
        finite = np.arange(c) != 1
        return RolloutBatch(states, np.zeros((c, n, 12)), np.zeros((c, n, 4)), finite)


class World:
    """A world in which nothing moves."""

    def begin(self, request):
        return WorldReply(
            id=request.id, q=STAND[:19], v=STAND[19:], torque=np.zeros(12),
            foot_force=np.zeros((4, 3)), trunk_contact=False,
        )  # fmt: skip

    tick = place = begin


@pytest.fixture
def engines():
    return []


@pytest.fixture
def service(engines):
    def make(*made_for):
        engines.append(Engine(*made_for))
        return engines[-1]

    return PhysicsService("toy", "a toy", MOST, make, World)


def test_introduces_itself_to_another_protocol_too(service):
    assert service.answer(Hello(id=3, protocol=PROTOCOL + 1)) == ServerInfo(
        id=3, protocol=PROTOCOL, backend="toy", device="a toy", most_candidates=MOST,
        rollouts=True, robot=True, moves_ground=True,
    )  # fmt: skip
    nothing = PhysicsService("toy", "a toy", MOST).answer(Hello(id=3, protocol=PROTOCOL))
    assert isinstance(nothing, ServerInfo) and not nothing.rollouts and not nothing.robot


@pytest.mark.parametrize(("change", "words"), [
    ({"policy_index": [0, 1, 2, 0]}, "policy_index"), ({"policy_index": [0, 1, 0]}, "step sizes"),
    ({"period": 0.0}, "period"), ({"period": float("nan")}, "period"),
    ({"substeps": 0}, "substeps"), ({"substeps": MOST_SUBSTEPS + 1}, str(MOST_SUBSTEPS)),
    ({"c": MOST + 1}, str(MOST)), ({"c": 0}, "candidates"), ({"n": 0}, "knots"),
    ({"n": MOST_KNOTS + 1}, str(MOST_KNOTS)),
    (LIMIT | {"c": 6}, str(MOST_STEPS)),
    ({"c": MOST}, ""), ({"substeps": MOST_SUBSTEPS}, ""), (LIMIT, ""),
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

    broken = type("Broken", (Engine,), {"roll_out": breaks}), type("W", (World,), {"tick": breaks})
    service = PhysicsService("toy", "a toy", MOST, *broken)
    assert isinstance(service.answer(world_request()), WorldReply)
    for request in (asked(), replace(tick_request(), id=7)):
        assert service.answer(request) == Refusal(id=7, reason="RuntimeError: two lines")
    assert isinstance(service.answer(place_request()), WorldReply)
