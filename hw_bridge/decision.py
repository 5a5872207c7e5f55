"""What goes to the motors: the monitor's and the tracker's verdict, the state machine, the limiter.

A command of the tracker of which only the gains are to be changed, to what the wire can carry,
takes one compiled way to the wire (`act`). Where a limit or a fault is met, `Limiter` and
`LowCommandEncoder` do the same step by step, and name what they meet.
"""

import logging
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.intake import DQ, NUMBERS, TRUNK, Q, Sample
from hw_bridge.options import HardwareOptions
from hw_bridge.safety.limits import Limiter, gather, limit
from hw_bridge.safety.monitor import Monitor
from hw_bridge.safety.watches import GO, SendingWatch, Verdict
from hw_bridge.setpoints import Array, Setpoints, is_switched_off, no_torque
from hw_bridge.state_machine import StateMachine
from hw_bridge.states import RobotState
from hw_bridge.wire.frame import checksum
from hw_bridge.wire.layout import JOINTS, POS_STOP, VEL_STOP
from hw_bridge.wire.low_command import (
    LowCommandEncoder,
    Scales,
    cut_gains,
    with_wire_gains,
    write_motors,
)
from robots.robot import Robot
from runtime.messages import MotorCommand
from runtime.rows import layout_of

Bytes = NDArray[np.uint8]

ODD: Final = 1 << 16  # not finite, a loop that is switched off, or more than the frame can carry
COMMAND: Final = layout_of(MotorCommand)
SENT_Q, SENT_DQ, SENT_KP, SENT_KD, SENT_TAU = (
    COMMAND.spans[name] for name in ("q", "dq", "kp", "kd", "tau")
)


@njit(cache=True)
def act(
    command: Array, numbers: Array, last: Array, step: float, bounds: Array,
    places: NDArray[np.int64], scales: Scales, frame: Bytes, sent: Array, rows: Array,
) -> int:  # fmt: skip
    """Write a command into a frame; return the limits that were met, ored, ODD among them.

    Where none was met, 0, the frame may be sent.

    Args:
        command: row of `MotorCommand`.
        numbers: (75) of the newest sample, see `take_in`.
        last: (12, 5) the command before, see `limit`.
        step: by how much a torque may have changed since [N m].
        bounds: (12, 13) of the motors, see `limit`.
        places, scales: `Wire.motors_at` and `Wire.scales`.
        frame: of LowCmd, header and modes in place; not to be sent where a bit is set.
        sent: becomes the row of the command as it is in the frame.
        rows: (12, 5) become those of `limit`.
    """
    angles, speeds = numbers[Q], numbers[DQ]
    sent[:] = command
    q, dq, kp, kd, tau = sent[SENT_Q], sent[SENT_DQ], sent[SENT_KP], sent[SENT_KD], sent[SENT_TAU]
    kp[:], kd[:], tau[:] = cut_gains(scales, q, dq, kp, kd, tau, angles, speeds)
    finite, measured = gather(q, dq, kp, kd, tau, angles, speeds, rows)
    if not (finite and measured) or is_switched_off(q, dq):
        return ODD
    rows[:], _, hits = limit(rows, last, step, angles, speeds, bounds)
    if hits:
        return hits
    at_rest, saturated = write_motors(q, dq, kp, kd, tau, places, scales, frame)
    if at_rest or saturated:
        return ODD
    crc = checksum(frame)
    for i in range(4):
        frame[len(frame) - 4 + i] = np.uint8(crc >> np.uint32(8 * i))
    return 0


FIRST_PLAN_S = 10.0  # for which a robot stands and waits for the first plan [s]


