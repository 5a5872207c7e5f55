"""A physics server's core answers every request; what cannot be done it refuses in one line."""

import numpy as np
import pytest
from msgspec.structs import replace

from hybrid.hilqr import Policies
from runtime.exchange_socket import MOST_BYTES
from runtime.physics_messages import (
    PROTOCOL,
    Hello,
    PlaceRequest,
    Refusal,
    RolloutReply,
    RolloutRequest,
    ServerInfo,
    TickRequest,
    WorldReply,
    WorldRequest,
)
from saltus.serve import MOST_CANDIDATES
from sim_bridge.physics_service import (
    MOST_BACKENDS,
    MOST_KNOTS,
    MOST_STEPS,
    MOST_SUBSTEPS,
    PhysicsService,
)
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.threaded import ThreadedRollout
from tests.a1 import A1

MOST, P, N, C = 8, 2, 3, 4
STAND = np.concatenate([[0.0, 0.0, 0.3], [0.0, 0.0, 0.0, 1.0], A1.stand, np.zeros(18)])


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


def test_served_mujoco_is_mujoco_to_the_bit():
    def make(knots, period, substeps, ground):
        return ThreadedRollout(A1, knots, period, substeps, 2, ground)

    request = rollout_request(n=6)
    reply = PhysicsService("mujoco", "here", MOST, make).answer(request)
    assert isinstance(reply, RolloutReply) and reply.id == request.id
    policies = Policies(
        request.states, request.inputs, request.feedforward, request.gains,
        np.array(request.policy_index), request.step_size,
    )  # fmt: skip
    expected = make(6, 0.01, 2, None).roll_out(STAND, policies)
    np.testing.assert_array_equal(reply.states, expected.states)
    np.testing.assert_array_equal(reply.inputs, expected.inputs)
    np.testing.assert_array_equal(reply.normal_forces, expected.normal_forces)
    assert reply.finite == expected.finite.tolist()
    assert reply.compute_s > 0.0


def test_passes_on_which_candidate_diverged(service):
    reply = service.answer(rollout_request())
    assert reply.finite == [True, False, True, True]


def test_one_backend_for_a_period_and_substeps_and_few_of_them(service, engines):
    for n in (3, 5, 3):
        assert isinstance(service.answer(rollout_request(n=n)), RolloutReply)
    assert [engine.made_for for engine in engines] == [(3, 0.01, 2, None)]
    for k in range(MOST_BACKENDS):
        service.answer(rollout_request(period=0.02 + k))
    service.answer(rollout_request(period=0.02))  # still kept
    assert len(engines) == 1 + MOST_BACKENDS
    service.answer(rollout_request())  # the oldest is not
    assert len(engines) == 2 + MOST_BACKENDS


@pytest.mark.parametrize(("change", "words"), [
    ({"policy_index": [0, 1, 2, 0]}, "policy_index goes beyond the 2 policies"),
    ({"policy_index": [0, -1, 0, 0]}, "policy_index"),
    ({"policy_index": [0, 1, 0]}, "4 step sizes for 3 candidates"),
    ({"period": 0.0}, "period is 0; give seconds > 0"),
    ({"period": -0.01}, "period"),
    ({"period": float("nan")}, "period is nan"),
    ({"period": float("inf")}, "period is inf"),
    ({"substeps": 0}, f"substeps is 0; accepted: 1 to {MOST_SUBSTEPS}"),
    ({"substeps": MOST_SUBSTEPS + 1}, "substeps"),
    ({"c": MOST + 1}, f"{MOST + 1} candidates; accepted: 1 to {MOST}"),
    ({"c": 0}, "0 candidates"),
    ({"n": 0}, f"0 knots; accepted: 1 to {MOST_KNOTS}"),
    ({"n": MOST_KNOTS + 1}, "knots"),
    ({"c": MOST, "n": MOST_KNOTS, "substeps": MOST_STEPS // (MOST * MOST_KNOTS) + 1},
     "504000 physics steps (8 candidates x 1000 knots x 63 substeps); accepted: up to 500000"),
])  # fmt: skip
def test_what_cannot_be_rolled_out_is_refused_and_not_tried(service, engines, change, words):
    reply = service.answer(rollout_request(**change))
    assert isinstance(reply, Refusal) and reply.id == 7
    assert words in reply.reason
    assert not engines or not engines[0].asked


def test_limits_themselves_are_accepted(service):
    most_steps = {"c": 5, "n": MOST_KNOTS, "substeps": MOST_STEPS // (5 * MOST_KNOTS)}
    for change in ({"c": MOST}, {"n": MOST_KNOTS}, {"substeps": MOST_SUBSTEPS}, most_steps):
        assert isinstance(service.answer(rollout_request(**change)), RolloutReply)


def test_the_largest_answer_fits_in_a_frame():
    """One substep a knot: MOST_STEPS knots in all, and a state more for each candidate."""
    numbers = 37 * (MOST_STEPS + MOST_CANDIDATES) + (12 + 4) * MOST_STEPS
    assert 8 * numbers < MOST_BYTES


def test_the_benchs_largest_batch_is_served():
    """4096 candidates over the planner's horizon of 50 knots of two substeps."""
    assert MOST_CANDIDATES * 50 * 2 <= MOST_STEPS


def test_a_backend_that_breaks_is_a_refusal_and_the_next_request_is_served(engines):
    class Broken(Engine):
        def roll_out(self, x0, policies):
            if not self.asked:
                self.asked.append(policies)
                raise RuntimeError("two\nlines")
            return super().roll_out(x0, policies)

    service = PhysicsService("toy", "a toy", MOST, Broken, World)
    assert service.answer(rollout_request()) == Refusal(id=7, reason="RuntimeError: two lines")
    assert isinstance(service.answer(rollout_request()), RolloutReply)


def test_what_is_not_served_is_refused():
    service = PhysicsService("toy", "a toy", MOST)
    for request in (rollout_request(), world_request(), tick_request(), place_request()):
        reply = service.answer(request)
        assert isinstance(reply, Refusal) and reply.id == request.id


def test_a_world_is_its_clients_who_began_it_last(service):
    assert isinstance(service.answer(tick_request(), b"a"), Refusal)
    assert isinstance(service.answer(world_request(), b"a"), WorldReply)
    assert isinstance(service.answer(tick_request(), b"a"), WorldReply)
    assert isinstance(service.answer(place_request(), b"b"), Refusal)
    assert isinstance(service.answer(world_request(), b"b"), WorldReply)
    assert isinstance(service.answer(tick_request(), b"a"), Refusal)
    assert isinstance(service.answer(place_request(), b"b"), WorldReply)
    assert service._world.happened == ["begin", "tick", "begin", "place"]


def test_a_world_that_breaks_is_a_refusal():
    class Broken(World):
        def tick(self, request):
            raise ValueError("no such motor")

    service = PhysicsService("toy", "a toy", MOST, None, Broken)
    service.answer(world_request())
    request = replace(tick_request(), id=9)
    assert service.answer(request) == Refusal(id=9, reason="ValueError: no such motor")
