"""``saltus bench tick``: one tick of the tracker with its bridge, whole and by stage, at 1 kHz.

A robot that walks is played to the bridge from a run in lock step: its frames over UDP, its
estimates and plans over ZeroMQ. The bare loop makes the same system calls and nothing else.
"""

from __future__ import annotations

import socket
import tempfile
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from controller.tracker_node import TrackerLoop
from hw_bridge.bridge import Bridge
from hw_bridge.emulator.options import EmulatorOptions
from hw_bridge.emulator.state_frame import StateFrame
from hw_bridge.link import UdpLink
from hw_bridge.operator.operator import Operator
from hw_bridge.options import LinkOptions, OperatorOptions
from hw_bridge.states import RobotState
from hw_bridge.wire.layout import SERVO, WIRES
from runtime.bus import Bus, Endpoints
from runtime.clock import RealTimeClock
from runtime.messages import Plan, SensorReading, StateEstimate
from runtime.realtime import freeze_heap, request_realtime
from runtime.topics import (
    MOTOR_COMMAND,
    PLAN,
    ROBOT_STATUS,
    SENSOR_READING,
    STATE_ESTIMATE,
)
from saltus.bench.catalogue import BenchResult
from saltus.common.console import say
from saltus.common.timing import US, Times
from saltus.configuration.launch import TICK_S, load_launch
from saltus.launch import assembly
from saltus.launch.lock_step import LockStep, Tick

TARGET_P50_US, TARGET_P99_US = 120.0, 200.0
RECORDED_S, WARM_UP = 1.0, 500  # [s], ticks
TICKS, PLAN_EVERY = 5000, 5
LOCALHOST = "127.0.0.1"
WIRE = WIRES["unitree-a1"]
WHOLE, BARE, UPDATE = "whole tick", "bare system calls", "update"  # stages


class Walk(NamedTuple):
    """A walk to play."""

    readings: list[SensorReading]  # all of them
    recorded: list[tuple[SensorReading, StateEstimate]]  # those with a good estimate
    plans: list[Plan]


