"""Where the numbers of a LowState frame go: gathered by type, then scattered to their places."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.wire.layout import JOINTS, LOW_STATE, LOW_STATE_SIZE, TORQUE_SCALE

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]

# Fields by type, in the order of the staging arrays; a motor's field stands for all twelve.
_FLOATS = ("quaternion_wxyz", "gyroscope", "accelerometer", "rpy", "q", "dq", "q_raw", "dq_raw")
_SHORTS = ("ddq", "tau_est", "ddq_raw", "foot_force")
_BYTES = ("temperature",)


class Staging(NamedTuple):
    """Views of one buffer, and where each of its bytes goes in the frame."""

    floats: NDArray[np.float32]  # (61)
    shorts: NDArray[np.int16]  # (40)
    temperatures: NDArray[np.int8]  # (12)
    buffer: Bytes
    places: NDArray[np.int64]


def make_staging() -> Staging:
    """An empty one."""
    # A frame in which byte k holds k tells where fields are, whatever their strides.
    low, high = np.zeros(LOW_STATE_SIZE, np.uint8), np.zeros(LOW_STATE_SIZE, np.uint8)
    low[:], high[:] = np.arange(LOW_STATE_SIZE) % 256, np.arange(LOW_STATE_SIZE) // 256
    places = [
        np.concatenate([_bytes_of(low, name) + 256 * _bytes_of(high, name) for name in names])
        for names in (_FLOATS, _SHORTS, _BYTES)
    ]
    floats, shorts = len(places[0]), len(places[1])
    buffer = np.zeros(sum(map(len, places)), np.uint8)
    return Staging(
        buffer[:floats].view(np.float32),
        buffer[floats : floats + shorts].view(np.int16),
        buffer[floats + shorts :].view(np.int8),
        buffer,
        np.concatenate(places),
    )


def _bytes_of(frame: Bytes, name: str) -> NDArray[np.int64]:
    """The bytes of a field, in order."""
    record = frame.view(LOW_STATE)[0]
    names = LOW_STATE.names or ()
    field = record[name] if name in names else record["motors"][:JOINTS][name]
    return np.frombuffer(np.ascontiguousarray(field).tobytes(), np.uint8).astype(np.int64)


@njit(cache=True)
def scatter(
    floats: NDArray[np.float32], shorts: NDArray[np.int16], temperatures: NDArray[np.int8],
    buffer: Bytes, places: NDArray[np.int64], frame: Bytes,
    quaternion: Array, gyroscope: Array, accelerometer: Array, q: Array, dq: Array, ddq: Array,
    torque: Array, temperature: Array, foot_counts: Array,
) -> None:  # fmt: skip
    """Write one tick's numbers into the frame's bytes, integers saturated, NaN among them 0.

    `quaternion` is x, y, z, w; the frame's is w, x, y, z, and its angles follow from it.
    """
    x, y, z, w = quaternion
    floats[0], floats[1], floats[2], floats[3] = w, x, y, z
    floats[4:7], floats[7:10] = gyroscope, accelerometer
    floats[10] = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    floats[11] = np.arcsin(min(1.0, max(-1.0, 2.0 * (w * y - z * x))))
    floats[12] = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    for i in range(12):
        floats[13 + i] = floats[37 + i] = q[i]
        floats[25 + i] = floats[49 + i] = dq[i]
        shorts[i] = shorts[24 + i] = _saturated(ddq[i], 32767.0)
        shorts[12 + i] = _saturated(TORQUE_SCALE * torque[i], 32767.0)
        temperatures[i] = _saturated(temperature[i], 127.0)
    for i in range(4):
        shorts[36 + i] = _saturated(foot_counts[i], 32767.0)
    for k in range(buffer.shape[0]):
        frame[places[k]] = buffer[k]


@njit(cache=True)
def _saturated(value: float, largest: float) -> int:
    """Truncated toward zero."""
    if np.isnan(value):
        return 0
    return int(min(largest, max(-largest - 1.0, value)))