class TrackerWatch:
    """Judges the tracker by its commands: fresh, and following a plan."""

    def __init__(self, command_age_max_s: float, patience_s: float) -> None:
        """`command_age_max_s` is the oldest command to act on, `patience_s` see `judge` [s]."""
        self._age_max, self._patience = command_age_max_s, patience_s
        self._standing_since: float | None = None
        self._why = ""  # it stands, as it said first

    def judge(self, command: MotorCommand, now: float) -> Verdict:
        """Whether to go on with `command` at `now` [s].

        Damp when the tracker does, or when its command is too old; sit down once it has stood
        without a plan for longer than the patience, or than FIRST_PLAN_S before the first plan.
        """
        age = now - command.time
        if not age <= self._age_max:
            limit = 1e3 * self._age_max
            return Verdict("damp", f"the tracker's command is {1e3 * age:.0f} ms old ({limit:.0f})")
        if (status := command.status) == "damp":
            lost = "the tracker gave up: a fall, or nothing measured"
            return Verdict("damp", lost + _in_words(command.reason))
        if status not in ("stand_down", "waiting"):
            self._standing_since = None
            return GO
        if self._standing_since is None:
            self._standing_since, self._why = now, command.reason
        patience = FIRST_PLAN_S if status == "waiting" else self._patience
        if now - self._standing_since <= patience:
            return GO
        lost = "the tracker has no plan or no estimate to follow"
        return Verdict("sit_down", lost + _in_words(self._why))


def _in_words(reason: str) -> str:
    """The tracker's reason, to be added to a line."""
    return f" ({reason.replace('_', ' ')})" if reason else ""


LOG = logging.getLogger(__name__)
FOLLOWING = ("ok", "hold")  # what a tracker says that follows a plan
FAULTS = {  # the limiter damps what it cannot send; to go on after that would be a guess
    "not_finite": "is not finite",
    "mode": "asks for a mode of the motors other than servo and brake",
    "malformed": "has not twelve numbers of each kind",
}

_STATUS = {  # of a command that the machine gives in the tracker's place
    RobotState.OFF: "damp", RobotState.DAMPING: "damp", RobotState.STAND_UP: "waiting",
    RobotState.READY: "waiting", RobotState.SIT_DOWN: "stand_down",
}  # fmt: skip


