"""What the motors' encoders say, stuck ones included."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Encoders:
    """Angles, speeds and accelerations of the twelve joints.

    Attributes:
        q, dq, ddq: (12) [rad], [rad/s], [rad/s^2]; of a stuck one the last angle, 0 and 0.
        stuck: (12) which are stuck.
    """

    def __init__(self, q: Array, dq: Array) -> None:
        """Begin with a first measurement (12)."""
        self.q, self.dq, self.ddq = q.copy(), dq.copy(), np.zeros(12)
        self.stuck = np.zeros(12, np.bool_)
        self._told_speed = np.full(12, np.nan)
        self._any = False

    def stick(self, stuck: NDArray[np.bool_], told_speed: Array) -> None:
        """From now on these (12) are stuck, and these speeds are told (12) [rad/s], NaN: none."""
        self.stuck, self._told_speed = stuck, told_speed
        self._any = bool(stuck.any()) or not np.isnan(told_speed).all()

    def read(self, q: Array, dq: Array, period: float) -> None:
        """Take a measurement (12), `period` [s] after the last one."""
        if self._any:
            q, dq = np.where(self.stuck, self.q, q), np.where(self.stuck, 0.0, dq)
            dq = np.where(np.isnan(self._told_speed), dq, self._told_speed)
        self.ddq = (dq - self.dq) / period
        self.q, self.dq = q, dq
