"""The server's loop over a real socket, with our own client; and processes that die."""

import json
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose

from runtime.key_files import make_key_files, public_file
from sim_bridge.isaac_gym import server
from sim_bridge.options import ServerOptions
from sim_bridge.rollouts.mujoco_batch import MujocoRollout
from sim_bridge.rollouts.remote import RemoteRollout
from sim_bridge.rollouts.unavailable import Unavailable
from tests.a1 import A1
from tests.sim_bridge.isaac_gym.stand_in import InProcess, make_options
from tests.sim_bridge.rollouts.motions import on_its_feet, policies

STAND = on_its_feet()


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


def test_our_client_rolls_out_there(tmp_path, monkeypatch, capsys):
    address, secret = f"ipc://{tmp_path}/gym.ipc", tmp_path / "key"
    make_key_files(secret)
    options = ServerOptions(address=address, key_file=str(public_file(secret)))
    arguments = ["--envs", "9", "--address", address, "--key-file", str(secret)]

    def client():
        local = MujocoRollout(A1, 8, 0.01, 2)
        remote = RemoteRollout(A1, options, local, 0.01, 2, 20.0, "isaacgym")
        return remote.roll_out(STAND, policies(8)), remote.statistics()

    batch, statistics = serve_to(client, monkeypatch, *arguments)
    reference = MujocoRollout(A1, 8, 0.01, 2).roll_out(STAND, policies(8))
    assert_allclose(batch.states, reference.states, atol=2e-4)
    assert not np.array_equal(batch.states, reference.states), "the client answered itself"
    assert statistics["fallbacks"] == 0
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert report["backend"] == "isaacgym" and report["requests"] >= 2
    assert report["undecodable"] == report["restarts"] == 0
