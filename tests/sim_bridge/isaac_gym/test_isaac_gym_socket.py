"""The server's loop over a real socket, with our own client; and processes that die."""

import json
import multiprocessing
import signal
import threading

import numpy as np
import pytest

from runtime.key_files import make_key_files, public_file
from runtime.physics_messages import Hello, PlaceRequest, Refusal, decode_reply
from runtime.wire import encode
from sim_bridge.isaac_gym import server
from sim_bridge.options import ServerOptions
from sim_bridge.rollouts.mujoco_batch import MujocoRollout
from sim_bridge.rollouts.remote import RemoteRollout
from sim_bridge.rollouts.unavailable import Unavailable
from tests.a1 import A1
from tests.sim_bridge.isaac_gym.stand_in import InProcess, make_front, make_options
from tests.sim_bridge.isaac_gym.test_isaac_gym_rollouts import policies

STAND = np.concatenate([[0, 0, A1.stand_height - 0.002, 0, 0, 0, 1], A1.stand, np.zeros(18)])


def serve_to(client, monkeypatch, *arguments, make=InProcess):
    """Serve in this thread, as signals want it, until `client` in another has ended."""
    options = make_options(*arguments)
    made, answers = threading.Event(), []

    class Soon(server.Stop):
        def __call__(self):
            return done.is_set()

    def worker(options, stop):
        made.set()
        return make(options)

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
    try:
        server.serve(options)
    finally:
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
        local = MujocoRollout(A1, 8, 0.01, 2)
        remote = RemoteRollout(A1, options, local, 0.01, 2, 20.0, "isaacgym")
        return remote.roll_out(STAND, policies()), remote.statistics()

    arguments = ["--envs", "9", "--address", address, *arguments]
    batch, statistics = serve_to(client, monkeypatch, *arguments)
    reference = MujocoRollout(A1, 8, 0.01, 2).roll_out(STAND, policies())
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


def test_physics_that_hangs_ends_the_server_and_the_client_is_told(tmp_path, monkeypatch):
    address, refused, told = f"ipc://{tmp_path}/gym.ipc", [], threading.Event()

    class Hanging(InProcess):
        """A worker whose physics hangs, and whose process takes its time to end."""

        def ask(self, frame, client):
            if server.decode(frame)["kind"] == "rollout":
                raise server.Hung("Isaac Gym hangs: no answer in 120 s; the server ends")
            return super().ask(frame, client)

        def close(self):
            told.wait(20.0)
            return super().close()

    def client():
        with pytest.raises(Unavailable) as caught:
            RemoteRollout(A1, ServerOptions(address), MujocoRollout(A1, 8, 0.01, 2), 0.01, 2, 20.0)
        refused.append(str(caught.value))
        told.set()

    with pytest.raises(server.Hung, match="hangs"):
        serve_to(client, monkeypatch, "--envs", "9", "--address", address, make=Hanging)
    assert "does not roll out: Isaac Gym hangs: no answer in 120 s" in refused[0]


def test_a_server_whose_physics_hangs_ends_with_status_1_and_one_line(monkeypatch, capsys):
    def hang(options):
        raise server.Hung("Isaac Gym hangs: no answer in 120 s; the server ends")

    monkeypatch.setattr(server, "serve", hang)
    assert server.main(["--role", "robot", "--device", "cpu"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "server.py: Isaac Gym hangs: no answer in 120 s; the server ends\n"


def test_a_process_that_gives_no_answer_is_given_up_and_killed(monkeypatch):
    monkeypatch.setattr(server, "work", answers_nothing)
    worker = server.Worker(make_options("--patience", "0.2"), lambda: False)
    with pytest.raises(server.Hung, match="no answer in 0.2 s"):
        worker.ask(b"a question", b"a client")
    assert worker.close() == "exit code -15"


def answers_nothing(pipe, options):
    pipe.send_bytes(b"")
    signal.pause()


def test_a_process_that_does_not_start_is_given_up_and_killed(monkeypatch):
    monkeypatch.setattr(server, "work", never_starts)
    monkeypatch.setattr(server, "START_S", 0.2)
    before = set(multiprocessing.active_children())  # of other tests
    with pytest.raises(server.Hung, match="no answer in 0.2 s"):
        server.Worker(make_options(), lambda: False)
    assert set(multiprocessing.active_children()) <= before


def never_starts(pipe, options):
    signal.pause()


def test_of_many_answers_the_newest_times_are_kept_and_all_are_counted():
    tally = server.Tally()
    for seconds in [1.0] * 7 + [0.001] * server.NEWEST:
        tally.add(seconds, b"" if seconds == 1.0 else b"reply")
    assert len(tally.times) == server.NEWEST
    expected = {"requests": 7 + server.NEWEST, "undecodable": 7, "ms": {"p50": 1.0, "p99": 1.0}}
    assert tally.report() == expected


def test_patience_is_a_time(capsys):
    for value in ("0", "-1", "nan", "inf"):
        assert server.main(["--role", "robot", "--patience", value]) == 2
        assert "give seconds in (0, 3600]" in capsys.readouterr().err


def dies(pipe, options):
    raise SystemExit(3)


def test_noise_gets_no_answer():
    assert make_front().answer(b"noise") == b""


def test_a_worker_is_a_process_and_says_when_isaac_gym_is_not_there():
    with pytest.raises(server.Unusable, match="isaacgym does not import"):
        server.Worker(make_options(), lambda: False)
