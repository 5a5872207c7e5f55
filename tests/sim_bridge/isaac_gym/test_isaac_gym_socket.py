"""The server's loop over a real socket, with our own client; and processes that die."""

import json
import threading

import numpy as np
import pytest

from robots.a1.constants import STAND_HEIGHT, STAND_JOINTS
from runtime.key_files import make_key_files, public_file
from runtime.physics_messages import Hello, PlaceRequest, Refusal, decode_reply
from runtime.wire import encode
from sim_bridge.isaac_gym import server
from sim_bridge.rollouts.mujoco_batch import MujocoRollout
from sim_bridge.rollouts.options import ServerOptions
from sim_bridge.rollouts.remote import RemoteRollout
from tests.sim_bridge.isaac_gym.stand_in import InProcess, make_front, make_options
from tests.sim_bridge.isaac_gym.test_isaac_gym_rollouts import policies

STAND = np.concatenate([[0, 0, STAND_HEIGHT - 0.002, 0, 0, 0, 1], STAND_JOINTS, np.zeros(18)])


def serve_to(client, monkeypatch, *arguments):
    """Serve in this thread, as signals want it, until `client` in another has ended."""
    options = make_options(*arguments)
    made, answers = threading.Event(), []

    class Soon(server.Stop):
        def __call__(self):
            return done.is_set()

    def worker(options, stop):
        made.set()
        return InProcess(options)

    def ask():
        made.wait(20.0)
        try:
            answers.append(client())
        finally:
            done.set()

    done = threading.Event()
    monkeypatch.setattr(server, "Worker", worker)
    monkeypatch.setattr(server, "Stop", Soon)
    monkeypatch.setattr(server.signal, "signal", lambda *_: None)
    thread = threading.Thread(target=ask)
    thread.start()
    server.serve(options)
    thread.join()
    return answers[0]


@pytest.mark.parametrize("keys", [False, True], ids=["plain", "keys"])
def test_our_client_rolls_out_there(keys, tmp_path, monkeypatch, capsys):
    address, arguments, key_file = f"ipc://{tmp_path}/gym.ipc", [], ""
    if keys:
        secret = tmp_path / "key"
        make_key_files(secret)
        arguments, key_file = ["--key-file", str(secret)], str(public_file(secret))
    options = ServerOptions(address=address, key_file=key_file)

    def client():
        local = MujocoRollout(8, 0.01, 2)
        remote = RemoteRollout(options, local, 0.01, 2, 20.0, "isaacgym")
        return remote.roll_out(STAND, policies()), remote.statistics()

    arguments = ["--envs", "9", "--address", address, *arguments]
    batch, statistics = serve_to(client, monkeypatch, *arguments)
    reference = MujocoRollout(8, 0.01, 2).roll_out(STAND, policies())
    np.testing.assert_allclose(batch.states, reference.states, atol=2e-4)
    assert not np.array_equal(batch.states, reference.states), "the client answered itself"
    assert statistics["fallbacks"] == 0
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert report["backend"] == "isaacgym" and report["requests"] >= 2
    assert report["undecodable"] == report["restarts"] == 0


class Mortal:
    """A worker that dies over everything but a greeting."""

    def __init__(self, log):
        self._log = log
        log.append("made")

    def ask(self, frame, client):
        if server.decode(frame)["kind"] == "hello":
            return server.encode({"kind": "refusal", "id": 0, "reason": "alive"})
        raise EOFError

    def close(self):
        self._log.append("closed")
        return "exit code -11"


def test_a_process_that_dies_is_told_and_replaced():
    log = []
    front = server.Front(lambda: Mortal(log))
    reply = decode_reply(front.answer(encode(PlaceRequest(id=8, q=np.ones(19), v=np.ones(18)))))
    assert isinstance(reply, Refusal) and reply.id == 8 and "-11" in reply.reason
    assert log == ["made", "closed", "made"] and front.restarts == 1
    assert front.answer(encode(Hello(id=1, protocol=2)))


def test_a_process_that_dies_when_all_is_to_stop_is_not_replaced():
    log, stopping = [], []

    def make():
        if stopping:
            raise EOFError
        return Mortal(log)

    front = server.Front(make)
    stopping.append(True)
    assert front.answer(encode(PlaceRequest(id=8, q=np.ones(19), v=np.ones(18)))) == b""


def test_who_stops_it_before_isaac_gym_is_there_sees_no_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(server.Stop, "__call__", lambda self: True)
    monkeypatch.setattr(server.signal, "signal", lambda *_: None)
    address = f"ipc://{tmp_path}/gym.ipc"
    assert server.main(["--role", "robot", "--device", "cpu", "--address", address]) == 0
    said = capsys.readouterr()
    assert said.out == said.err == ""


def test_a_process_that_dies_at_its_start_is_one_line(monkeypatch):
    monkeypatch.setattr(server, "work", dies)
    with pytest.raises(server.Unusable, match="ended at its start .exit code 3"):
        server.Worker(make_options(), lambda: False)


def dies(pipe, options):
    raise SystemExit(3)


def test_noise_gets_no_answer():
    assert make_front().answer(b"noise") == b""


def test_a_worker_is_a_process_and_says_when_isaac_gym_is_not_there():
    with pytest.raises(server.Unusable, match="isaacgym does not import"):
        server.Worker(make_options(), lambda: False)
