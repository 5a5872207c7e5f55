"""Rollouts by a server: the same bits; whatever the server does, no call is left without a result.

The servers here are real sockets; what they answer is scripted, so that each way to fail is one.
"""

import logging
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from msgspec.structs import replace

from hybrid.hilqr import Policies
from runtime.endpoints import CurveKeys
from runtime.exchange import Responder
from runtime.key_files import make_key_files, public_file
from runtime.physics_messages import (
    PROTOCOL,
    Hello,
    Refusal,
    RolloutReply,
    RolloutRequest,
    ServerInfo,
    decode_request,
)
from runtime.wire import encode
from sim_bridge import physics_client, service_node
from sim_bridge.options import ServerOptions
from sim_bridge.physics_service import NOBODY, PhysicsService
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.remote import RemoteRollout
from sim_bridge.rollouts.threaded import ThreadedRollout
from sim_bridge.rollouts.unavailable import Unavailable
from tests.a1 import A1

PERIOD, SUBSTEPS, C, N = 0.01, 2, 3, 4
PATIENCE_S = 20.0
FOREVER_S = 10.0 * PATIENCE_S  # a wait that must end early
LATE_S = 0.05  # after which a silent server is given up
HERE, THERE = 1.0, 2.0  # numbers in the results of the local physics and of scripted servers
STAND = np.concatenate([[0.0, 0.0, 0.3], [0.0, 0.0, 0.0, 1.0], A1.stand, np.zeros(18)])


def policies(c=C, n=N):
    rng = np.random.default_rng(0)
    gains = np.zeros((2, n, 12, 36))
    gains[:, :, range(12), range(6, 18)] = -60.0
    return Policies(
        np.tile(STAND, (2, n + 1, 1)), rng.normal(size=(2, n, 12)),
        rng.normal(size=(2, n, 12)), gains, np.arange(c) % 2, np.linspace(0.0, 2.0, c),
    )  # fmt: skip


class Local:
    """The physics here, which only says that it was asked."""

    def roll_out(self, x0, policies):
        c, n = policies.count, policies.inputs.shape[1]
        full = np.ones(c, dtype=np.bool_)
        states, inputs, forces = np.zeros((c, n + 1, 37)), np.zeros((c, n, 12)), np.zeros((c, n, 4))
        return RolloutBatch(states + HERE, inputs, forces, full)

    def advance(self, x, torque, duration):
        return x + duration

    def move_ground(self, ground):
        self.ground = ground


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

    def __init__(self, address="tcp://127.0.0.1:0", keys=None):
        self.answers = self.well
        self.greets = True
        self.rollouts = self.greetings = 0
        self._responder = Responder(address, keys)
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
                self.greetings += 1
                frames = [encode(info(request))] if self.greets else []
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
    server = ServerOptions(address=address, retry=retry, patience=PATIENCE_S, **options)
    return RemoteRollout(A1, server, Local(), PERIOD, SUBSTEPS, wait_s)


def where(rollout, c=C, n=N):
    """Whose result a call has; it must be there, early and whole."""
    begin = time.monotonic()
    batch = rollout.roll_out(STAND, policies(c, n))
    assert time.monotonic() - begin < FOREVER_S
    assert batch.states.shape == (c, n + 1, 37) and batch.finite.shape == (c,)
    return batch.states[0, 0, 0]


def until_back(rollout):
    deadline = time.monotonic() + PATIENCE_S
    while where(rollout) != THERE:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_served_mujoco_equals_local_to_the_bit(tmp_path):
    local = ThreadedRollout(A1, 15, PERIOD, SUBSTEPS, 2)
    service = PhysicsService(
        "mujoco", "here", 99, lambda *made: ThreadedRollout(A1, *made[:3], 2, made[3])
    )
    keys, stop = make_key_files(tmp_path / "k"), threading.Event()
    with Responder("tcp://127.0.0.1:0", keys) as responder:
        node = threading.Thread(target=service_node.run, args=(service, responder, stop.is_set))
        node.start()
        key_file = str(public_file(tmp_path / "k"))
        server = ServerOptions(address=responder.address, key_file=key_file)
        remote = RemoteRollout(A1, server, Local(), PERIOD, SUBSTEPS, PATIENCE_S)
        for c, n in ((9, 15), (1, 4)):
            policy = policies(c, n)
            policy.inputs[1, 1] = np.nan  # of candidates 1, 3, ...: diverged, and reported
            expected, found = local.roll_out(STAND, policy), remote.roll_out(STAND, policy)
            for left, right in zip(expected, found, strict=True):
                np.testing.assert_array_equal(left, right)
            assert 0.0 < remote.round_trip_s < PATIENCE_S
        stop.set()
        node.join()
    statistics = remote.statistics()
    assert (statistics["requests"], statistics["fallbacks"]) == (2, 0)
    assert statistics["device"] == "mujoco on here"
    assert 0.0 < statistics["added_ms"]["p50"] <= statistics["round_trip_ms"]["p99"]


