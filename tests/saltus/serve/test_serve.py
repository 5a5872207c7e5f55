"""`saltus serve`: who may ask, what it says, and that it answers and ends as it should."""

import json
import signal
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from runtime.exchange import Responder
from runtime.key_files import read_secret
from saltation.hilqr import Policies
from saltus.cli.main import run
from saltus.serve import server_child
from sim_bridge.options import RolloutServerOptions
from sim_bridge.rollouts.remote import RemoteRollout
from sim_bridge.rollouts.threaded import ThreadedRollout
from tests.a1 import A1
from tests.saltus.programs import start, wait_until
from tests.sim_bridge.rollouts.motions import STAND
from tests.tables import table

FREE = "tcp://127.0.0.1:0"
PATIENCE_S = 60.0


@pytest.mark.parametrize("arguments, words", table("""
    --backend bullet => bullet | mujoco | warp
    --address 'tcp://*:46200' => tcp://*:46200 | --key-file NAME | 127.0.0.1
    --address tcp://192.0.2.1:46200 => --key-file NAME
    --address here => here | tcp://HOST:PORT | ipc://FILE
    --threads 0 => --threads | greater than or equal to 1
    --threads 1000000 => --threads | less than or equal to 1024
    --duration 0 => --duration | than or equal
    --duration nan => --duration | than or equal
    --key-file /proc/none/key => /proc/none/key
    --key-file /dev/null => holds no key
    bullet => bullet | isaacgym
    --check => isaacgym
    isaacgym --python /nowhere/python => /nowhere/python | --python PATH
    isaacgym --address 'tcp://*:46200' => --key-file NAME
    --keys k => --keys | --key-file | --address | --backend
"""))  # fmt: skip
def test_a_bad_request_names_what_is_accepted(refuses, arguments, words):
    refuses("serve " + arguments, words)


def test_an_occupied_address_is_one_line(refused):
    with Responder(FREE) as responder:
        line = refused("serve", "--address", responder.address)
    assert responder.address in line and "another --address" in line


def test_isaac_gyms_server_says_what_is_missing_in_its_python():
    check = start(
        "serve", "isaacgym", "--check", "--python", sys.executable, "--", "--device", "cpu"
    )
    _, error = check.communicate(timeout=PATIENCE_S)
    assert check.returncode == 2 and error.count("\n") == 1
    assert "isaacgym does not import" in error and "pip install" in error


def test_says_where_it_listens_and_what_it_did(capsys, tmp_path):
    key_file = tmp_path / "k"
    arguments = ["--address", FREE, "--key-file", str(key_file), "--threads", "2"]
    assert run(["serve", *arguments, "--duration", "0.1", "--json"]) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out.splitlines()[-1])
    assert (result["backend"], result["requests"], result["refusals"]) == ("mujoco", 0, 0)
    assert result["device"].endswith("2 threads") and result["ms"]["p99"] == 0.0
    assert f"listens at {result['address']}" in captured.err
    assert f"--set remote.address={result['address']}" in captured.err
    assert read_secret(key_file).secret not in captured.err + captured.out
    assert run(["serve", *arguments, "--duration", "0.1"]) == 0  # the same key again
    assert "0 requests" in capsys.readouterr().out


def test_a_child_with_keys_rolls_out_as_here(tmp_path):
    local = ThreadedRollout(A1, 6, 0.01, 2, 2)
    policies = Policies.of(
        np.tile(STAND, (7, 1)), np.ones((6, 12)), np.zeros((6, 12, 36)),
        np.ones((6, 12)), (0.0, 0.5, 1.0),
    )  # fmt: skip
    with server_child(threads=2, key_file=tmp_path / "k") as address:
        server = RolloutServerOptions(address, str(tmp_path / "k.pub"), patience=PATIENCE_S)
        remote = RemoteRollout(A1, server, local, 0.01, 2, PATIENCE_S)
        found = remote.roll_out(STAND, policies)
        assert remote.statistics()["fallbacks"] == 0
    for left, right in zip(local.roll_out(STAND, policies), found, strict=True):
        assert_array_equal(left, right)
    again = remote.roll_out(STAND, policies)  # it has gone: here, then
    assert_array_equal(again.states, found.states)
    assert remote.statistics()["losses"] == 1
    remote.close()


def test_ends_in_order_on_ctrl_c(tmp_path):
    log = tmp_path / "log"
    with log.open("w") as err:
        server = start("serve", "--address", FREE, "--json", stderr=err)
    wait_until(lambda: "plan with it" in log.read_text(), patience_s=PATIENCE_S)
    server.send_signal(signal.SIGINT)
    out, _ = server.communicate(timeout=PATIENCE_S)
    assert server.returncode == 0
    assert json.loads(out.splitlines()[-1])["backend"] == "mujoco"
    assert "Traceback" not in log.read_text()
