"""Who listens to a launch: every topic while processes wait for it, then what it needs."""

import time

import numpy as np
import pytest

from runtime.bus import Bus
from runtime.endpoints import Endpoints
from runtime.messages import Command, GroundTruth, MotorCommand
from runtime.recording import read_frames
from runtime.topics import COMMAND, GROUND_TRUTH, MOTOR_COMMAND, PLAN
from saltus.configuration import load_launch
from saltus.listener import Listener
from saltus.metrics import RunMetrics, run_metrics
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
        plans.send(plan(5, 4))  # three were lost, because nobody took them in time
        drain_until(listener, lambda: listener.ticks["plan"] == 4)
        assert listener.plans == 5
        listener.close()


def test_commands_are_heard_while_a_robot_is_driven(tmp_path):
    """They count by the launch's clock, not by their source's, and are recorded so."""
    config = load_launch("drive", ["command={}", "drive.source=client"], mode="realtime")
    truth = GroundTruth(
        tick=5, time=70.0, q=np.eye(19)[6], v=np.zeros(18), foot_force=np.zeros((4, 3)),
        contact=np.ones(4), trunk_contact=False,
    )  # fmt: skip
    with Bus(Endpoints.ipc(tmp_path / "bus")) as bus:
        driver, truths = bus.publisher(COMMAND), bus.publisher(GROUND_TRUTH)
        metrics = run_metrics(config)
        listener = Listener(bus, metrics, tmp_path / "run.mcap")
        assert driver.wait_for_subscribers(1, 10.0) and truths.wait_for_subscribers(1, 10.0)
        truths.send(truth)
        drain_until(listener, lambda: listener.ticks["ground_truth"] == 5)
        driver.send(Command(sequence=1, time=3.0, forward=0.5, left=0.0, yaw_rate=0.0, gait="trot"))
        assert metrics.driving is not None
        drain_until(listener, lambda: metrics.driving.goals.at(70.1).forward == 0.5)
        listener.close()
    assert [(f.topic, f.log_time_ns) for f in read_frames(tmp_path / "run.mcap")] == [
        ("ground_truth", 70_000_000_000), ("command", 70_000_000_000),
    ]  # fmt: skip
