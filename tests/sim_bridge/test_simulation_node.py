"""The simulation's process loop, with a stand-in controller on the other end of the bus."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from robots.a1.constants import STAND_JOINTS
from runtime.bus import Bus, Endpoints
from runtime.clock import PausedClock, RealTimeClock
from runtime.messages import MotorCommand, SensorReading
from runtime.topics import GROUND_TRUTH
from sim_bridge.node import SimulationNodeOptions, run
from sim_bridge.perturbation_script import PerturbationScript
from sim_bridge.perturbations import MotorBlock
from sim_bridge.simulated_a1 import SimulatedA1
from sim_bridge.simulated_bridge import SimulatedBridge


def respond(reading: SensorReading) -> MotorCommand:
    """A controller whose output depends on every noisy reading."""
    ones = np.ones(12)
    return MotorCommand(
        tick=reading.tick,
        time=reading.time,
        q=STAND_JOINTS.copy(),
        dq=0.1 * reading.joint_velocity,
        kp=80.0 * ones,
        kd=2.0 * ones,
        tau=0.1 * reading.joint_torque,
        plan_id=0,
        status="ok",
    )


def simulate_apart(
    robot: SimulatedA1,
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
    apart, together = SimulatedA1(), SimulatedA1()
    report = simulate_apart(apart, tmp_path, PausedClock, 0.2)
    for _ in range(200):
        together.advance(respond(together.reading()))
    assert (report["status"], report["ticks"], report["commands"]) == ("done", 200, 200)
    assert report["in_force"] == {"ok": 200}
    assert apart.truth() == together.truth()
    assert apart.reading() == together.reading()


def test_lock_step_publishes_the_truth_of_every_tick_and_of_the_end(tmp_path: Path) -> None:
    report = simulate_apart(SimulatedA1(), tmp_path, PausedClock, 0.05, truths_wanted=51)
    assert report["truth_ticks"] == list(range(51))


def test_real_time_runs_to_its_end(tmp_path: Path) -> None:
    report = simulate_apart(SimulatedA1(), tmp_path, RealTimeClock, 0.3)
    assert report["status"] == "done"
    assert report["ticks"] >= 300
    assert not report["fell"]
    assert report["commands"] > 0
    assert sum(report["in_force"].values()) == report["ticks"]


def test_a_fall_ends_the_run_a_little_later(tmp_path: Path) -> None:
    robot = SimulatedA1(script=PerturbationScript((MotorBlock(0.0, 9.0),)))
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

    def collect(self, source: Any, tick: int, stop: Callable[[], bool]) -> Any:
        return source.newest()


def test_short_delays_are_made_up_for_and_long_ones_stop_the_world(tmp_path: Path) -> None:
    options = SimulationNodeOptions(reading_subscribers=0, catch_up_ticks=5)
    robot = SimulatedA1()
    with Bus(Endpoints.ipc(tmp_path)) as bus:
        report = run(robot, bus, JumpingClock([1, 1, 4, 1, 21, 1]), 0.02, lambda: False, options)
    # Three ticks late, then twenty of which five are made up for and fifteen are lost.
    assert (report["caught_up"], report["lost"], report["ticks"]) == (8, 15, 20)
    assert report["in_force"] == {"none": 20}, "nobody has sent a command"


def test_nobody_listening_and_being_stopped_are_said(tmp_path: Path) -> None:
    options = SimulationNodeOptions(connect_timeout_s=0.01)
    with Bus(Endpoints.ipc(tmp_path / "a")) as bus:
        report = run(SimulatedA1(), bus, PausedClock(0.001), 1.0, lambda: False, options)
    assert (report["status"], report["ticks"]) == ("no_subscriber", 0)
    with Bus(Endpoints.ipc(tmp_path / "b")) as bus:
        report = run(SimulatedA1(), bus, PausedClock(0.001), 1.0, lambda: True)
    assert report["status"] == "stopped"
