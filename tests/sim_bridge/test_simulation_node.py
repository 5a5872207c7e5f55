"""The simulation's process loop, with a stand-in controller on the other end of the bus."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from robots.rotations import rotation_from_quaternion
from runtime.bus import Bus, Endpoints
from runtime.clock import PausedClock, RealTimeClock
from runtime.messages import MotorCommand, Pace, Push, SensorReading
from runtime.topics import GROUND_TRUTH, PACE, PUSH
from sim_bridge.node import SimulationNodeOptions, run
from sim_bridge.perturbation_script import PerturbationScript
from sim_bridge.perturbations import MotorBlock
from sim_bridge.simulated_bridge import SimulatedBridge
from sim_bridge.simulated_robot import SimulatedRobot
from tests.a1 import A1


def respond(reading: SensorReading) -> MotorCommand:
    """A controller whose output depends on every noisy reading."""
    ones = np.ones(12)
    return MotorCommand(
        tick=reading.tick,
        time=reading.time,
        q=A1.stand.copy(),
        dq=0.1 * reading.joint_velocity,
        kp=80.0 * ones,
        kd=2.0 * ones,
        tau=0.1 * reading.joint_torque,
        plan_id=0,
        status="ok",
    )


def simulate_apart(
    robot: SimulatedRobot,
    folder: Path,
    clock_type: type[PausedClock] | type[RealTimeClock],
    duration: float,
    truths_wanted: int = 0,
) -> dict[str, Any]:
    """Run the node in a thread of its own and a controller here; return the node's report."""
    report: dict[str, Any] = {}
    done = threading.Event()

    def live() -> None:
        options = SimulationNodeOptions(truth_subscribers=int(truths_wanted > 0))
        with Bus(Endpoints.ipc(folder)) as bus:
            clock = clock_type(0.001)
            report.update(run(robot, bus, clock, duration, lambda: False, options))
            done.set()
            collected.wait(20.0)

    collected = threading.Event()
    with Bus(Endpoints.ipc(folder)) as bus:
        truths = bus.subscriber(GROUND_TRUTH, conflate=False)
        thread = threading.Thread(target=live)
        thread.start()
        bridge, clock = SimulatedBridge(bus), clock_type(0.001)
        while not done.is_set():
            for reading in bridge.read(clock, clock.wait_tick(), done.is_set)[-1:]:
                bridge.write(respond(reading))
        found = (truths.wait(timeout_s=5.0) for _ in range(truths_wanted))
        report["truth_ticks"] = [truth.tick for truth in found if truth is not None]
        collected.set()
        thread.join()
    return report


def test_lock_step_over_the_bus_equals_one_process_to_the_bit(tmp_path: Path) -> None:
    apart, together = SimulatedRobot(A1), SimulatedRobot(A1)
    report = simulate_apart(apart, tmp_path, PausedClock, 0.2)
    for _ in range(200):
        together.advance(respond(together.reading()))
    assert (report["status"], report["ticks"], report["commands"]) == ("done", 200, 200)
    assert report["in_force"] == {"ok": 200}
    assert apart.truth() == together.truth()
    assert apart.reading() == together.reading()


def test_lock_step_publishes_the_truth_of_every_tick_and_of_the_end(tmp_path: Path) -> None:
    report = simulate_apart(SimulatedRobot(A1), tmp_path, PausedClock, 0.05, truths_wanted=51)
    assert report["truth_ticks"] == list(range(51))


def test_real_time_runs_to_its_end(tmp_path: Path) -> None:
    report = simulate_apart(SimulatedRobot(A1), tmp_path, RealTimeClock, 0.3)
    assert report["status"] == "done"
    assert report["ticks"] >= 300
    assert not report["fell"]
    assert report["commands"] > 0
    assert sum(report["in_force"].values()) == report["ticks"]


def test_a_fall_ends_the_run_a_little_later(tmp_path: Path) -> None:
    robot = SimulatedRobot(A1, script=PerturbationScript((MotorBlock(0.0, 9.0),)))
    report = simulate_apart(robot, tmp_path, PausedClock, 9.0)
    assert (report["status"], report["fell"]) == ("fell", True)
    assert abs(report["simulated_s"] - report["fell_at_s"] - 0.5) < 0.0015


class JumpingClock(PausedClock):
    """A clock of real time that is late by given numbers of ticks, without waiting for any."""

    paused = False

    def __init__(self, jumps: list[int]) -> None:
        super().__init__(0.001)
        self._jumps = jumps

    def wait_tick(self) -> int:
        self._tick += self._jumps.pop(0) if self._jumps else 1
        return self._tick