class Decision:
    """Decides once a tick; knows no link and no operator.

    Attributes:
        machine: what the robot does.
        monitor: judges what the robot measures.
        limiter: last before the wire.
        running_s: for how long the tracker has had the motors, and a plan [s].
    """

    def __init__(self, options: HardwareOptions, robot: Robot, encoder: LowCommandEncoder) -> None:
        """Compile what is compiled; frames are written by `encoder`."""
        safety, self._encoder = options.safety, encoder
        self.machine, self.limiter = StateMachine(options.motion, robot), Limiter(safety, robot)
        self.running_s = 0.0
        self.monitor = Monitor(safety, robot)
        self._sending = SendingWatch(safety.command_age_max_s)
        self._following = TrackerWatch(safety.command_age_max_s, options.stand_down_patience_s)
        self._moves, self._joints_age_max_s = options.mode == "full", safety.state_age_hold_s
        self._motions = options.motions
        self._running_since: float | None = None
        act(np.zeros(COMMAND.width), np.zeros(NUMBERS), self.limiter.last, 0.0, self.limiter.bounds,
            encoder.wire.motors_at, encoder.wire.scales, encoder.servo_frame,
            np.zeros(COMMAND.width), np.empty((JOINTS, 5)))  # fmt: skip
        is_switched_off(*no_torque()[:2])
        with_wire_gains(encoder.wire.scales, no_torque(), *np.zeros((2, JOINTS)))
        # pyrefly: ignore[missing-attribute]
        act.disable_compile()  # a control loop has no time to wait for a compiler
        encoder.encode(no_torque())

    def decide(
        self, command: MotorCommand, last: Sample | None, now: float, fed: bool
    ) -> tuple[bytes, MotorCommand | None]:
        """Return the frame that the motors get now, and the command with what is in the frame.

        There is no command before the first state.

        Args:
            command: the tracker's, of this tick.
            last: the newest believed state, None before the first.
            now: [s].
            fed: whether the tracker has seen the robot yet.
        """
        row = command.row
        wanted = Setpoints(row[SENT_Q], row[SENT_DQ], row[SENT_KP], row[SENT_KD], row[SENT_TAU])
        if not self._moves:
            return self._pretend(command, wanted, last, now, fed)
        machine = self.machine
        serving = machine.state not in (RobotState.OFF, RobotState.DAMPING)
        self._obey(self._sending.judge(serving, now))
        tilts = self._motions and machine.state is RobotState.RUNNING and fed
        tilt = command.tilt if tilts else 0.0  # a command that is too old damps, below
        self._obey(self.monitor.judge(last, now, serving, tilt))
        for warning in self.monitor.take_warnings():
            LOG.warning("bridge: %s", warning)
        follows = machine.state is RobotState.RUNNING and fed
        if follows:
            self._obey(self._following.judge(command, now))
            self._note_running(command, now)
        if last is None:
            return self._encoder.encode(machine.step(now, None, None, None)), None
        q, dq = last.numbers[Q], last.numbers[DQ]
        is_known = now - last.time <= self._joints_age_max_s
        known = (q, dq) if is_known else (None, None)
        if machine.is_ending:  # a tracker without a plan does no more than the machine can
            follows = follows and command.status in FOLLOWING
        setpoints = machine.step(now, *known, wanted if follows else None, last.numbers[TRUNK])
        if setpoints is wanted and is_known:
            sent = self._act(row, last.numbers, now)
            if sent is not None:
                return sent
        limited = self.limiter.apply(
            with_wire_gains(self._encoder.wire.scales, setpoints, q, dq), *known, now
        )
        for fault in FAULTS.keys() & limited.limited:
            machine.stop(f"a command that {FAULTS[fault]}")
        return self._encoded(command, limited.setpoints, last)

    def _act(
        self, command: Array, numbers: Array, now: float
    ) -> tuple[bytes, MotorCommand] | None:
        """The tracker's row as it is but for its gains; None where there is more to be done."""
        step = self.limiter.allowance(now)
        if step is None:
            return None
        frame = self._encoder.servo_frame
        sent, rows = np.empty(COMMAND.width), np.empty((JOINTS, 5))
        limiter, wire = self.limiter, self._encoder.wire
        if act(command, numbers, limiter.last, step, limiter.bounds, wire.motors_at,
               wire.scales, frame, sent, rows):  # fmt: skip
            return None
        limiter.accept(rows, now)
        return frame.tobytes(), COMMAND.view(sent)

    def _encoded(
        self, command: MotorCommand, setpoints: Setpoints, last: Sample
    ) -> tuple[bytes, MotorCommand]:
        sent = as_sent(command, setpoints, self.machine.state, last.numbers)
        return self._encoder.encode(setpoints), sent

    def _pretend(
        self, command: MotorCommand, wanted: Setpoints, last: Sample | None, now: float, fed: bool
    ) -> tuple[bytes, MotorCommand | None]:
        """No torque; what the limiter would have done of the tracker's command is counted."""
        self._note_running(command, now)
        if last is not None and fed:
            self.limiter.apply(wanted, last.numbers[Q], last.numbers[DQ], now)
        if last is None:
            return self._encoder.encode(no_torque()), None
        return self._encoded(command, no_torque(), last)

    def _note_running(self, command: MotorCommand, now: float) -> None:
        """Running begins with the first command that follows a plan."""
        if self._running_since is None and command.status in FOLLOWING:
            self._running_since = now
        self.running_s = 0.0 if self._running_since is None else now - self._running_since

    def _obey(self, verdict: Verdict) -> None:
        if verdict.action == "damp":
            self.machine.stop(verdict.cause)
        elif verdict.action == "sit_down":
            self.machine.sit_down(verdict.cause)


def as_sent(
    command: MotorCommand, setpoints: Setpoints, state: RobotState, numbers: Array
) -> MotorCommand:
    """The tracker's command with what was sent in its place.

    A loop that is switched off (PosStopF, VelStopF) shows the measured joints, of `numbers` (75),
    as its target: the same torque, and a curve that can be drawn.
    """
    rows = setpoints.q, setpoints.dq, setpoints.kp, setpoints.kd
    if is_switched_off(setpoints.q, setpoints.dq):
        q_off, dq_off = setpoints.q >= POS_STOP, setpoints.dq >= VEL_STOP
        rows = (
            np.where(q_off, numbers[Q], setpoints.q), np.where(dq_off, numbers[DQ], setpoints.dq),
            setpoints.kp * ~q_off, setpoints.kd * ~dq_off,
        )  # fmt: skip
    return MotorCommand(
        tick=command.tick, time=command.time, q=rows[0], dq=rows[1], kp=rows[2], kd=rows[3],
        tau=setpoints.tau, plan_id=command.plan_id,
        status=_STATUS.get(state, command.status),  # type: ignore[arg-type]
        tilt=command.tilt, reason=command.reason,
    )  # fmt: skip
