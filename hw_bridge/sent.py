"""What went over the wire, as the message that is recorded."""

import msgspec

from hw_bridge.setpoints import Array, Setpoints
from hw_bridge.states import RobotState
from hw_bridge.wire.layout import POS_STOP, VEL_STOP
from runtime.messages import MotorCommand

_STATUS = {
    RobotState.OFF: "damp", RobotState.DAMPING: "damp", RobotState.STAND_UP: "waiting",
    RobotState.READY: "waiting", RobotState.SIT_DOWN: "stand_down",
}  # fmt: skip


def as_sent(
    command: MotorCommand, setpoints: Setpoints, state: RobotState, q: Array, dq: Array
) -> MotorCommand:
    """The tracker's command with what was sent in its place.

    A loop that is switched off (PosStopF, VelStopF) shows the measured joints `q` [rad], `dq`
    [rad/s], (12) each, as its target: the same torque, and a curve that can be drawn.
    """
    q_off, dq_off = abs(setpoints.q) >= POS_STOP, abs(setpoints.dq) >= VEL_STOP
    return msgspec.structs.replace(
        command,
        q=setpoints.q * ~q_off + q * q_off, dq=setpoints.dq * ~dq_off + dq * dq_off,
        kp=setpoints.kp * ~q_off, kd=setpoints.kd * ~dq_off, tau=setpoints.tau,
        status=_STATUS.get(state, command.status),
    )  # fmt: skip
