"""Who listens to a launch: every topic while processes wait for it, then what it needs."""

import time

import numpy as np
import pytest

from runtime.bus import Bus
from runtime.endpoints import Endpoints
from runtime.messages import MotorCommand
from runtime.topics import MOTOR_COMMAND, PLAN
from saltus.listener import Listener
from saltus.metrics import RunMetrics
from tests.controller.tracker_messages import plan


def command(tick):
    zero = np.zeros(12)
    return MotorCommand(
        tick=tick, time=1e-3 * tick, q=zero, dq=zero, kp=zero, kd=zero, tau=zero, plan_id=1,
        status="ok",
    )  # fmt: skip


def drain_until(listener, condition):
    deadline = time.monotonic() + 10.0
    while not condition() and time.monotonic() < deadline:
        listener.drain()
        time.sleep(0.01)
    assert condition()


@pytest.mark.parametrize("records", [False, True])
def test_topics_that_nobody_needs_are_given_up_once_all_have_begun(tmp_path, records):
    """A tracker that has begun is not enough: the planner may still wait for its listeners."""
    with Bus(Endpoints.ipc(tmp_path / "bus")) as bus:
        plans, commands = bus.publisher(PLAN), bus.publisher(MOTOR_COMMAND)
        listener = Listener(bus, RunMetrics(), tmp_path / "run.mcap" if records else None)
        assert plans.wait_for_subscribers(1, 10.0) and commands.wait_for_subscribers(1, 10.0)
        commands.send(command(7))
        drain_until(listener, lambda: listener.ticks["motor_command"] == 7)
        commands.send(command(8))
        drain_until(listener, lambda: listener.ticks["motor_command"] == 8)
        plans.send(plan(1, 3))
        drain_until(listener, lambda: listener.ticks["plan"] == 3)
        drain_until(listener, lambda: commands.subscribers() == int(records))
        plans.send(plan(2, 4))
        drain_until(listener, lambda: listener.ticks["plan"] == 4)
        assert listener.plans == 2
        listener.close()
