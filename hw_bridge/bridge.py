"""The bridge to the A1: frames in, readings out; commands in, frames out, and no unsafe one.

A frame passes: link, intake (is it the robot's newest?), monitor (may the robot go on?). A command
passes: the tracker's word (`following`), the state machine, the limiter, the encoder, the link. The
tracker's commands reach the motors in the state "running" only; every other motion is the machine's
own. It fulfils the controller's RobotBridge protocol by its methods alone.
"""

import logging
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from hw_bridge.attitude import tilt_of
from hw_bridge.following import Following
from hw_bridge.intake import Intake, Sample
from hw_bridge.link import Link
from hw_bridge.machine import Machine
from hw_bridge.operator.operator import Operator
from hw_bridge.options import HardwareOptions
from hw_bridge.reading import to_reading
from hw_bridge.safety.limits import Limiter
from hw_bridge.safety.monitor import Monitor
from hw_bridge.sent import as_sent
from hw_bridge.setpoints import Setpoints, damping, no_torque
from hw_bridge.states import Request, RobotState
from hw_bridge.status import robot_status
from hw_bridge.wire.low_command import LowCommandEncoder
from hw_bridge.wire.remote import decode_remote
from runtime.clock import Clock
from runtime.histogram import LogHistogram
from runtime.messages import MotorCommand, RobotStatus, SensorReading

LOG = logging.getLogger(__name__)
FAULTS = {  # the limiter damps what it cannot send; to go on after that would be a guess
    "not_finite": "is not finite",
    "mode": "asks for a mode of the motors other than servo and brake",
    "malformed": "has not twelve numbers of each kind",
}
STATUS_EVERY = 20  # ticks
CONNECT_PERIOD_S = 0.002  # between frames that ask for the first state; the vendor's examples' rate

Stop = Callable[[], bool]


