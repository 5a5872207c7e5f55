"""The twelve motor drivers: the newest setpoints, and the law that is followed for them."""

import numpy as np
from numpy.typing import NDArray

from hw_bridge.emulator.encoders import Encoders
from hw_bridge.emulator.motor_rows import asks_for_motion, largest_torque, motor_rows
from hw_bridge.setpoints import no_torque
from hw_bridge.wire.layout import BRAKE, JOINTS
from hw_bridge.wire.low_command import LowCommand
from runtime.messages import MotorCommand

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


class MotorDrivers:
    """Turns wire setpoints into a plant's commands.

    Attributes:
        mode: (12) that the motors are in; one that is shut down stays in its own.
        rows: (5, 12) the law followed now: q, dq, kp, kd, tau.
    """

    def __init__(self, brake_kd: float) -> None:
        """Compile what is compiled; brake with `brake_kd` [N m s/rad] until told otherwise."""
        self.mode = self._brakes = np.full(JOINTS, BRAKE)
        self.rows = np.zeros((5, JOINTS))
        self._brake_kd = brake_kd
        self._wanted = self.mode
        self._setpoints = no_torque()[:5]
        self._given = b""
        self._none = np.zeros(JOINTS, np.bool_)
        self._follow(self._none, self._none, np.zeros(JOINTS), True)
        largest_torque(self.rows, self.rows[0], self.rows[1])
        asks_for_motion(self.rows)

    def take(self, command: LowCommand) -> int:
        """Keep a command's setpoints; return how many motors have a number that is not finite."""
        self._wanted, self._setpoints = command.mode[:JOINTS], command.setpoints[:5]
        return self._follow(self._none, self._none, self._setpoints[0], False)

    @property
    def asks_for_motion(self) -> bool:
        """Whether the rows ask any motor for a position or a torque; damping does not."""
        return asks_for_motion(self.rows)

    def largest_torque(self, q: Array, dq: Array) -> float:
        """The largest torque [N m] that the rows ask of a motor at joints q, dq (12)."""
        return largest_torque(self.rows, q, dq)

    def follow(self, shut_down: Flags, encoders: Encoders, brake_all: bool) -> None:
        """Set the rows for what the robot is like now."""
        self.mode = self._brakes if brake_all else self._wanted
        self._follow(shut_down, encoders.stuck, encoders.q, brake_all)

    def command(self, tick: int, time: float) -> MotorCommand | None:
        """The rows as a command, None if they are those of the last one."""
        given = self.rows.tobytes()
        if given == self._given:
            return None
        self._given = given
        q, dq, kp, kd, tau = self.rows.copy()
        return MotorCommand(
            tick=tick, time=time, q=q, dq=dq, kp=kp, kd=kd, tau=tau, plan_id=-1, status="ok"
        )

    def _follow(self, shut_down: Flags, stuck: Flags, stuck_at: Array, brake_all: bool) -> int:
        return motor_rows(
            self._wanted, *self._setpoints, shut_down, stuck, stuck_at, brake_all,
            self._brake_kd, self.rows,
        )  # fmt: skip
