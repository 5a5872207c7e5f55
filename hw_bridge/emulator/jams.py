"""Joints that jam: a stiff spring and damper hold each where it was."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STIFFNESS = 2000.0  # [N m/rad]: a motor's full torque turns the joint by 0.02 rad
DAMPING = 6.0  # [N m s/rad]: with a lower leg's 0.013 kg m^2 stable at 1 kHz


class Jams:
    """The jammed joints of one robot."""

    def __init__(self) -> None:
        """No joint is jammed."""
        self._jammed = np.zeros(12, np.bool_)
        self._at = np.zeros(12)

    def __bool__(self) -> bool:
        """Whether a joint is jammed."""
        return bool(self._jammed.any())

    def jam(self, jammed: NDArray[np.bool_], q: Array) -> None:
        """From now on these joints (12) are jammed; those that were not, at q (12) [rad]."""
        self._at = np.where(jammed & ~self._jammed, q, self._at)
        self._jammed = jammed

    def torque(self, q: Array, dq: Array) -> Array:
        """The torque (12) [N m] on the joints at q, dq (12) [rad], [rad/s]."""
        return self._jammed * (STIFFNESS * (self._at - q) - DAMPING * dq)
