"""Whether the numbers that the stack lives on are finite, without decoding the frame."""

from typing import Final, LiteralString

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

from hw_bridge.wire.layout import JOINTS, LOW_STATE, MOTOR_STATE


def _at(record: np.dtype, name: LiteralString) -> int:
    """Offset [bytes] of a field in its record."""
    assert record.fields is not None
    return int(record.fields[name][1])


def _offsets() -> NDArray[np.int64]:
    """Where the IMU's numbers stand in a LowState frame, and q and dq of our 12 motors."""
    imu = range(_at(LOW_STATE, "quaternion_wxyz"), _at(LOW_STATE, "imu_temperature"), 4)
    motors = _at(LOW_STATE, "motors") + MOTOR_STATE.itemsize * np.arange(JOINTS)
    joints = [motors + _at(MOTOR_STATE, name) for name in ("q", "dq")]
    return np.concatenate((np.array(imu), *joints)).astype(np.int64)


_OFFSETS: Final = _offsets()


# Compiled on import, for this type alone: the first frame shall not wait for a compiler.
@njit(types.boolean(types.Array(types.uint8, 1, "C", readonly=True)), cache=True)
def _finite(frame: NDArray[np.uint8]) -> bool:
    for offset in _OFFSETS:  # an exponent of ones: infinite or not a number (IEEE 754)
        if frame[offset + 3] & 0x7F == 0x7F and frame[offset + 2] & 0x80:
            return False
    return True


def is_finite(frame: bytes) -> bool:
    """Whether a whole LowState frame has a finite IMU, and finite q and dq of motors 0 to 11.

    Their torque estimates are integers on the wire, so they are finite always.
    """
    return bool(_finite(np.frombuffer(frame, np.uint8)))
