"""Rollouts by a server: the same bits; whatever the server does, no call is left without a result.

The servers here are real sockets; what they answer is scripted, so that each way to fail is one.
"""

import logging
import threading
import time

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_array_equal

from runtime.exchange import Responder
from runtime.key_files import CurveKeys, make_key_files, public_file
from runtime.physics_messages import (
    PROTOCOL,
    Hello,
    Refusal,
    RolloutReply,
    ServerInfo,
    decode_request,
)
from runtime.wire import encode
from sim_bridge import physics_client
from sim_bridge.options import RolloutServerOptions
from sim_bridge.physics_service import NOBODY
from sim_bridge.rollouts.remote import RemoteRollout
from sim_bridge.rollouts.unavailable import Unavailable
from tests.a1 import A1
from tests.refusals import refusal
from tests.saltus.programs import wait_until
from tests.sim_bridge.physics.requests import StillRollout
from tests.sim_bridge.rollouts import motions

PERIOD, SUBSTEPS, C, N = 0.01, 2, 3, 4
PATIENCE_S = 20.0
FOREVER_S = 10.0 * PATIENCE_S  # a wait that must end early
LATE_S = 0.05  # after which a silent server is given up
HERE, THERE = 1.0, 2.0  # numbers in the results of the local physics and of scripted servers


def rolled(request, c=None, n=None):
    """A scripted server's answer, which fits unless told otherwise."""
    c, n = c or len(request.policy_index), n or request.inputs.shape[1]
    return RolloutReply(
        id=request.id, states=np.full((c, n + 1, 37), THERE), inputs=np.zeros((c, n, 12)),
        normal_forces=np.zeros((c, n, 4)), finite=[True] * c, compute_s=0.0,
    )  # fmt: skip


def info(request, **changes):
    return replace(
        ServerInfo(
            id=request.id, protocol=PROTOCOL, backend="toy", device="a toy", most_candidates=99,
            rollouts=True, robot=False, moves_ground=True,
        ),
        **changes,
    )  # fmt: skip


class Script:
    """A server of which every answer to a rollout is `answers(request)`: frames, or None to go."""

    def __init__(self, keys=None):
        self.answers = self.well
        self.greeting = {}
        self.rollouts = 0
        self._responder = Responder("tcp://127.0.0.1:0", keys)
        self.address = self._responder.address
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @staticmethod
    def well(request):
        return [encode(rolled(request))]

    def _run(self):
        while not self._stop.is_set():
            received = self._responder.receive(0.01)
            if received is None:
                continue
            client, frame = received
            request = decode_request(frame)
            if isinstance(request, Hello):
                frames = [encode(info(request, **self.greeting))]
            else:
                self.rollouts += 1
                frames = self.answers(request)
            if frames is None:
                break
            for answer in frames:
                self._responder.send(client, answer)
        self._responder.close()

    def close(self):
        self._stop.set()
        self._thread.join()


@pytest.fixture
def script():
    script = Script()
    yield script
    script.close()


def connect(address, wait_s=FOREVER_S, retry=0.02, **options):
    server = RolloutServerOptions(address=address, retry=retry, patience=PATIENCE_S, **options)
    return RemoteRollout(A1, server, StillRollout(HERE), PERIOD, SUBSTEPS, wait_s)


def where(rollout, c=C, n=N):
    """Whose result a call has; it must be there, early and whole."""
    begin = time.monotonic()
    batch = rollout.roll_out(motions.STAND, motions.policies(n, c))
    assert time.monotonic() - begin < FOREVER_S
    assert batch.states.shape == (c, n + 1, 37) and batch.finite.shape == (c,)
    return batch.states[0, 0, 0]


def other_ids(request):
    return [encode(replace(rolled(request), id=request.id + k)) for k in (-1, 1, 5)]


BAD_ANSWERS = {
    "silence": lambda request: [],
    "other ids": other_ids,
    "many other ids": lambda request: 50 * other_ids(request),
    "garbage": lambda request: [b"\xc1garbage"],
    "nothing": lambda request: [b""],
    "another kind": lambda request: [encode(info(request))],
    "fewer candidates": lambda request: [encode(rolled(request, c=C - 1))],
    "more knots": lambda request: [encode(rolled(request, n=N + 1))],
    "fewer flags": lambda request: [encode(replace(rolled(request), finite=[True]))],
}