class PlayedTracker:
    """The tracker's loop with a bridge that runs, and the robot that is played to it.

    Attributes:
        loop: whose `tick` is to be called after each `prepare`.
        bridge: of the loop.
    """

    def __init__(self, bus: Bus, walk: Walk, clock: RealTimeClock) -> None:
        """Begin with the robot walking, there and back, so that no joint leaps."""
        config, self._clock, self._robot = load_launch("a1-emulated"), clock, _loopback()
        self._recorded = walk.recorded + walk.recorded[::-1]
        self._plans = walk.plans + walk.plans[::-1]
        self._estimates_out, self._plans_out = bus.publisher(STATE_ESTIMATE), bus.publisher(PLAN)
        self._frames = StateFrame(EmulatorOptions(), WIRE)
        self._frames.set_motors(np.full(12, SERVO), np.zeros(12, np.bool_))
        options = replace(
            config.hardware, tick_unit_s=TICK_S,
            link=LinkOptions(robot_address=LOCALHOST, robot_port=self._robot.getsockname()[1],
                             local_address=LOCALHOST, local_port=0),
        )  # fmt: skip
        self._link = link = UdpLink(options.link)
        readings, commands = bus.publisher(SENSOR_READING), bus.publisher(MOTOR_COMMAND)
        statuses = bus.publisher(ROBOT_STATUS)
        self._listeners = [
            bus.subscriber(SENSOR_READING).take, bus.subscriber(MOTOR_COMMAND).take,
            bus.subscriber(ROBOT_STATUS).take,
        ]  # fmt: skip
        self.bridge = bridge = Bridge(
            options, config.robot_model, link, Operator(OperatorOptions(keyboard=False)), 0.0,
            statuses.send, commands.send,
        )  # fmt: skip
        estimates = bus.subscriber(STATE_ESTIMATE, lazy=True)
        self.loop = TrackerLoop(
            assembly.make_tracker(config), bridge, readings, estimates,
            bus.subscriber(PLAN), clock, assembly.solve_schedule(config), lambda: False,
        )  # fmt: skip
        sleep(0.2)  # for subscriptions to arrive
        freeze_heap()
        self.prepare(0)
        bridge.connect(clock, lambda: False, sleep)
        bridge.machine.state = RobotState.RUNNING

    def prepare(self, tick: int) -> None:
        """Send what the loop gets in a tick, and take what it has sent in the one before.

        A frame, an estimate and, now and then, a plan.
        """
        with suppress(BlockingIOError):
            while True:
                self._robot.recv(2 * WIRE.command.itemsize)
        reading, estimate = self._recorded[tick % len(self._recorded)]
        frame = self._frames.write(
            reading, reading.joint_position, reading.joint_velocity, np.zeros(12),
            np.full(12, 40.0), tick,
        )  # fmt: skip
        self._robot.sendto(frame, self._link.local)
        now = self._clock.now()
        self._estimates_out.send(replace(estimate, tick=tick, time=now))
        if tick % PLAN_EVERY == 0:
            plan = self._plans[tick // PLAN_EVERY % len(self._plans)]
            self._plans_out.send(replace(plan, id=tick + 1, tick=tick, time=now))
        for listen in self._listeners:
            listen()

    def close(self) -> None:
        """Let go of the sockets; the robot must have walked all the time."""
        assert self.bridge.machine.state is RobotState.RUNNING, self.bridge.machine.cause
        self.bridge.close()
        self._robot.close()


def recorded_walk(lockstep: LockStep) -> Walk:
    """Record a walk in lock step."""
    ticks: list[Tick] = []
    lockstep.run(ticks.append)
    recorded = [(each.reading, each.estimate) for each in ticks if each.estimate.status == "ok"]
    plans = [each.plan for each in ticks if each.plan is not None]
    return Walk([each.reading for each in ticks], recorded, plans)


def run(ticks: int = TICKS) -> BenchResult:
    """Measure; the ratio is the whole tick's median to the target."""
    say("recording a walk (compiles on the first run)")
    config = load_launch("push", duration=RECORDED_S)
    walk = recorded_walk(LockStep(config))
    granted = request_realtime(load_launch("a1-emulated").realtime.priority)
    with tempfile.TemporaryDirectory() as folder, Bus(Endpoints.ipc(Path(folder))) as bus:
        times, counts = _measure(bus, walk, ticks)
        _measure_bare(ticks, times)
    core = assembly.make_estimator(config)
    for reading in walk.readings:
        times.call(UPDATE, core.update, reading)
    rows = [_row(name, times) for name in times.seconds]
    by_stage = {row["stage"]: row for row in rows}
    whole, bare, estimator = (by_stage[name] for name in (WHOLE, BARE, UPDATE))
    whole |= {"at_most_us_p50": TARGET_P50_US, "at_most_us_p99": TARGET_P99_US}
    note = (
        f"{ticks} ticks at 1 kHz, a plan every {PLAN_EVERY}; scheduler {granted.scheduler}; "
        f"commands: {counts}"
    )
    named = (("tracker_us", whole), ("estimator_us", estimator), ("bare_us", bare))
    extra = {name: {"p50": row["us_p50"], "p99": row["us_p99"]} for name, row in named}
    return BenchResult(rows, whole["us_p50"] / TARGET_P50_US, note, extra=extra)


def _measure(bus: Bus, walk: Walk, ticks: int) -> tuple[Times, dict[str, int]]:
    """Serve ticks of a bridge that runs."""
    clock, times = RealTimeClock(TICK_S), Times()
    played = PlayedTracker(bus, walk, clock)
    loop = played.loop
    tick, number = times.wrap(WHOLE, loop.tick), 0
    for k in range(1, WARM_UP + 2 * ticks):
        if k == WARM_UP:
            times.seconds[WHOLE].clear()
        if k == WARM_UP + ticks:  # the whole without its parts: to time them takes time
            tick = loop.tick
            _time_stages(times, loop, played.bridge)
        played.prepare(number + 1)
        number = clock.wait_tick() + 1  # after a stall of the host the robot is as far as the clock
        tick(number)
    played.close()
    return times, dict(loop.tracker.commands)


def _time_stages(times: Times, loop: TrackerLoop, bridge: Bridge) -> None:
    """Time the parts of a tick, in their order."""
    for name, owner, method in (
        ("frame to reading", bridge, "read"),
        ("reading to bus", loop.readings_out, "send"),
        ("estimate from bus", loop.estimates, "newest"),
        ("plan from bus", loop.plans, "newest"),
        ("tracker", loop.tracker, "command"),
        ("decision and frame", bridge.decision, "decide"),
        ("command to robot", bridge._link, "send"),
        ("command to bus", bridge, "_on_sent"),
    ):
        times.watch(owner, method, name)


def _loopback() -> socket.socket:
    """A datagram socket of loopback that never blocks."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind((LOCALHOST, 0))
    made.setblocking(False)
    return made


def _measure_bare(ticks: int, times: Times) -> None:
    """The system calls of a tick: a datagram in, a datagram out."""
    robot, here = _loopback(), _loopback()
    frame, command = bytes(WIRE.state.itemsize), bytes(WIRE.command.itemsize)
    clock = RealTimeClock(TICK_S)

    def system_calls() -> None:
        here.recvmsg(2 * len(frame), 64)
        here.sendto(command, robot.getsockname())

    for _ in range(ticks):
        robot.sendto(frame, here.getsockname())
        clock.wait_tick()
        times.call(BARE, system_calls)
        robot.recv(len(command))
    for end in (robot, here):
        end.close()


def _row(stage: str, times: Times) -> dict[str, Any]:
    return {
        "process": "estimator" if stage == UPDATE else "tracker", "stage": stage,
        **times.quantiles(stage, US, us_p50=50.0, us_p99=99.0), "n": len(times.seconds[stage]),
        "at_most_us_p50": None, "at_most_us_p99": None,
    }  # fmt: skip
