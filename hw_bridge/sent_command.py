"""What went over the wire, as the message that is recorded."""

import numpy as np

from hw_bridge.setpoints import Array, Setpoints, is_switched_off
from hw_bridge.states import RobotState
from hw_bridge.take_in import DQ, Q
from hw_bridge.wire.layout import POS_STOP, VEL_STOP
from runtime.messages import MotorCommand

_STATUS = {
    RobotState.OFF: "damp", RobotState.DAMPING: "damp", RobotState.STAND_UP: "waiting",
    RobotState.READY: "waiting", RobotState.SIT_DOWN: "stand_down",
}  # fmt: skip


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
