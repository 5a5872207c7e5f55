"""Who listens to a launch: every topic while processes wait for it, then what it needs."""

import time

import numpy as np
import pytest

from runtime.bus import Bus
from runtime.endpoints import Endpoints
from runtime.messages import Push, Tuning
from runtime.recording import Recorder, read_frames
from runtime.topics import GROUND_TRUTH, PUSH, ROBOT_STATUS, TUNING
from saltus.launch.listener import Listener
from saltus.metrics.run import RunMetrics
from tests.a1 import ground_truth, robot_status
from tests.saltus.programs import wait_until


def drain_when_there(listener, topic):
    [subscriber] = (each for each in listener._subscribers if each.topic is topic)
    assert subscriber._socket.poll(10_000)
    listener.drain()


def test_what_watchers_send_is_recorded_by_the_clock_of_the_launch(tmp_path):
    """What comes before the launch has a clock is not: no robot is there for which it is meant."""
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
            truths.send(ground_truth(tick))
            wait_until(lambda tick=tick: listener.drain() or listener.ticks["ground_truth"] == tick)
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
        q = np.array([0, 0, height, 0, 0, 0, 1, *[0] * 12], float)
        return ground_truth(tick, q=q, trunk_contact=height < 0.1)

    with Bus(Endpoints.ipc(tmp_path / "bus")) as bus:
        truths, statuses = bus.publisher(GROUND_TRUTH), bus.publisher(ROBOT_STATUS)
        metrics = RunMetrics(judging=False)
        listener = Listener(bus, metrics, None)
        assert truths.wait_for_subscribers(1, 10.0) and statuses.wait_for_subscribers(1, 10.0)
        for tick, state in ((0, "stand_up"), (20, "running"), (30, "sit_down")):
            statuses.send(robot_status(state, tick, time=1e-3 * tick - 1e-4))
        for tick in range(50):
            truths.send(truth(tick))
        time.sleep(0.5)  # all have come before the first look
        wait_until(lambda: listener.drain(most) or listener.ticks["ground_truth"] == 49)
        assert (metrics.first_tick, metrics.last_tick, metrics.fell) == (20, 29, False)
        listener.close()
