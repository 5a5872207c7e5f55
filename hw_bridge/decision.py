"""What goes to the motors: the monitor's and the tracker's word, the state machine, the limiter."""

import logging

from hw_bridge.following import Following
from hw_bridge.intake import Sample
from hw_bridge.machine import Machine
from hw_bridge.options import HardwareOptions
from hw_bridge.safety.limits import Limiter
from hw_bridge.safety.monitor import Monitor
from hw_bridge.safety.verdict import Verdict
from hw_bridge.setpoints import Setpoints, no_torque
from hw_bridge.states import RobotState
from hw_bridge.wire.gains import with_wire_gains
from runtime.messages import MotorCommand

LOG = logging.getLogger(__name__)
FAULTS = {  # the limiter damps what it cannot send; to go on after that would be a guess
    "not_finite": "is not finite",
    "mode": "asks for a mode of the motors other than servo and brake",
    "malformed": "has not twelve numbers of each kind",
}


class Decision:
    """Decides once a tick; knows no link and no operator.

    Attributes:
        machine: what the robot does.
        monitor: judges what the robot measures.
        limiter: last before the wire.
        running_s: for how long the tracker has had the motors, and a plan [s].
    """

    def __init__(self, options: HardwareOptions) -> None:
        """Compile what is compiled."""
        safety = options.safety
        self.machine, self.limiter = Machine(options.motion), Limiter(safety)
        self.running_s = 0.0
        self.monitor = Monitor(safety)
        self._following = Following(safety.command_age_max_s, options.stand_down_patience_s)
        self._moves, self._state_age_max_s = options.mode == "full", safety.state_age_max_s
        self._running_since: float | None = None

    def setpoints(
        self, command: MotorCommand, last: Sample | None, now: float, fed: bool
    ) -> Setpoints:
        """Return what the motors get now.

        Args:
            command: the tracker's, of this tick.
            last: the newest believed state, None before the first.
            now: [s].
            fed: whether the tracker has seen the robot yet.
        """
        wanted = Setpoints(command.q, command.dq, command.kp, command.kd, command.tau)
        if not self._moves:
            return self._pretend(command, wanted, last, now, fed)
        machine = self.machine
        serving = machine.state not in (RobotState.OFF, RobotState.DAMPING)
        self._obey(self.monitor.judge(last, now, serving))
        for warning in self.monitor.take_warnings():
            LOG.warning("bridge: %s", warning)
        follows = machine.state is RobotState.RUNNING and fed
        if follows:
            self._obey(self._following.judge(command, now))
            self._note_running(command, now)
        if last is None:
            return machine.step(now, None, None, None)
        q, dq = last.state.q[:12], last.state.dq[:12]
        known = (q, dq) if now - last.time <= self._state_age_max_s else (None, None)
        setpoints = machine.step(now, *known, wanted if follows else None)
        limited = self.limiter.apply(with_wire_gains(setpoints, q, dq), q, dq, now)
        for fault in FAULTS.keys() & limited.limited:
            machine.stop(f"a command that {FAULTS[fault]}")
        return limited.setpoints

    def _pretend(
        self, command: MotorCommand, wanted: Setpoints, last: Sample | None, now: float, fed: bool
    ) -> Setpoints:
        """No torque; what the limiter would have done of the tracker's command is counted."""
        self._note_running(command, now)
        if last is not None and fed:
            self.limiter.apply(wanted, last.state.q[:12], last.state.dq[:12], now)
        return no_torque()

    def _note_running(self, command: MotorCommand, now: float) -> None:
        """Running begins with the first command that follows a plan."""
        if self._running_since is None and command.status in ("ok", "hold"):
            self._running_since = now
        self.running_s = 0.0 if self._running_since is None else now - self._running_since

    def _obey(self, verdict: Verdict) -> None:
        if verdict.action == "damp":
            self.machine.stop(verdict.cause)
        elif verdict.action == "sit_down":
            self.machine.sit_down(verdict.cause)
