"""One compiled way for the tracker's command to the wire: cut gains, judge limits, encode, seal.

It goes that way where nothing is to be changed of it but its gains, to what the wire can carry.
Where a limit or a fault is met, `Limiter` and `LowCommandEncoder` do the same step by step, and
name what they meet.
"""

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.safety.limit_kernel import gather, limit
from hw_bridge.setpoints import is_switched_off
from hw_bridge.take_in import DQ, Q
from hw_bridge.wire.crc import checksum
from hw_bridge.wire.gains import cut_gains
from hw_bridge.wire.layout import JOINTS, LOW_COMMAND_SIZE
from hw_bridge.wire.low_command import COUNTS_AT, FLOATS_AT, write_motors
from runtime.messages import MotorCommand
from runtime.rows import layout_of

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]

ODD: Final = 1 << 16  # not finite, a loop that is switched off, or more than the frame can carry
COMMAND: Final = layout_of(MotorCommand)
SENT_Q, SENT_DQ, SENT_KP, SENT_KD, SENT_TAU = (
    COMMAND.spans[name] for name in ("q", "dq", "kp", "kd", "tau")
)


@njit(cache=True)
def act(
    command: Array, numbers: Array, last: Array, step: float, bounds: Array, frame: Bytes,
    sent: Array, rows: Array,
) -> int:  # fmt: skip
    """Write a command into a frame; return the limits that were met, ored, ODD among them.

    Where none was met, 0, the frame may be sent.

    Args:
        command: row of `MotorCommand`.
        numbers: (75) of the newest sample, see `take_in`.
        last: (12, 5) the command before, see `limit`.
        step: by how much a torque may have changed since [N m].
        bounds: (12, 13) of the motors, see `limit`.
        frame: (610) of LowCmd, header and modes in place; not to be sent where a bit is set.
        sent: becomes the row of the command as it is in the frame.
        rows: (12, 5) become those of `limit`.
    """
    angles, speeds = numbers[Q], numbers[DQ]
    sent[:] = command
    q, dq, kp, kd, tau = sent[SENT_Q], sent[SENT_DQ], sent[SENT_KP], sent[SENT_KD], sent[SENT_TAU]
    kp[:], kd[:], tau[:] = cut_gains(q, dq, kp, kd, tau, angles, speeds)
    finite, measured = gather(q, dq, kp, kd, tau, angles, speeds, rows)
    if not (finite and measured) or is_switched_off(q, dq):
        return ODD
    rows[:], _, hits = limit(rows, last, step, angles, speeds, bounds)
    if hits:
        return hits
    floats, counts = np.empty((JOINTS, 2), np.float32), np.empty((JOINTS, 3), np.int16)
    at_rest, saturated = write_motors(
        q, dq, kp, kd, tau, floats, counts, FLOATS_AT, COUNTS_AT, frame
    )
    if at_rest or saturated:
        return ODD
    crc = checksum(frame)
    for i in range(4):
        frame[LOW_COMMAND_SIZE - 4 + i] = np.uint8(crc >> np.uint32(8 * i))
    return 0
