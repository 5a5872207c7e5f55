"""The decision of a tick: verdicts on robot and tracker, the state machine, the limiter."""

import logging
from typing import Final

import numpy as np

from hw_bridge.intake import DQ, TRUNK, Q, Sample
from hw_bridge.options import HardwareOptions
from hw_bridge.safety.limits import NOT_FINITE, Limiter
from hw_bridge.safety.monitor import GO, Monitor, Verdict, damp
from hw_bridge.state_machine import StateMachine
from hw_bridge.states import RobotState
from hw_bridge.wire.low_command import SENT, Array, LowCommandEncoder, Setpoints, no_torque
from robots.robot import Robot
from runtime.checked import layout
from runtime.messages import MotorCommand
from runtime.rows import layout_of

COMMAND: Final = layout_of(MotorCommand)
TIME: Final = 1  # in its row
STATUS, TILT = (COMMAND.spans[name].start for name in ("status", "tilt"))
_WORDS: Final = dict(layout(MotorCommand).words)["status"]
FOLLOWING: Final = 1  # the last of the statuses of a tracker that follows a plan
assert _WORDS[: FOLLOWING + 1] == ("ok", "hold")
FIRST_PLAN_S = 10.0  # for which a robot stands and waits for the first plan [s]
LOG = logging.getLogger(__name__)
_STATUS = {  # of a command that the machine gives in the tracker's place
    state: _WORDS.index(word) for state, word in (
        (RobotState.OFF, "damp"), (RobotState.DAMPING, "damp"), (RobotState.STAND_UP, "waiting"),
        (RobotState.READY, "waiting"), (RobotState.SIT_DOWN, "stand_down"),
    )
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
        self.machine = StateMachine(options.motion, robot)
        self.limiter = Limiter(safety, robot, encoder)
        self.running_s = 0.0
        self.monitor = Monitor(safety, robot)
        self._age_max, self._patience = safety.command_age_max_s, options.stand_down_patience_s
        self._decided_at: float | None = None  # [s]
        self._standing_since: float | None = None  # the tracker, without a plan
        self._why = ""  # it stands, as it said first
        self._moves, self._joints_age_max_s = options.mode == "full", safety.state_age_hold_s
        self._motions = options.motions
        self._running_since: float | None = None

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
        row, machine = command.row, self.machine
        if not self._moves:
            return self._pretend(row, last, now, fed)
        serving = machine.state is not RobotState.OFF and machine.state is not RobotState.DAMPING
        before, self._decided_at = self._decided_at, now
        if serving and before is not None and not now - before <= self._age_max:
            gap, limit = 1e3 * (now - before), 1e3 * self._age_max
            machine.stop(f"no command was sent for {gap:.0f} ms (limit {limit:.0f})")
        tilts = self._motions and machine.state is RobotState.RUNNING and fed
        verdict = self.monitor.judge(last, now, serving, row[TILT] if tilts else 0.0)
        if verdict is not GO:
            self._obey(verdict)
        while self.monitor.warnings:
            LOG.warning("bridge: %s", self.monitor.warnings.pop(0))
        follows = machine.state is RobotState.RUNNING and fed
        if follows:
            if row[STATUS] <= FOLLOWING and now - row[TIME] <= self._age_max:
                self._standing_since = None
            else:
                self._obey(self._judge(command, now))
            if self._running_since is None:
                self._note_running(row, now)
            else:
                self.running_s = now - self._running_since
        if last is None:
            setpoints = machine.step(now, None, None, None)
            assert setpoints is not None
            return self._encoder.encode(setpoints), None
        numbers = last.numbers
        is_known = now - last.time <= self._joints_age_max_s
        q, dq = (numbers[Q], numbers[DQ]) if is_known else (None, None)
        if machine.is_ending:  # a tracker without a plan does no more than the machine can
            follows = follows and row[STATUS] <= FOLLOWING
        setpoints = machine.step(now, q, dq, row if follows else None, numbers[TRUNK])
        if setpoints is not None:
            row = _with_setpoints(row, setpoints)
        bits, sent = self.limiter.apply(row, numbers, is_known, now)
        if bits & NOT_FINITE:
            machine.stop("a command that is not finite")
        if machine.state is not RobotState.RUNNING:
            sent[STATUS] = _STATUS[machine.state]
        return self._encoder.bytes.tobytes(), COMMAND.view(sent)

    def _judge(self, command: MotorCommand, now: float) -> Verdict:
        """Whether to go on with a tracker whose `command` is old, or that follows no plan.

        Damp when the tracker does, or when its command is too old; sit down once it has stood
        without a plan for longer than the patience, or than FIRST_PLAN_S before the first plan.
        """
        age = now - command.time
        if not age <= self._age_max:
            limit = 1e3 * self._age_max
            return damp(f"the tracker's command is {1e3 * age:.0f} ms old ({limit:.0f})")
        if (status := command.status) == "damp":
            lost = "the tracker gave up: a fall, or nothing measured"
            return damp(lost + _in_words(command.reason))
        if self._standing_since is None:
            self._standing_since, self._why = now, command.reason
        patience = FIRST_PLAN_S if status == "waiting" else self._patience
        if now - self._standing_since <= patience:
            return GO
        lost = "the tracker has no plan or no estimate to follow"
        return Verdict("sit_down", lost + _in_words(self._why))

    def _pretend(
        self, row: Array, last: Sample | None, now: float, fed: bool
    ) -> tuple[bytes, MotorCommand | None]:
        """No torque; what the limiter would have done of the tracker's command is counted."""
        self._note_running(row, now)
        if last is None:
            return self._encoder.encode(no_torque()), None
        if fed:
            self.limiter.apply(row, last.numbers, True, now)
        numbers = last.numbers  # as targets they make a curve that can be drawn
        sent = _with_setpoints(row, no_torque()._replace(q=numbers[Q], dq=numbers[DQ]))
        sent[STATUS] = _STATUS[self.machine.state]
        return self._encoder.encode(no_torque()), COMMAND.view(sent)

    def _note_running(self, row: Array, now: float) -> None:
        """Running begins with the first command that follows a plan."""
        if self._running_since is None and row[STATUS] <= FOLLOWING:
            self._running_since = now
        self.running_s = 0.0 if self._running_since is None else now - self._running_since

    def _obey(self, verdict: Verdict) -> None:
        if verdict.action == "damp":
            self.machine.stop(verdict.cause)
        elif verdict.action == "sit_down":
            self.machine.sit_down(verdict.cause)


def _with_setpoints(row: Array, setpoints: Setpoints) -> Array:
    """A command's row with other setpoints."""
    row = row.copy()
    row[SENT] = np.concatenate(setpoints)
    return row


def _in_words(reason: str) -> str:
    """The tracker's reason, to be added to a line."""
    return f" ({reason.replace('_', ' ')})" if reason else ""
