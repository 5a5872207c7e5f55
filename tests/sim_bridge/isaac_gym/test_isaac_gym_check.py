"""`--check` passes where all is as assumed, and names what is not."""

import numpy as np
import pytest

from sim_bridge.isaac_gym import server
from tests.sim_bridge.isaac_gym.stand_in import make_api, make_options

OPTIONS = make_options("--check-period", "0.002")


def failed(capsys, api=None):
    """The checks that fail."""
    passed = server.check(api or make_api(), OPTIONS)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6 and passed == all(line.startswith("PASS") for line in lines)
    return {line[4:32].strip() for line in lines if line.startswith("FAIL")}


def test_all_is_well(capsys):
    assert failed(capsys) == set()


def test_the_velocity_of_another_point(capsys):
    assert failed(capsys, make_api("origin")) == {"velocity of the root"}
    options = make_options("--root-velocity", "origin", "--check-period", "0.002")
    assert server.check(make_api("origin"), options)


def wrong_quaternion(x, point):
    root = RIGHT_ROOT(x, point)
    return np.concatenate((root[:, :3], root[:, 6:7], root[:, 3:6], root[:, 7:]), axis=1)


def wrong_frame(x, point):
    return np.concatenate((x[:, :7], x[:, 19:25]), axis=1)


RIGHT_ROOT = server.root_from_x


@pytest.mark.parametrize("wrong", [wrong_quaternion, wrong_frame])
def test_wrong_states(wrong, capsys, monkeypatch):
    monkeypatch.setattr(server, "root_from_x", wrong)
    assert "state round trip" in failed(capsys)


def test_joints_in_the_order_of_the_urdf(capsys, monkeypatch):
    """Read and driven alike they are consistent among themselves; the feet tell."""
    find = server.Simulation._find_names

    def assume(self, asset):
        find(self, asset)
        self._joints = list(range(12))

    monkeypatch.setattr(server.Simulation, "_find_names", assume)
    assert failed(capsys) == {"feet are told apart"}