def test_asks_the_server_and_advances_here(script):
    rollout = connect(script.address)
    assert where(rollout) == THERE
    assert (rollout.advance(STAND, np.zeros(12), 0.5) == STAND + 0.5).all()
    assert script.rollouts == 2  # the first tried it out


def test_time_of_the_physics_is_not_the_round_trips(script):
    rollout = connect(script.address)
    for claimed in (0.0, 1e9, -1e9, float("nan")):
        script.answers = lambda request, s=claimed: [encode(replace(rolled(request), compute_s=s))]
        assert where(rollout) == THERE
        assert 0.0 <= rollout.round_trip_s < PATIENCE_S


def test_numbers_that_are_none_are_a_diverged_candidate(script):
    rollout = connect(script.address)

    def answers(request):
        reply = rolled(request)
        reply.states[0, 2, 5] = np.nan
        reply.normal_forces[1, 0, 0] = np.inf
        return [encode(reply)]

    script.answers = answers
    batch = rollout.roll_out(STAND, policies())
    np.testing.assert_array_equal(batch.finite, [False, False, True])
    script.answers = lambda request: [encode(replace(rolled(request), finite=[True, False, True]))]
    np.testing.assert_array_equal(rollout.roll_out(STAND, policies()).finite, [True, False, True])


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


def test_a_server_that_goes_in_a_call_is_noticed_without_the_wait(script, caplog):
    rollout = connect(script.address, wait_s=FOREVER_S)
    script.answers = lambda request: None
    assert where(rollout) == HERE
    assert "broke" in caplog.messages[0]


KILLED = """
import os, sys, signal
import numpy as np
from runtime.exchange import Responder
from runtime.physics_messages import *
from runtime.wire import encode
with Responder("tcp://127.0.0.1:0") as responder:
    print(responder.address, flush=True)
    rollouts = 0
    while True:
        received = responder.receive(1.0)
        if received is None:
            continue
        request = decode_request(received[1])
        if isinstance(request, Hello):
            reply = ServerInfo(id=request.id, protocol=PROTOCOL, backend="toy", device="a toy",
                               most_candidates=9, rollouts=True, robot=False,
                               moves_ground=True)
        else:
            rollouts += 1
            if rollouts == 2:
                os.kill(os.getpid(), getattr(signal, sys.argv[1]))
            c, n = len(request.policy_index), request.inputs.shape[1]
            reply = RolloutReply(id=request.id, states=np.zeros((c, n + 1, 37)),
                                 inputs=np.zeros((c, n, 12)), normal_forces=np.zeros((c, n, 4)),
                                 finite=[True] * c, compute_s=0.0)
        responder.send(received[0], encode(reply))
"""


@pytest.mark.parametrize(("signal", "wait_s"), [("SIGKILL", FOREVER_S), ("SIGSTOP", LATE_S)])
def test_a_process_that_is_killed_or_stopped_in_a_call_costs_no_result(signal, wait_s):
    child = subprocess.Popen([sys.executable, "-c", KILLED, signal], stdout=subprocess.PIPE)
    try:
        address = child.stdout.readline().decode().strip()
        rollout = connect(address, wait_s=wait_s)
        assert where(rollout) == HERE
        assert where(rollout) == HERE
        assert rollout.statistics()["losses"] == 1
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def test_a_late_answer_is_not_the_next_questions(script):
    rollout = connect(script.address, wait_s=LATE_S)
    late = []

    def answers(request):
        if not late:
            late.append(encode(replace(rolled(request), states=np.full((C, N + 1, 37), 99.0))))
            return []
        return [late[0], *script.well(request)]

    script.answers = answers
    assert where(rollout) == HERE
    rollout.wait_s = PATIENCE_S
    until_back(rollout)
    assert where(rollout) == THERE


def test_what_comes_behind_an_answer_spoils_no_later_one(script):
    rollout = connect(script.address)
    script.answers = lambda request: [*script.well(request), b"\xc1garbage"]
    for _ in range(3):
        assert where(rollout) == THERE
        assert rollout._client._requester._socket.poll(1000 * PATIENCE_S)


