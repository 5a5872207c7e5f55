"""Whether a frame is whole: its length and its checksum.

Arithmetic of CRC-32/MPEG-2 (polynomial 0x04C11DB7, start 0xFFFFFFFF, nothing reflected, no final
exclusive or) over little-endian 32-bit words, each from its most significant byte on. Observed of
the vendor's library 3.3.4.
"""

from enum import StrEnum
from typing import Any, Final

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

POLYNOMIAL: Final = 0x04C11DB7
START: Final = 0xFFFFFFFF


def _remainder(byte: int) -> int:
    """What one byte leaves in the register."""
    register = byte << 24
    for _ in range(8):
        carry = register >> 31
        register = (register << 1) & 0xFFFFFFFF ^ carry * POLYNOMIAL
    return register


def _tables() -> NDArray[np.uint32]:
    """What a byte leaves in the register with 0 to 3 bytes after it, (4, 256): a word at a time."""
    tables = [[_remainder(byte) for byte in range(256)]]
    for _ in range(3):
        tables.append([(r << 8) & 0xFFFFFFFF ^ tables[0][r >> 24] for r in tables[-1]])
    return np.array(tables, dtype=np.uint32)


_TABLES = _tables()


# Compiled on import, for this type alone: the first frame shall not wait for a compiler.
@njit(types.uint32(types.Array(types.uint8, 1, "C", readonly=True)), cache=True)
def checksum(frame: NDArray[np.uint8]) -> np.uint32:
    """See `crc`, which is for Python."""
    register = np.uint32(START)
    for word in range(0, 4 * (len(frame) // 4 - 1), 4):
        first = np.uint8(register >> 24) ^ frame[word + 3]
        second = np.uint8(register >> 16) ^ frame[word + 2]
        third = np.uint8(register >> 8) ^ frame[word + 1]
        fourth = np.uint8(register) ^ frame[word]
        register = _TABLES[3, first] ^ _TABLES[2, second] ^ _TABLES[1, third] ^ _TABLES[0, fourth]
    return np.uint32(register)


def crc(frame: bytes | bytearray) -> int:
    """Checksum of a whole frame, over its first ``len(frame) // 4 - 1`` words.

    Where the length is no multiple of 4, the bytes between those words and the stored checksum
    are not covered: 604 and 605 of LowCmd, 764 to 766 of LowState.
    """
    return int(checksum(np.frombuffer(frame, np.uint8)))


class FrameFault(StrEnum):
    """Why a frame is refused."""

    LENGTH = "length"
    CRC = "crc"


class WireError(ValueError):
    """A frame that is not whole."""

    def __init__(self, fault: FrameFault) -> None:
        """Name the fault."""
        super().__init__(f"the frame is not whole: wrong {fault}")
        self.fault = fault


def frame_fault(frame: bytes, size: int) -> FrameFault | None:
    """What is wrong with a frame that should have `size` bytes; None if nothing. Never raises."""
    if len(frame) != size or size < 4:
        return FrameFault.LENGTH
    stored = int.from_bytes(frame[-4:], "little")
    return None if stored == crc(frame) else FrameFault.CRC


def check_frame(frame: bytes, size: int) -> None:
    """Pass if the frame is whole.

    Raises:
        WireError: it is not.
    """
    if fault := frame_fault(frame, size):
        raise WireError(fault)


def seal(frame: bytearray) -> bytes:
    """The frame with its checksum in its last 4 bytes."""
    frame[-4:] = crc(frame).to_bytes(4, "little")
    return bytes(frame)


def record_in(frame: bytes | bytearray, layout: np.dtype[Any]) -> NDArray[np.void]:
    """The frame's own bytes as an array of no dimension, whose fields are views."""
    return np.ndarray((), layout, frame)