@pytest.mark.parametrize("answers", BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_a_server_lost_in_a_call_costs_no_result(script, caplog, answers):
    rollout = connect(script.address, wait_s=LATE_S, retry=FOREVER_S)
    script.answers = answers
    with caplog.at_level(logging.WARNING):
        assert where(rollout) == HERE
        asked = script.rollouts
        assert where(rollout) == HERE  # at once: nobody is asked
    assert script.rollouts == asked
    [line] = caplog.messages
    assert script.address in line and "lost" in line and "\n" not in line
    statistics = rollout.statistics()
    assert [statistics[key] for key in ("requests", "fallbacks", "losses")] == [2, 2, 1]
    assert statistics["round_trip_ms"]["p99"] == 0.0


def test_a_refusal_is_said_once_and_the_server_asked_again(script, caplog):
    rollout = connect(script.address)
    for request_id in (None, NOBODY):
        script.answers = lambda request, i=request_id: [
            encode(Refusal(id=i or request.id, reason="too many candidates"))
        ]
        assert where(rollout) == HERE
    [line] = caplog.messages
    assert "too many candidates" in line and script.address in line
    script.answers = script.well
    assert where(rollout) == THERE
    statistics = rollout.statistics()
    assert [statistics[key] for key in ("fallbacks", "refusals", "losses")] == [2, 2, 0]


@pytest.fixture
def hurried(monkeypatch):
    monkeypatch.setattr(physics_client, "LOCAL_PATIENCE_S", 0.2)


def unavailable(address, **options):
    return refusal(Unavailable, connect, address, **options)


def test_keys_that_do_not_fit_are_said(hurried, tmp_path):
    own, other = tmp_path / "own", tmp_path / "other"
    keys = make_key_files(own)
    make_key_files(other)
    script = Script(keys=CurveKeys(keys.public, keys.secret))
    try:
        assert where(connect(script.address, key_file=str(public_file(own)))) == THERE
        assert "other.pub" in unavailable(script.address, key_file=str(public_file(other)))
        assert "wants a key" in unavailable(script.address)
        assert "secret half" in unavailable(script.address, key_file=str(own))
        assert "none.pub" in unavailable(script.address, key_file=str(tmp_path / "none.pub"))
    finally:
        script.close()


def refuses(request):
    return [encode(Refusal(id=request.id, reason="no engine"))]


@pytest.mark.parametrize("answers, greeting, word", [
    (Script.well, None, "`saltus serve`"),
    (Script.well, {"protocol": PROTOCOL + 1}, "protocol"),
    (Script.well, {"rollouts": False}, "no rollouts"),
    (refuses, {}, "no engine"), (lambda request: None, {}, "broke"),
    (lambda request: [b"\xc1"], {}, "no message"),
])  # fmt: skip
def test_a_server_that_does_not_do_is_one_line(hurried, script, answers, greeting, word):
    script.answers, script.greeting, address = answers, greeting, script.address
    if greeting is None:  # nobody is there
        script.close()
    line = unavailable(address)
    assert address in line and word in line
    assert "192.0.2.1" in unavailable("tcp://192.0.2.1:46200")  # without a key


def test_numbers_that_are_none_are_a_diverged_candidate(script):
    rollout = connect(script.address)

    def answers(request):
        reply = rolled(request)
        reply.states[0, 2, 5] = reply.normal_forces[1, 0, 0] = np.nan
        return [encode(reply)]

    script.answers = answers
    batch = rollout.roll_out(motions.STAND, motions.policies(N, C))
    assert_array_equal(batch.finite, [False, False, True])


def test_a_server_that_goes_in_a_call_is_noticed_without_the_wait(script):
    rollout = connect(script.address, wait_s=FOREVER_S)
    script.answers = lambda request: None
    assert where(rollout) == HERE and rollout.statistics()["losses"] == 1


def test_a_server_that_comes_back_is_asked_again(script, caplog):
    rollout = connect(script.address, wait_s=LATE_S)
    script.answers = lambda request: []
    assert where(rollout) == HERE
    script.answers, rollout.wait_s = script.well, PATIENCE_S
    wait_until(lambda: where(rollout) == THERE)
    assert len(caplog.messages) == 2 and rollout.statistics()["losses"] == 1
