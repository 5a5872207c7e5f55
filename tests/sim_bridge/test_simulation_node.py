"""The simulation's process loop, with a stand-in controller on the other end of the bus."""

import threading
import time

import numpy as np
from msgspec.structs import replace
from numpy.testing import assert_allclose

from robots.rotations import rotation_from_quaternion
from runtime.bus import Bus, Endpoints
from runtime.clock import PausedClock
from runtime.messages import Pace, Push
from runtime.topics import PACE, PUSH
from sim_bridge.node import SimulationNodeOptions, run
from sim_bridge.simulated_bridge import SimulatedBridge
from sim_bridge.simulated_robot import SimulatedRobot
from tests.a1 import A1, stand_command
from tests.runtime.jumping_clock import JumpingClock


def respond(reading):
    """A controller whose output depends on every noisy reading."""
    return stand_command(
        reading.tick, reading.time, dq=0.1 * reading.joint_velocity, tau=0.1 * reading.joint_torque
    )


def test_lock_step_over_the_bus_equals_one_process_to_the_bit(tmp_path):
    watched, together = Watched(tmp_path), SimulatedRobot(A1)
    watched.run(200, lambda tick, bus: None)
    for _ in range(200):
        together.advance(respond(together.reading()))
    report = watched.report
    assert (report["status"], report["ticks"], report["commands"]) == ("done", 200, 200)
    assert report["in_force"] == {"ok": 200}
    assert watched.robot.truth() == together.truth()
    assert watched.robot.reading() == together.reading()


def test_short_delays_are_made_up_for_and_long_ones_stop_the_world(tmp_path):
    options = SimulationNodeOptions(reading_subscribers=0, catch_up_ticks=5)
    robot = SimulatedRobot(A1)
    with Bus(Endpoints.ipc(tmp_path)) as bus:
        report = run(robot, bus, JumpingClock({1: 3, 6: 20}), 0.02, lambda: False, options)
    # Three ticks late, then twenty of which five are made up for and fifteen are lost.
    assert (report["caught_up"], report["lost"], report["ticks"]) == (8, 15, 20)
    assert report["in_force"] == {"none": 20}  # nobody has sent a command


def test_nobody_listening_and_being_stopped_are_said(tmp_path):
    options = SimulationNodeOptions(connect_timeout_s=0.01)
    with Bus(Endpoints.ipc(tmp_path / "a")) as bus:
        report = run(SimulatedRobot(A1), bus, PausedClock(0.001), 1.0, lambda: False, options)
    assert (report["status"], report["ticks"]) == ("no_subscriber", 0)
    with Bus(Endpoints.ipc(tmp_path / "b")) as bus:
        report = run(SimulatedRobot(A1), bus, PausedClock(0.001), 1.0, lambda: True)
    assert report["status"] == "stopped"


class Watched:
    """The node in lock step with a controller and somebody who watches, who acts at each tick."""

    def __init__(self, folder):
        self.robot, self.report = SimulatedRobot(A1), {}
        self.velocity = {}  # of the base in the world, by tick
        self._folder = folder
        self.stopped = threading.Event()

    def run(self, ticks, act):
        """Live through these ticks; `act` runs before each one's command goes out."""

        def live():
            options = SimulationNodeOptions(controllable=True)
            clock, stop = PausedClock(0.001), self.stopped.is_set
            with Bus(Endpoints.ipc(self._folder)) as bus:
                self.report.update(run(self.robot, bus, clock, 1e-3 * ticks, stop, options))

        with Bus(Endpoints.ipc(self._folder)) as bus:
            bridge, clock = SimulatedBridge(bus), PausedClock(0.001)
            thread = threading.Thread(target=live)
            thread.start()
            for tick in range(ticks):
                for reading in bridge.read(clock, clock.wait_tick(), self.stopped.is_set):
                    q, v = self.robot.truth().q, self.robot.truth().v  # it waits for the command
                    self.velocity[tick] = rotation_from_quaternion(q[3:7]) @ v[:3]
                    act(tick, bus)
                    bridge.write(respond(reading))
            thread.join()


def test_a_push_by_hand_and_a_stop_of_time_reach_the_node(tmp_path):
    watched, senders, ticks = Watched(tmp_path), [], []
    push = Push(sequence=1, time=0.0, body="base", velocity=np.array([0.5, -1.0, 0.2]))

    def steer():
        """Hold time at tick 20; give two steps, and then the end."""
        for steps in (0, 1, 2):
            for _ in range(5):  # again, as who watches does
                senders[1].send(Pace(sequence=1, time=0.0, speed=0.0, steps=steps))
                time.sleep(0.1)
            ticks.append(watched.robot.tick)
        watched.stopped.set()

    def act(tick, bus):
        if tick == 3:
            senders.extend((bus.publisher(PUSH), bus.publisher(PACE)))
            assert all(sender.wait_for_subscribers(1, 10.0) for sender in senders)
        if tick == 10:
            bad = replace(push, sequence=2, velocity=np.full(3, np.nan))
            for each in (push, push, bad):
                senders[0].send(each)
        if tick == 20:
            senders[1].send(Pace(sequence=1, time=0.0, speed=0.0, steps=0))
            threading.Thread(target=steer).start()
        if tick in (10, 20):
            time.sleep(0.5)  # until they have arrived: nothing else could be waited for

    watched.run(100, act)
    jump = watched.velocity[11] - watched.velocity[10]
    assert_allclose(jump, push.velocity, atol=0.05)
    assert watched.report["pushes"] == {"applied": 1, "refused": 1}
    assert ticks == [20, 21, 22]
    assert watched.report["status"] == "stopped" and watched.report["ticks"] <= 23
