"""A physics server's core answers every request; what cannot be done it refuses in one line."""

import numpy as np
import pytest
from msgspec.structs import replace

from runtime.physics_messages import (
    PROTOCOL,
    Hello,
    PlaceRequest,
    Refusal,
    RolloutRequest,
    ServerInfo,
    TickRequest,
    WorldReply,
    WorldRequest,
)
from sim_bridge.physics_service import (
    MOST_KNOTS,
    MOST_STEPS,
    MOST_SUBSTEPS,
    PhysicsService,
)
from sim_bridge.rollouts.batch import RolloutBatch
from tests.a1 import A1

MOST, P, N, C = 8, 2, 3, 4
STAND = np.concatenate([[0.0, 0.0, 0.3], [0.0, 0.0, 0.0, 1.0], A1.stand, np.zeros(18)])

LIMIT = {"c": 5, "n": MOST_KNOTS, "substeps": MOST_STEPS // (5 * MOST_KNOTS)}


def rollout_request(p=P, n=N, c=C, **changes):
    rng = np.random.default_rng(0)
    fields = {
        "id": 7, "ground": "", "period": 0.01, "substeps": 2, "x0": STAND,
        "states": np.tile(STAND, (p, n + 1, 1)), "inputs": rng.normal(size=(p, n, 12)),
        "feedforward": rng.normal(size=(p, n, 12)), "gains": rng.normal(size=(p, n, 12, 36)),
        "policy_index": [i % p for i in range(c)], "step_size": np.linspace(0.0, 1.0, c),
    }  # fmt: skip
    return RolloutRequest(**(fields | changes))


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
    """A world that counts what happens to it."""

    def __init__(self):
        self.happened = []

    def begin(self, request):
        return self._note("begin", request)

    def tick(self, request):
        return self._note("tick", request)

    def place(self, request):
        return self._note("place", request)

    def _note(self, what, request):
        self.happened.append(what)
        return WorldReply(
            id=request.id, q=STAND[:19], v=STAND[19:], torque=np.zeros(12),
            foot_force=np.zeros((4, 3)), trunk_contact=False,
        )  # fmt: skip


@pytest.fixture
def engines():
    return []


@pytest.fixture
def service(engines):
    def make(*made_for):
        engines.append(Engine(*made_for))
        return engines[-1]

    return PhysicsService("toy", "a toy", MOST, make, World)


def world_request(id=1):
    return WorldRequest(
        id=id, timestep=1e-3, friction=0.8, payload_mass=0.0, mass_scale=1.0, floor_slope=0.0,
        torque_limit=np.full(12, 33.5), corner_speed=np.full(12, 10.0),
        no_load_speed=np.full(12, 21.0), q=STAND[:19], v=STAND[19:],
        urdf="",
    )  # fmt: skip


def tick_request(id=2):
    return TickRequest(
        id=id, commands=np.zeros((1, 5, 12)), blocked=False, base_force=np.zeros(3),
        joint_torque=np.zeros(12), base_velocity=np.zeros(3),
    )  # fmt: skip


def place_request(id=3):
    return PlaceRequest(id=id, q=STAND[:19], v=STAND[19:])


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
    reply = service.answer(rollout_request(**change))
    if not words:
        assert reply.finite == [index != 1 for index in range(change.get("c", C))]
        return
    assert isinstance(reply, Refusal) and reply.id == 7 and words in reply.reason
    assert not engines or not engines[0].asked


def test_what_is_not_served_is_refused():
    service = PhysicsService("toy", "a toy", MOST)
    for request in (rollout_request(), world_request(), tick_request(), place_request()):
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
    for request in (rollout_request(), replace(tick_request(), id=7)):
        assert service.answer(request) == Refusal(id=7, reason="RuntimeError: two lines")
    assert isinstance(service.answer(place_request()), WorldReply)
