"""The physics server's loop: one answer a frame, counts at the end."""

import numpy as np

from runtime.exchange import Requester, Responder
from runtime.physics_messages import PROTOCOL, Hello, PlaceRequest, Refusal, decode_reply
from runtime.wire import encode
from sim_bridge import service_node
from sim_bridge.physics_service import NOBODY, PhysicsService
from tests.sim_bridge.physics.served_world import in_a_thread

PATIENCE_S = 20.0
HELLO = encode(Hello(id=1, protocol=PROTOCOL))
PLACE = encode(PlaceRequest(id=2, q=np.zeros(19), v=np.zeros(18)))  # refused: there is no world


def run_against(act):
    """The node's report after `act(address)`."""
    service, reports = PhysicsService("toy", "a toy", 8), []
    with Responder("tcp://127.0.0.1:0") as responder:
        with in_a_thread(lambda end: reports.append(service_node.run(service, responder, end))):
            act(responder.address)
    return reports[0]


def ask(client, frame):
    assert client.wait_connected(PATIENCE_S)
    assert client.send(frame)
    answer = client.receive(PATIENCE_S)
    assert answer is not None
    return decode_reply(answer)


def test_answers_every_client_and_counts():
    def act(address):
        with Requester(address) as one, Requester(address) as two:
            assert ask(one, HELLO).backend == "toy"
            assert isinstance(ask(two, PLACE), Refusal)
            assert ask(one, PLACE).id == 2

    report = run_against(act)
    assert {key: report[key] for key in report if key != "ms"} == {
        "requests": 2, "refusals": 2, "undecodable": 0, "clients": 2,
    }  # fmt: skip
    assert 0.0 < report["ms"]["p50"] <= report["ms"]["p99"]


def test_what_cannot_be_read_is_refused_counted_and_survived():
    def act(address):
        with Requester(address) as client:
            for frame in (b"", b"\xc1", bytes(1000), PLACE[:-1], HELLO + b"x"):
                reply = ask(client, frame)
                assert isinstance(reply, Refusal) and reply.id == NOBODY
                assert "\n" not in reply.reason
            assert ask(client, HELLO).backend == "toy"

    report = run_against(act)
    assert (report["requests"], report["undecodable"]) == (0, 5)