class A1Bridge:
    """Owns the connection to one A1; see the module.

    Attributes:
        machine: what the robot does.
        intake: what has been received.
        running_s: for how long the tracker has had the motors, and a plan [s].
        errors: exceptions that were caught on the way to the wire; each stops the robot.
    """

    def __init__(
        self,
        options: HardwareOptions,
        link: Link,
        operator: Operator,
        run_s: float = 0.0,
        publish: Callable[[RobotStatus], None] | None = None,
        sent: Callable[[MotorCommand], None] | None = None,
    ) -> None:
        """Compile what is compiled; nothing is sent yet.

        Args:
            options: of the bridge.
            link: to the robot; closed by `close`.
            operator: asked for requests every tick.
            run_s: how long the robot runs before it sits down by itself [s]; 0 until told.
            publish: takes the status 50 times a second, and when the state changes.
            sent: takes every command as it went over the wire, for a recording.
        """
        self.options = options
        self.machine = Machine(options.motion)
        self.intake = Intake(
            (options.link.robot_address, options.link.robot_port), options.tick_unit_s
        )
        self.monitor = Monitor(options.safety)
        self.limiter = Limiter(options.safety)
        self.errors, self.running_s = 0, 0.0
        self._link, self._operator = link, operator
        self._encoder = LowCommandEncoder()
        self._following = Following(
            options.safety.command_age_max_s, options.stand_down_patience_s
        )
        self._run_s, self._publish, self._sent = run_s, publish, sent
        self._running_since: float | None = None
        self._fed = self._over = False
        self._arrival: float | None = None  # of the frame that the next command answers [s]
        self._writes = 0
        self._told: RobotState | None = None  # the state that was published last
        self._latency_us = LogHistogram(1.0)
        self._now: Callable[[], float] = lambda: 0.0
        self._stop_frame = self._encoder.encode(damping(options.motion.damping_kd))

    @property
    def finished(self) -> bool:
        """Whether the robot has come to its end and the run may end."""
        return self._over or self.machine.finished

    def connect(self, clock: Clock, stop: Stop, pause: Callable[[float], None]) -> bool:
        """Ask for the robot's state, without torque, until the first good frame has come.

        The robot answers to the address that speaks to it (the drivers of motion_imitation and
        fast_and_efficient send zero commands first). False when stopped or out of time.

        Args:
            clock: real time.
            stop: ends the wait.
            pause: sleeps for so many seconds.
        """
        deadline = clock.now() + self.options.connect_timeout_s
        while self.intake.last is None:
            if stop() or clock.now() > deadline:
                return False
            self._link.send(self._encoder.encode(no_torque()))
            pause(CONNECT_PERIOD_S)
            self._receive()
        return True

    def read(self, clock: Clock, tick: int, stop: Stop) -> SensorReading | None:
        """The newest believed frame, for the stack; None without a new one, or while not running.

        The stack gets to see a robot that stands on its feet: before, its filters would start on a
        robot that lies on its belly.
        """
        self._now = clock.now
        sample = self._receive()
        self._ask_operator()
        if sample is None or not self._feeds_stack:
            return None
        self._fed = True
        return to_reading(sample, self.options.sensing)

    def write(self, command: MotorCommand) -> None:
        """Send what may be sent of `command`. Raises nothing: an error is a stop."""
        try:
            self._write(command)
        except Exception:
            self.errors += 1
            if self.errors == 1:
                LOG.exception("bridge: an error on the way to the wire; damping")
            self.machine.stop("an error in the bridge; see the log")
            self._link.send(self._stop_frame)

    def end(self, cause: str = "") -> None:
        """Sit the robot down, if it is up, and finish; `cause` is what went wrong, if anything."""
        self.machine.sit_down(cause)
        if self.options.mode != "full":
            self._over = True

    def close(self) -> None:
        """Let go of socket and gamepad; safe to call twice."""
        self._operator.close()
        self._link.close()

    def report(self) -> dict[str, Any]:
        """Counts and causes of the run, ready for JSON."""
        machine = self.machine
        return {
            "mode": self.options.mode,
            "state": machine.state.value,
            "cause": machine.cause,
            "ended_well": machine.ended_well or self.options.mode != "full",
            "running_s": self.running_s,
            "frames": dict(self.intake.counts),
            "commands": self._writes,
            "limited": dict(self.limiter.counts),
            "saturated": self._encoder.saturated,
            "state_to_command_us": asdict(self._latency_us.quantiles()),
            "errors": self.errors,
        }

    @property
    def _feeds_stack(self) -> bool:
        return self.options.mode != "full" or self.machine.state is RobotState.RUNNING

    @property
    def _lean(self) -> float:
        """Tilt of the trunk measured last [rad], NaN before the first."""
        last = self.intake.last
        return math.nan if last is None else tilt_of(last.state.quaternion_wxyz)

    def _receive(self) -> Sample | None:
        """Take in what has come; remember when, for the latency of the command that answers it."""
        sample = self.intake.take(self._link.receive())
        if sample is not None:
            self._arrival = sample.arrival
            if self.intake.header is not None and self.intake.header != self._encoder.header:
                self._encoder.header = self.intake.header
                self._stop_frame = self._encoder.encode(damping(self.options.motion.damping_kd))
        return sample

    def _ask_operator(self) -> None:
        last = self.intake.last
        remote = None if last is None else decode_remote(last.state.remote)
        for request, why in self._operator.poll(self.machine.state, remote):
            if self.options.mode != "full":
                self._over |= request in (Request.STOP, Request.END)
            elif request is Request.STAND_UP and not self._lean <= self.options.motion.lean_max:
                lean = math.degrees(self._lean)
                self.end(f"leans by {lean:.0f} deg: lay the robot on its belly first")
            else:
                self.machine.request(request, why)
        if self._run_s and self.running_s > self._run_s:
            self.machine.request(Request.END, "")

    def _write(self, command: MotorCommand) -> None:
        now, last = self._now(), self.intake.last
        wanted = Setpoints(command.q, command.dq, command.kp, command.kd, command.tau)
        if self.options.mode == "full":
            setpoints = self._decide(command, wanted, last, now)
        else:
            setpoints = self._pretend(wanted, last, now)
        self._writes += 1
        urgent = self.machine.state is RobotState.DAMPING
        if urgent or self._writes % self.options.send_every == 0:
            self._link.send(self._encoder.encode(setpoints))
            self._note_latency()
        if self._sent is not None and last is not None:
            joints = last.state.q[:12], last.state.dq[:12]
            self._sent(as_sent(command, setpoints, self.machine.state, *joints))
        changed = self.machine.state is not self._told
        if self._publish is not None and (changed or self._writes % STATUS_EVERY == 0):
            self._told = self.machine.state
            self._publish(robot_status(self.machine, self.intake, now, self._writes))

    def _note_latency(self) -> None:
        """Count how long the newest frame has waited for the command that answers it."""
        if self._arrival is not None:
            self._latency_us.add(1e6 * (self._now() - self._arrival))
            self._arrival = None

    def _decide(
        self, command: MotorCommand, wanted: Setpoints, last: Sample | None, now: float
    ) -> Setpoints:
        """What goes to the motors now, within the limits."""
        machine = self.machine
        serving = machine.state not in (RobotState.OFF, RobotState.DAMPING)
        self._obey(self.monitor.judge(last, now, serving))
        for warning in self.monitor.take_warnings():
            LOG.warning("bridge: %s", warning)
        follows = machine.state is RobotState.RUNNING and self._fed
        if follows:
            self._obey(self._following.judge(command, now))
            if self._running_since is None and command.status in ("ok", "hold"):
                self._running_since = now
            self.running_s = 0.0 if self._running_since is None else now - self._running_since
        q, dq = (None, None) if last is None else (last.state.q[:12], last.state.dq[:12])
        setpoints = machine.step(now, q, dq, wanted if follows else None)
        if q is None or dq is None:
            return setpoints
        limited = self.limiter.apply(setpoints, q, dq, now)
        for fault in FAULTS.keys() & limited.limited:
            machine.stop(f"a command that {FAULTS[fault]}")
        return limited.setpoints

    def _pretend(self, wanted: Setpoints, last: Sample | None, now: float) -> Setpoints:
        """No torque; what the limiter would have done of the tracker's command is counted."""
        if last is not None and self._fed:
            self.limiter.apply(wanted, last.state.q[:12], last.state.dq[:12], now)
        return no_torque()

    def _obey(self, verdict: Any) -> None:
        if verdict.action == "damp":
            self.machine.stop(verdict.cause)
        elif verdict.action == "sit_down":
            self.machine.sit_down(verdict.cause)
