"""Who listens to a launch: every topic while processes wait for it, then what it needs."""

import math
import time

import msgspec
import numpy as np
import pytest

from runtime.bus import Bus
from runtime.endpoints import Endpoints
from runtime.messages import Command, GroundTruth, MotorCommand, Pace, Push, RobotStatus, Tuning
from runtime.recording import Recorder, read_frames
from runtime.topics import (
    COMMAND,
    GROUND_TRUTH,
    MOTOR_COMMAND,
    PACE,
    PLAN,
    PUSH,
    ROBOT_STATUS,
    TUNING,
)
from saltus.configuration.launch import load_launch
from saltus.launch.listener import Listener
from saltus.metrics.run import RunMetrics, run_metrics
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


def drain_when_there(listener, topic):
    [subscriber] = (each for each in listener._subscribers if each.topic is topic)
    assert subscriber._socket.poll(10_000)
    listener.drain()


@pytest.mark.parametrize("records", [False, True])
def test_topics_that_nobody_needs_are_given_up_once_all_have_begun(tmp_path, records):
    """A tracker that has begun is not enough: the planner may still wait for its listeners."""
    with Bus(Endpoints.ipc(tmp_path / "bus")) as bus:
        plans, commands = bus.publisher(PLAN), bus.publisher(MOTOR_COMMAND)
        listener = Listener(bus, RunMetrics(), Recorder(tmp_path / "run.mcap") if records else None)
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
        assert (listener.plans, listener.lost_plans) == (5, 3)
        if records:
            assert listener.recording == {
                "complete": False,
                "cause": "3 of 5 plans were lost: the machine was too busy",
            }
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
        listener = Listener(bus, metrics, Recorder(tmp_path / "run.mcap"))
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


def pace(speed):
    return Pace(sequence=1, time=9.0e4, speed=speed, steps=0)


@pytest.mark.parametrize("records", [False, True])
def test_who_stops_or_slows_time_is_heard_until_the_end(tmp_path, records):
    """Also by who does not record, and after the topics that nobody needs were given up."""
    with Bus(Endpoints.ipc(tmp_path / "bus")) as bus:
        plans, commands = bus.publisher(PLAN), bus.publisher(MOTOR_COMMAND)
        paces = bus.publisher(PACE)
        listener = Listener(bus, RunMetrics(), Recorder(tmp_path / "run.mcap") if records else None)
        for publisher in (plans, commands, paces):
            assert publisher.wait_for_subscribers(1, 10.0)
        commands.send(command(1))
        plans.send(plan(1, 1))
        drain_until(listener, lambda: min(map(listener.ticks.get, ("motor_command", "plan"))) == 1)
        paces.send(pace(math.inf))
        paces.send(Command(sequence=1, time=3.0, forward=0.5, left=0.0, yaw_rate=0.0))  # junk
        commands.send(command(2))
        drain_when_there(listener, PACE)
        assert listener.paced_at_s == -math.inf
        for speed in (0.0, 0.5):
            before = max(listener.paced_at_s, time.monotonic())
            paces.send(pace(speed))
            drain_until(listener, lambda before=before: listener.paced_at_s >= before)
        listener.close()


def test_what_watchers_send_is_recorded_by_the_clock_of_the_launch(tmp_path):
    """What comes before the launch has a clock is not: no robot is there for which it is meant."""
    truth = GroundTruth(
        tick=0, time=0.0, q=np.eye(19)[6], v=np.zeros(18), foot_force=np.zeros((4, 3)),
        contact=np.ones(4), trunk_contact=False,
    )  # fmt: skip
    push = Push(sequence=1, time=9.0e4, body="base", velocity=np.ones(3))
    with Bus(Endpoints.ipc(tmp_path / "bus")) as bus:
        truths = bus.publisher(GROUND_TRUTH)
        pushes, tunings = bus.publisher(PUSH), bus.publisher(TUNING)
        listener = Listener(bus, RunMetrics(), Recorder(tmp_path / "run.mcap"))
        for publisher in (truths, pushes, tunings):
            assert publisher.wait_for_subscribers(1, 10.0)
        pushes.send(push)
        drain_when_there(listener, PUSH)
        for tick in (0, 7):
            truths.send(msgspec.structs.replace(truth, tick=tick, time=1e-3 * tick))
            drain_until(listener, lambda tick=tick: listener.ticks["ground_truth"] == tick)
            pushes.send(push)
            drain_when_there(listener, PUSH)
        tunings.send(Tuning(sequence=1, time=9.0e4, options="{}"))
        drain_when_there(listener, TUNING)
        listener.close()
    assert [(f.topic, f.log_time_ns) for f in read_frames(tmp_path / "run.mcap")] == [
        ("ground_truth", 0), ("push", 0), ("ground_truth", 7_000_000), ("push", 7_000_000),
        ("tuning", 7_000_000),
    ]  # fmt: skip


@pytest.mark.parametrize("most", [3, 200, None])
def test_states_are_judged_by_what_the_robot_was_allowed_then(tmp_path, most):
    """The robot lies until its bridge runs, at 20 ms, and again after 30 ms; statuses are fewer."""

    def truth(tick):
        height = 0.3 if 20 <= tick < 30 else 0.05
        return GroundTruth(
            tick=tick, time=1e-3 * tick, q=np.array([0, 0, height, 0, 0, 0, 1, *[0] * 12], float),
            v=np.zeros(18), foot_force=np.zeros((4, 3)), contact=np.ones(4),
            trunk_contact=height < 0.1,
        )  # fmt: skip

    def status(tick, state):
        return RobotStatus(
            tick=tick, time=1e-3 * tick - 1e-4, state=state, cause="", temperature=np.zeros(12),
            power=0.0, state_age=0.0, frames=tick, refused=0,
        )  # fmt: skip

    with Bus(Endpoints.ipc(tmp_path / "bus")) as bus:
        truths, statuses = bus.publisher(GROUND_TRUTH), bus.publisher(ROBOT_STATUS)
        metrics = RunMetrics(judging=False)
        listener = Listener(bus, metrics, None)
        assert truths.wait_for_subscribers(1, 10.0) and statuses.wait_for_subscribers(1, 10.0)
        for tick, state in ((0, "stand_up"), (20, "running"), (30, "sit_down")):
            statuses.send(status(tick, state))
        for tick in range(50):
            truths.send(truth(tick))
        time.sleep(0.5)  # all have come before the first look
        deadline = time.monotonic() + 10.0
        while listener.ticks["ground_truth"] < 49 and time.monotonic() < deadline:
            listener.drain(most)
        assert (metrics.first_tick, metrics.last_tick, metrics.fell) == (20, 29, False)
        listener.close()
