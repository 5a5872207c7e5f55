"""The bridge to the robot: frames in, readings out; commands in, frames out, and no unsafe one.

A frame passes link and intake (is it the robot's newest?), a command `decision` (monitor, the
tracker's word, state machine, limiter), encoder and link. The tracker's commands reach the motors
in the state "running" only; every other motion is the machine's own. It fulfils the controller's
RobotBridge protocol by its methods alone.
"""

import logging
import math
from collections import deque
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from hw_bridge.decision import Decision
from hw_bridge.intake import (
    ACCELEROMETER,
    BELIEVED,
    DQ,
    GYROSCOPE,
    QUATERNION,
    READING,
    STACK_TICK,
    TEMPERATURE,
    TORQUE,
    Intake,
    Sample,
)
from hw_bridge.link import Link
from hw_bridge.operator.driving import Steering
from hw_bridge.operator.operator import Operator
from hw_bridge.options import HardwareOptions
from hw_bridge.state_machine import StateMachine
from hw_bridge.states import Request, RobotState
from hw_bridge.watchdog.link import WatchdogLink
from hw_bridge.wire.layout import Header, command_header, wire_of
from hw_bridge.wire.low_command import LowCommandEncoder, damping, no_torque
from hw_bridge.wire.remote import Remote, decode_remote
from robots.imu_units import doubt_at_rest
from robots.robot import Robot
from robots.rotations import tilt_of
from runtime.clock import Clock
from runtime.histogram import LogHistogram
from runtime.messages import MotorCommand, RobotStatus, SensorReading
from runtime.rows import layout_of


def robot_status(machine: StateMachine, intake: Intake, now: float, tick: int) -> RobotStatus:
    """Status of the bridge at `now` [s], its `tick`-th; zeros before the first good frame."""
    last = intake.last
    believed = sum(intake.counts[name] for name in BELIEVED)
    temperature, power = np.zeros(12), 0.0
    if last is not None:
        temperature = last.numbers[TEMPERATURE]
        power = float(np.abs(last.numbers[TORQUE] * last.numbers[DQ]).sum())
    return RobotStatus(
        tick=tick, time=now, state=machine.state.value, cause=machine.cause,
        temperature=temperature, power=power,
        state_age=float("inf") if last is None else now - last.time,
        frames=believed, refused=sum(intake.counts.values()) - believed,
        is_ending=machine.is_ending,
    )  # fmt: skip


LOG = logging.getLogger(__name__)
STATUS_EVERY = 20  # ticks
_VIEW = layout_of(SensorReading).view
CONNECT_PERIOD_S = 0.002  # between frames that ask for the first state; the vendor's examples' rate
# [rad] up to which a robot may stand up: of 25 random poses in simulation all 18 up to 0.57 rad
# rose, of 6 beyond 0.62 rad two.
LEAN_MAX = 0.55
MOST_ERRORS = 5000  # ticks of nothing but stop frames, after which the run is over all the same

Stop = Callable[[], bool]


