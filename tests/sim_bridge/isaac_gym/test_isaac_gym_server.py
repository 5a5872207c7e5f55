"""The server's file alone: what it imports, its options, its check, its processes and socket."""

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots.urdf import urdf_of
from runtime import physics_messages as messages
from runtime.key_files import make_key_files, public_file
from sim_bridge.isaac_gym import server
from sim_bridge.options import RolloutServerOptions
from sim_bridge.rollouts.remote import RemoteRollout
from sim_bridge.rollouts.threaded import ThreadedRollout
from tests.a1 import A1
from tests.refusals import refusal
from tests.sim_bridge.isaac_gym.stand_in import make_api, make_options
from tests.sim_bridge.isaac_gym.stand_in_gym import Gym
from tests.sim_bridge.rollouts.motions import on_its_feet, policies

FILE, ROOT = Path(server.__file__), Path(__file__).parents[3]
ALLOWED = {"numpy", "zmq", "msgpack", "isaacgym", "torch"}  # and the standard library
PATIENCE_S = 60.0


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def test_it_is_python_38_imports_nothing_of_ours_and_speaks_our_protocol():
    names = set(imported(ast.parse(FILE.read_text(), feature_version=(3, 8))))
    assert names >= ALLOWED and names - ALLOWED <= set(sys.stdlib_module_names)
    tags = {kind.__struct_config__.tag for kind in messages.Request.__args__}
    assert set(server.SHAPES) == tags and server.PROTOCOL == messages.PROTOCOL


@pytest.fixture
def urdf(tmp_path):
    file = tmp_path / "a1.urdf"
    file.write_text(urdf_of(A1))
    return str(file)


@pytest.mark.parametrize("arguments, named", [
    ([], "isaacgym does not import"), (["--check"], "Python 3.8"),
    (["--address", "tcp://0.0.0.0:46210"], "--key-file"),
    (["--address", "udp://127.0.0.1:1"], "--key-file"), (["--address", "ipc://"], "ipc://"),
    (["--key-file", "/nowhere/key"], "/nowhere/key"), (["--key-file", os.devnull], os.devnull),
    (["--urdf", "/nowhere/a1.urdf"], "/nowhere/a1.urdf"),
])  # fmt: skip
def test_what_cannot_work_is_one_line(urdf, arguments, named, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(server.signal, "signal", lambda *_: None)
    usual = ["--urdf", urdf, "--address", f"ipc://{tmp_path}/gym"]
    assert server.main(usual + arguments) == 2
    said = capsys.readouterr().err
    assert named in said and said.count("\n") == 1


def test_a_key_file_that_others_may_read_and_a_public_half_are_refused(tmp_path):
    file = tmp_path / "k"
    make_key_files(file)
    for name, named in ((public_file(file), "pub"), (file, "chmod 600")):
        file.chmod(0o644)
        assert named in refusal(
            server.Refused, server.open_socket, f"ipc://{tmp_path}/gym", str(name)
        )


def failed(capsys, velocity_at="com", **options):
    """The checks that fail."""
    ok = server.check(make_api(Gym(velocity_at)), make_options(**options))
    said = capsys.readouterr()
    assert said.err.count("\n") == 5
    result = json.loads(said.out)
    assert result["ok"] == ok == (not result["failed"])
    return set(result["failed"])


def test_the_check_passes_where_all_is_as_assumed_and_names_what_is_not(capsys, monkeypatch):
    assert failed(capsys) == failed(capsys, "origin", root_velocity="origin") == set()
    assert failed(capsys, "origin") == {"velocity of the root"}
    right = server.root_from_x

    def other_quaternion(t, x, point):
        root = right(t, x, point)
        return t.cat((root[:, :3], root[:, 6:7], root[:, 3:6], root[:, 7:]), dim=-1)

    for wrong in (other_quaternion, lambda t, x, point: t.cat((x[:, :7], x[:, 19:25]), dim=-1)):
        monkeypatch.setattr(server, "root_from_x", wrong)
        assert "state round trip" in failed(capsys)
    monkeypatch.setattr(server, "root_from_x", right)
    find = server.Simulation._find_names

    def in_the_urdfs_order(self, asset):
        find(self, asset)
        self._order = list(range(12))

    monkeypatch.setattr(server.Simulation, "_find_names", in_the_urdfs_order)
    assert failed(capsys) == {"feet are told apart"}


def test_our_client_rolls_out_there(tmp_path, urdf):
    """In processes, with a key; another period needs another one of Isaac Gym."""
    (tmp_path / "isaacgym.py").write_text(
        "import sys\n"
        "from tests.sim_bridge.isaac_gym.stand_in_gym import Gym, gymapi, gymtorch, torch\n"
        "gymapi.acquire_gym, sys.modules['torch'] = Gym, torch\n"
    )
    key, address = tmp_path / "key", f"ipc://{tmp_path}/gym"
    make_key_files(key)
    command = [sys.executable, str(FILE), "--urdf", urdf, "--address", address, "--device", "cpu"]
    child = subprocess.Popen(
        [*command, "--key-file", str(key)], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"},
    )  # fmt: skip
    try:
        assert "listens" in child.stderr.readline()
        server_options = RolloutServerOptions(address, str(public_file(key)), patience=PATIENCE_S)
        for period in (0.01, 0.02):
            local = ThreadedRollout(A1, 8, period, 2)
            asked = A1, server_options, local, period, 2, PATIENCE_S, "isaacgym"
            remote = RemoteRollout(*asked)
            found = remote.roll_out(on_its_feet(), policies(8))
            wanted = local.roll_out(on_its_feet(), policies(8))
            assert_allclose(found.states, wanted.states, atol=2e-4)
            assert not np.array_equal(found.states, wanted.states)  # the client answered itself
            remote.close()
    finally:
        child.send_signal(signal.SIGTERM)
        out, err = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 0, err
    assert json.loads(out)["backend"] == "isaacgym"