def test_short_delays_are_made_up_for_and_long_ones_stop_the_world(tmp_path: Path) -> None:
    options = SimulationNodeOptions(reading_subscribers=0, catch_up_ticks=5)
    robot = SimulatedRobot(A1)
    with Bus(Endpoints.ipc(tmp_path)) as bus:
        report = run(robot, bus, JumpingClock([1, 1, 4, 1, 21, 1]), 0.02, lambda: False, options)
    # Three ticks late, then twenty of which five are made up for and fifteen are lost.
    assert (report["caught_up"], report["lost"], report["ticks"]) == (8, 15, 20)
    assert report["in_force"] == {"none": 20}, "nobody has sent a command"


def test_nobody_listening_and_being_stopped_are_said(tmp_path: Path) -> None:
    options = SimulationNodeOptions(connect_timeout_s=0.01)
    with Bus(Endpoints.ipc(tmp_path / "a")) as bus:
        report = run(SimulatedRobot(A1), bus, PausedClock(0.001), 1.0, lambda: False, options)
    assert (report["status"], report["ticks"]) == ("no_subscriber", 0)
    with Bus(Endpoints.ipc(tmp_path / "b")) as bus:
        report = run(SimulatedRobot(A1), bus, PausedClock(0.001), 1.0, lambda: True)
    assert report["status"] == "stopped"


class Watched:
    """The node in lock step with a controller and somebody who watches, who acts at each tick."""

    def __init__(self, folder: Path, controllable: bool = True) -> None:
        self.robot, self.report = SimulatedRobot(A1), dict[str, Any]()
        self.velocity = dict[int, np.ndarray]()  # of the base in the world, by tick
        self._folder, self._controllable = folder, controllable
        self.stopped = threading.Event()

    def run(self, ticks: int, act: Callable[[int, Bus], None]) -> None:
        """Live through these ticks; `act` runs before each one's command goes out."""

        def live() -> None:
            options = SimulationNodeOptions(controllable=self._controllable)
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


@pytest.mark.parametrize("controllable", [True, False])
def test_a_push_by_hand_makes_the_velocity_jump_by_just_that(
    tmp_path: Path, controllable: bool
) -> None:
    pushes: list[Any] = []
    push = Push(sequence=1, time=0.0, body="base", velocity=np.array([0.5, -1.0, 0.2]))

    def act(tick: int, bus: Bus) -> None:
        if tick == 3:
            pushes.append(bus.publisher(PUSH))
            assert not controllable or pushes[0].wait_for_subscribers(1, 10.0)
        if tick == 10:
            assert pushes[0].subscribers() == int(controllable)
            for _ in range(3):
                pushes[0].send(push)
            pushes[0].send(msgspec.structs.replace(push, sequence=2, velocity=np.full(3, np.nan)))
            time.sleep(0.5)  # until they have arrived: nothing else could be waited for

    watched = Watched(tmp_path, controllable)
    watched.run(20, act)
    jump = watched.velocity[11] - watched.velocity[10]
    expected = push.velocity if controllable else np.zeros(3)
    np.testing.assert_allclose(jump, expected, atol=0.05)
    assert watched.report["status"] == "done"
    counts = {"applied": 1, "refused": 1} if controllable else None
    assert watched.report.get("pushes") == counts


def test_time_that_is_stopped_passes_by_single_ticks_and_can_be_ended(tmp_path: Path) -> None:
    watched, paces, ticks = Watched(tmp_path), list[Any](), list[int]()

    def steer() -> None:
        """Hold time at tick 10; give two steps, and then the end."""
        for steps in (0, 1, 2):
            for _ in range(5):  # again, as who watches does
                paces[0].send(Pace(sequence=1, time=0.0, speed=0.0, steps=steps))
                time.sleep(0.1)
            ticks.append(watched.robot.tick)
        watched.stopped.set()

    def act(tick: int, bus: Bus) -> None:
        if tick == 10:
            paces.append(bus.publisher(PACE))
            assert paces[0].wait_for_subscribers(1, 10.0)
            paces[0].send(Pace(sequence=1, time=0.0, speed=0.0, steps=0))
            time.sleep(0.5)  # until it has arrived
            threading.Thread(target=steer).start()

    watched.run(100, act)
    assert ticks == [10, 11, 12]
    assert watched.report["status"] == "stopped" and watched.report["ticks"] <= 13
