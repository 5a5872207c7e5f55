"""What went over the wire, as the message that is recorded."""

import numpy as np

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
    rows = setpoints.q, setpoints.dq, setpoints.kp, setpoints.kd
    if abs(rows[0]).max() >= POS_STOP or abs(rows[1]).max() >= VEL_STOP:
        q_off, dq_off = abs(setpoints.q) >= POS_STOP, abs(setpoints.dq) >= VEL_STOP
        rows = (
            np.where(q_off, q, setpoints.q), np.where(dq_off, dq, setpoints.dq),
            setpoints.kp * ~q_off, setpoints.kd * ~dq_off,
        )  # fmt: skip
    return MotorCommand(
        tick=command.tick, time=command.time, q=rows[0], dq=rows[1], kp=rows[2], kd=rows[3],
        tau=setpoints.tau, plan_id=command.plan_id,
        status=_STATUS.get(state, command.status),  # type: ignore[arg-type]
    )  # fmt: skip
