"""Two loops over the bus, written as nodes are: lock step gives the same numbers on every run."""

import threading

import numpy as np

from runtime.bus import Bus, Endpoints
from runtime.clock import PausedClock
from runtime.messages import MotorCommand, StateEstimate, encode
from runtime.recording import Recorder, read_recording
from runtime.topics import MOTOR_COMMAND, STATE_ESTIMATE

TICKS = 300
PERIOD = 0.001


def never():
    return False


def plant(endpoints, ready):
    """A unit mass a joint, moved by the commanded torques."""
    clock, q, v = PausedClock(PERIOD), np.zeros(19), np.zeros(18)
    q[7:] = np.linspace(-1.0, 1.0, 12)
    with Bus(endpoints) as bus:
        commands, publisher = bus.subscriber(MOTOR_COMMAND), bus.publisher(STATE_ESTIMATE)
        assert publisher.wait_for_subscribers(2, 10.0)
        ready.wait(10.0)
        for _ in range(TICKS):
            tick = clock.wait_tick()
            publisher.send(
                StateEstimate(
                    tick=tick, time=clock.now(), q=q, v=v, contact=np.ones(4), status="ok"
                )
            )
            command = clock.collect(commands, tick, never)
            v[6:] += PERIOD * 100.0 * command.tau
            q[7:] += PERIOD * v[6:]


def regulator(endpoints, ready, done):
    """Draws the joints to zero."""
    clock = PausedClock(PERIOD)
    with Bus(endpoints) as bus:
        estimates, publisher = bus.subscriber(STATE_ESTIMATE), bus.publisher(MOTOR_COMMAND)
        assert publisher.wait_for_subscribers(1, 10.0)
        ready.set()
        for _ in range(TICKS):
            tick = clock.wait_tick()
            x = clock.collect(estimates, tick, never)
            tau = -2.0 * x.q[7:] - 0.3 * x.v[6:]
            zeros = np.zeros(12)
            publisher.send(
                MotorCommand(
                    tick=tick,
                    time=clock.now(),
                    q=zeros,
                    dq=zeros,
                    kp=zeros,
                    kd=zeros,
                    tau=tau,
                    plan_id=0,
                    status="ok",
                )
            )
        done.wait(10.0)  # closing drops what was not read yet


def run_once(folder):
    """The recorded state of every tick, tuples of (topic name, message)."""
    endpoints, ready, done = Endpoints.ipc(folder), threading.Event(), threading.Event()
    path = folder / "run.mcap"
    with Bus(endpoints) as bus, Recorder(path) as recorder:
        every = bus.subscriber(STATE_ESTIMATE, conflate=False)
        other = threading.Thread(target=regulator, args=(endpoints, ready, done))
        this = threading.Thread(target=plant, args=(endpoints, ready))
        other.start()
        this.start()
        for count in range(TICKS):
            message = every.wait(10.0)
            assert message is not None and message.tick == count
            recorder.write(STATE_ESTIMATE, encode(message), count)
        this.join(10.0)
        done.set()
        other.join(10.0)
    return list(read_recording(path))


def test_two_runs_are_equal_bit_for_bit_and_lose_no_tick(tmp_path_factory):
    first = run_once(tmp_path_factory.mktemp("a"))
    second = run_once(tmp_path_factory.mktemp("b"))
    assert len(first) == TICKS
    assert first == second
    initial, final = first[0][1], first[-1][1]
    assert np.linalg.norm(final.q[7:]) < 0.2 * np.linalg.norm(initial.q[7:])
