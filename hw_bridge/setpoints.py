"""What the motors shall do: the setpoints of their own control law."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hw_bridge.wire.layout import JOINTS, POS_STOP, VEL_STOP
from robots.motor_law import motor_torque
from runtime.messages import MotorCommand
from runtime.rows import layout_of

Array = NDArray[np.float64]
_SPANS: Final = layout_of(MotorCommand).spans
SENT: Final = slice(_SPANS["q"].start, _SPANS["tau"].stop)  # q, dq, kp, kd, tau of a command's row
assert SENT.stop == SENT.start + 5 * JOINTS


class Setpoints(NamedTuple):
    """The inputs of the 12 motors' law, see `robots.motor_law`.

    POS_STOP as q switches its position term off, VEL_STOP as dq its velocity term.

    Attributes:
        q: (12) [rad].
        dq: (12) [rad/s].
        kp: (12) [N m/rad].
        kd: (12) [N m s/rad].
        tau: (12) [N m].
    """

    q: Array
    dq: Array
    kp: Array
    kd: Array
    tau: Array

    @property
    def rows(self) -> Array:
        """A row (12, 5) for each motor."""
        return np.stack(self, axis=1)

    def torque(self, q: Array, dq: Array) -> Array:
        """Torques (12) [N m] of the law at measured joints q (12) [rad], dq (12) [rad/s]."""
        kp = np.where(self.q == POS_STOP, 0.0, self.kp)
        kd = np.where(self.dq == VEL_STOP, 0.0, self.kd)
        return motor_torque(self.q, self.dq, kp, kd, self.tau, q, dq)


def no_torque() -> Setpoints:
    """Both loops off, zero gains and torque: what the vendor's InitCmdData prepares."""
    return Setpoints(_all(POS_STOP), _all(VEL_STOP), _all(0.0), _all(0.0), _all(0.0))


def damping(kd: float) -> Setpoints:
    """Position loop off, torque -kd dq_measured, with kd in [N m s/rad]."""
    return Setpoints(_all(POS_STOP), _all(0.0), _all(0.0), _all(kd), _all(0.0))


def setpoints_of(command: Array) -> Setpoints:
    """Those of a row of `MotorCommand`."""
    return Setpoints(*command[SENT].reshape(5, JOINTS))


def _all(value: float) -> Array:
    return np.full(JOINTS, value)