def test_a_server_that_comes_back_is_asked_again(script, caplog):
    rollout = connect(script.address, wait_s=LATE_S)
    script.answers = lambda request: []
    assert where(rollout) == HERE
    script.answers, rollout.wait_s = script.well, PATIENCE_S
    until_back(rollout)
    assert "back" in caplog.messages[-1] and len(caplog.messages) == 2
    assert rollout.statistics()["losses"] == 1
    assert rollout._pause == 0.02  # as before the loss, for it has rolled out since


def test_another_server_at_the_same_address_will_do(caplog):
    first = Script()
    rollout = connect(first.address)
    assert where(rollout) == THERE
    first.close()
    assert where(rollout) == HERE
    second = Script(first.address)
    try:
        until_back(rollout)
    finally:
        second.close()


class Clock:
    """The time by which lost servers are looked for."""

    now = 0.0

    def monotonic(self):
        return self.now

    perf_counter = staticmethod(time.perf_counter)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("sim_bridge.rollouts.remote.time", clock)
    return clock


def test_a_lost_server_is_greeted_once_a_pause_however_often_rollouts_are_asked_for(script, clock):
    rollout = connect(script.address, wait_s=LATE_S, retry=1.0)
    script.answers, script.greets = lambda request: [], False
    assert where(rollout) == HERE
    before = script.greetings
    for _ in range(5):
        clock.now += 1.0
        for _ in range(10):
            assert where(rollout) == HERE
    until(lambda: script.greetings - before >= 5)
    assert script.greetings - before == 5
    assert rollout.statistics()["losses"] == 1  # it was asked for no rollout since


def test_who_answers_greetings_but_no_rollouts_is_asked_more_and_more_rarely(script, clock):
    rollout = connect(script.address, wait_s=LATE_S, retry=1.0)
    script.answers = lambda request: []
    assert where(rollout) == HERE
    for losses, pause in enumerate((1.0, 2.0, 4.0, 8.0, 16.0, 16.0), 1):
        clock.now += pause - 0.5
        where(rollout)
        time.sleep(LATE_S)  # in which an answer to a greeting would come
        assert where(rollout) == HERE and rollout.statistics()["losses"] == losses
        clock.now += 0.5
        until(lambda more=losses + 1: where(rollout) == HERE
              and rollout.statistics()["losses"] == more)  # fmt: skip


def until(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


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
    with pytest.raises(Unavailable) as caught:
        connect(address, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_nobody_there_names_what_to_start(hurried):
    with Responder("tcp://127.0.0.1:0") as responder:
        address = responder.address
    line = unavailable(address)
    assert address in line and "`saltus serve`" in line
    with pytest.raises(Unavailable, match="docs/isaac-gym.md"):
        RemoteRollout(A1, ServerOptions(address), Local(), PERIOD, SUBSTEPS, 1.0, "isaacgym")


def test_a_server_that_says_nothing_is_said_to(hurried, script):
    script.greets = False
    assert "does not answer" in unavailable(script.address)


@pytest.mark.parametrize(("changes", "word"), [
    ({"protocol": PROTOCOL + 1}, "protocol"), ({"rollouts": False}, "serves no rollouts"),
])  # fmt: skip
def test_a_server_of_another_kind_is_said(script, monkeypatch, changes, word):
    monkeypatch.setitem(globals(), "info", lambda request, make=info: make(request, **changes))
    assert word in unavailable(script.address)


@pytest.mark.parametrize(("answers", "word"), [
    (lambda request: [encode(Refusal(id=request.id, reason="no engine"))], "no engine"),
    (lambda request: None, "broke"),
    (lambda request: [b"\xc1"], "no message of ours"),
])  # fmt: skip
def test_a_server_that_fails_the_try_is_said(script, answers, word):
    script.answers = answers
    assert word in unavailable(script.address)


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


def test_another_machine_without_a_key_is_not_asked():
    assert "beyond this machine" in unavailable("tcp://192.0.2.1:46200")


def test_requests_say_what_is_to_be_rolled_out(script):
    rollout, seen = connect(script.address), []

    def answers(request):
        seen.append(request)
        return script.well(request)

    script.answers = answers
    where(rollout)
    policy, [request] = policies(), seen
    assert isinstance(request, RolloutRequest)
    assert (request.period, request.substeps) == (PERIOD, SUBSTEPS)
    assert request.policy_index == [0, 1, 0]
    for name in ("states", "inputs", "feedforward", "gains", "step_size"):
        np.testing.assert_array_equal(getattr(request, name), getattr(policy, name))
    np.testing.assert_array_equal(request.x0, STAND)