class Bridge:
    """Owns the connection to one robot; see the module.

    Attributes:
        decision: what goes to the motors.
        machine: what the robot does.
        intake: of the received frames.
        errors: exceptions that were caught on the way from or to the wire; each stops the robot.
        unsent: frames that the link did not take.
    """

    def __init__(
        self,
        options: HardwareOptions,
        robot: Robot,
        link: Link,
        operator: Operator,
        run_s: float,
        publish: Callable[[RobotStatus], None],
        sent: Callable[[MotorCommand], None],
        steering: Steering | None = None,
        watchdog: WatchdogLink | None = None,
    ) -> None:
        """Compile what is compiled; nothing is sent yet.

        Args:
            options: of the bridge.
            robot: that it is connected to.
            link: to the robot; closed by `close`.
            operator: asked for requests after every command.
            run_s: how long the robot runs before it sits down by itself [s]; 0: until asked to.
            publish: takes the status 50 times a second, and when the state changes.
            sent: takes every command as it went over the wire, for a recording.
            steering: publishes the commands of a driver in this process, if there is one.
            watchdog: damps the robot where this process does not serve it any more; closed by
                `close`. None: there is none.
        """
        self.options = options
        wire = wire_of(robot)
        self._encoder = LowCommandEncoder(wire)
        self.decision = Decision(options, robot, self._encoder)
        self.machine = self.decision.machine
        self.intake = Intake(wire, options.link.robot, options.tick_unit_s, options.sensing)
        self.errors = self.unsent = 0
        self._link, self._operator, self._steering = link, operator, steering
        self._watchdog = watchdog
        self._run_s, self._publish, self._on_sent = run_s, publish, sent
        self._untold = 0  # ticks of which status or command could not be published
        self._published: RobotState | None = None  # the state that was published last
        self._settling = deque[Sample](maxlen=1 + round(options.motion.settle_s / STACK_TICK))
        self._fed = self._over = False
        self._header: Header | None = None  # the robot's
        self._remote_bytes, self._remote = b"", Remote()
        self._arrival: float | None = None  # of the frame that the next command answers [s]
        self._writes = 0
        self._latency_us = LogHistogram(1.0)
        self._now: Callable[[], float] = lambda: 0.0
        self._moves = options.mode == "full"
        self._renew_stop_frame()

    @property
    def is_finished(self) -> bool:
        """Whether the robot has come to its end and the run may end."""
        return self._over or self.machine.is_finished

    def connect(self, clock: Clock, stop: Stop, pause: Callable[[float], None]) -> bool:
        """Ask for the robot's state, without torque, until the first good frame.

        The robot answers to the address that speaks to it (the drivers of motion_imitation and
        fast_and_efficient send zero commands first). False when stopped or out of time.

        Args:
            clock: real time.
            stop: ends the wait.
            pause: sleeps for so many seconds.
        """
        self._now = clock.now
        deadline = clock.now() + self.options.connect_timeout_s
        while self.intake.last is None:
            if stop() or clock.now() > deadline:
                return False
            self._send(self._encoder.encode(no_torque()))
            pause(CONNECT_PERIOD_S)
            self._receive()
        self._operator.begin()
        return True

    def read(self, clock: Clock, tick: int, stop: Stop) -> list[SensorReading]:
        """The frames believed since the last call, for the stack; none while it does not run.

        The stack gets to see a robot that stands on its feet: before, its filters would start on a
        robot that lies on its belly. Raises nothing: an error is a stop.
        """
        self._now = clock.now
        try:
            sample = self._receive()
            if sample is None or not (self.machine.state is RobotState.RUNNING or not self._moves):
                return []
            self._fed = True
            if not self.intake.earlier_samples:
                return [_VIEW(sample.row[READING])]
            return [each.reading for each in (*self.intake.earlier_samples, sample)]
        except Exception:
            self._fail()
            return []

    def write(self, command: MotorCommand) -> None:
        """Send what may be sent of `command`, publish it, and ask the operator.

        Raises nothing: an error is a stop.
        """
        watchdog = self._watchdog
        try:
            if watchdog is not None and watchdog.latched:
                self._ask_operator()  # the watchdog's cause comes before what a hang leads to
            now, last, machine = self._now(), self.intake.last, self.machine
            frame, sent = self.decision.decide(command, last, now, self._fed)
            self._writes += 1
            urgent = machine.state is RobotState.DAMPING
            if urgent or self._writes % self.options.send_every == 0:
                is_latched = watchdog is not None and watchdog.latched
                self.unsent += not self._link.send(self._stop_frame if is_latched else frame)
                if self._arrival is not None:  # of the newest frame, which this one answers
                    self._latency_us.new.append(1e6 * (self._now() - self._arrival))
                    self._arrival = None
            if watchdog is not None:  # before what may be slow: status, log lines, keys
                watchdog.beat(self._is_on)
            if sent is not None:
                try:
                    self._on_sent(sent)
                except Exception as error:
                    self._note_untold(error)
            if machine.state is not self._published or self._writes % STATUS_EVERY == 0:
                self._latency_us.settle()
                self._published = machine.state
                self._tell(now)
            self._ask_operator()
            if self._steering is not None:
                self._steering.tick(now, self._feeds_stack, self._remote)
            if not urgent and machine.state is RobotState.DAMPING:
                self._send(self._stop_frame)  # a stop does not wait for the next tick
        except Exception:
            self._fail()
            self._send(self._stop_frame)
            if watchdog is not None:
                watchdog.beat(self._is_on)

    def end(self, cause: str = "") -> None:
        """Sit the robot down, if it is up, and finish; `cause` is what went wrong, if anything.

        Raises nothing. Not for a signal's handler: it would run in the middle of a tick.
        """
        try:
            self.machine.sit_down(cause)
        except Exception:
            self._fail()
        self._over |= not self._moves

    def close(self) -> None:
        """Let go of socket and watchdog; safe to call twice.

        A robot that is not off yet is damped: how long the last command would hold is unknown.
        """
        if self._is_on:
            self._send(self._stop_frame)
        if self._watchdog is not None:
            self._watchdog.close(not self._is_on)
        self._link.close()

    def report(self) -> dict[str, Any]:
        """Counts and causes of the run, ready for JSON."""
        machine = self.machine
        return {
            "mode": self.options.mode,
            "state": machine.state.value,
            "cause": machine.cause,
            "ended_well": machine.ended_well or (not self._moves and not self.errors),
            "running_s": self.decision.running_s,
            "frames": dict(self.intake.counts),
            "late_states": self.decision.monitor.late,
            "commands": self._writes,
            "limited": dict(self.decision.limiter.counts),
            "saturated": self._encoder.saturated,
            "state_to_command_us": asdict(self._latency_us.quantiles()),
            "errors": self.errors,
            "unsent": self.unsent,
            "untold": self._untold,
        }

    @property
    def _is_on(self) -> bool:
        """Whether the motors get more than commands without torque."""
        return self._moves and self.machine.state is not RobotState.OFF

    @property
    def _feeds_stack(self) -> bool:
        return not self._moves or self.machine.state is RobotState.RUNNING

    def _imu_doubt(self) -> str:
        """Measurement of a settled robot's IMU that cannot be, or ""."""
        numbers = np.array([sample.numbers for sample in self._settling])
        rates = np.linalg.norm(numbers[:, GYROSCOPE], axis=1)
        acceleration = np.linalg.norm(numbers[:, ACCELEROMETER].mean(axis=0))
        return doubt_at_rest(float(acceleration), float(np.sqrt((rates * rates).mean())))

    def _receive(self) -> Sample | None:
        """Take in pending frames; remember when the newest came, for the latency of its answer."""
        sample = self.intake.take(self._link.receive())
        if sample is not None:
            self._settling.append(sample)
            self._arrival = sample.arrival
            if self._header is not self.intake.header:
                self._header = self.intake.header
                self._encoder.header = command_header(self._header or Header())
                self._renew_stop_frame()
        return sample

    def _renew_stop_frame(self) -> None:
        """The frame that stops whatever the motors do; without torque where none is ever sent."""
        kd = self.options.motion.damping_kd
        self._stop_frame = self._encoder.encode(damping(kd) if self._moves else no_torque())
        if self._watchdog is not None:
            self._watchdog.set_frame(self._stop_frame)

    def _fail(self) -> None:
        """Stop the robot after an exception; a robot that cannot be served any more is let go."""
        self.errors += 1
        if self.errors == 1:
            LOG.exception("bridge: an error; damping")
        self.machine.stop("an error in the bridge; see the log")
        self._over |= not self._moves or self.errors > MOST_ERRORS

    def _ask_operator(self) -> None:
        last = self.intake.last
        if last is not None and last.frame[last.wire.remote] != self._remote_bytes:
            self._remote_bytes = last.frame[last.wire.remote]
            self._remote = decode_remote(self._remote_bytes)
        remote = None if last is None else self._remote
        for request, why in self._operator.poll(self.machine.state, remote):
            rises = request is Request.STAND_UP and self.machine.state is RobotState.OFF
            starts = request is Request.RUN and self.machine.state is RobotState.READY
            lean = math.nan if last is None else tilt_of(last.numbers[QUATERNION])
            if not self._moves:
                self._over |= request in (Request.STOP, Request.END)
            elif rises and not lean <= LEAN_MAX:
                degrees = math.degrees(lean)
                self.end(f"leans by {degrees:.0f} deg: lay the robot on its belly first")
            elif starts and (doubt := self._imu_doubt()):
                self.end(doubt)
            else:
                self.machine.request(request, why)
        if self._watchdog is not None and self._watchdog.latched:
            self.machine.stop("the watchdog damps; see its log")
        if self._run_s and self.decision.running_s > self._run_s:
            self.end()

    def _tell(self, now: float) -> None:
        """Publish the status; raises nothing where that cannot be done."""
        try:
            self._publish(robot_status(self.machine, self.intake, now, self._writes))
        except Exception as error:
            self._note_untold(error)

    def _note_untold(self, error: Exception) -> None:
        self._untold += 1
        if self._untold == 1:
            LOG.error("bridge: its status cannot be published: %s", error)

    def _send(self, frame: bytes) -> None:
        """Send it; where the watchdog damps, nothing but damping."""
        if self._watchdog is not None and self._watchdog.latched:
            frame = self._stop_frame
        self.unsent += not self._link.send(frame)
