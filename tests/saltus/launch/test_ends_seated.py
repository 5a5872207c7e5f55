"""Signals on an A1: told to end, the tracker's loop goes on until the robot is off."""

import os
import signal

import pytest

from saltus.common.processes import PEER_GONE
from saltus.launch.hardware_processes import EndsSeated


class Robot:
    """A bridge that sits down when it is told to."""

    def __init__(self):
        self.is_finished = False
        self.ends = []

    def end(self, cause=""):
        self.ends.append(cause)


@pytest.fixture
def robot():
    before = signal.getsignal(PEER_GONE)
    yield Robot()
    signal.signal(PEER_GONE, before)


def test_a_stop_ends_the_loop_only_once_the_robot_is_off(robot):
    told = []
    ends = EndsSeated(lambda: bool(told), robot)
    assert not ends() and robot.ends == []
    told.append(True)
    assert not ends() and not ends()
    assert robot.ends == [""]
    robot.is_finished = True
    assert ends()


def test_a_peers_death_touches_the_robot_between_two_ticks_only(robot):
    ends = EndsSeated(lambda: False, robot)
    os.kill(os.getpid(), PEER_GONE)
    assert robot.ends == []  # the handler may run in the middle of a tick
    assert not ends() and not ends()
    assert robot.ends == ["the planner or the estimator died"]


def test_a_launcher_that_has_gone_is_the_cause_though_its_signal_comes_first(robot, monkeypatch):
    parents = iter([10, 10, 10, 1, 1, 1])
    monkeypatch.setattr(os, "getppid", lambda: next(parents))
    ends = EndsSeated(lambda: True, robot)
    for _ in range(5):
        assert not ends()
    assert robot.ends == ["", "the launcher has gone"]
