"""The checksum of the A1's frames.

Arithmetic of CRC-32/MPEG-2 (polynomial 0x04C11DB7, start 0xFFFFFFFF, nothing reflected, no final
exclusive or) over little-endian 32-bit words, each from its most significant byte on. Observed of
the vendor's library 3.3.4.
"""

from typing import Final

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


_TABLE = np.array([_remainder(byte) for byte in range(256)], dtype=np.uint32)


# Compiled on import, for this type alone: the first frame shall not wait for a compiler.
@njit(types.uint32(types.Array(types.uint8, 1, "C", readonly=True)), cache=True)
def _crc(frame: NDArray[np.uint8]) -> np.uint32:
    register = np.uint32(START)
    for word in range(0, 4 * (len(frame) // 4 - 1), 4):
        for byte in range(word + 3, word - 1, -1):
            index = np.uint8(register >> 24) ^ frame[byte]
            register = np.uint32(register << 8) ^ _TABLE[index]
    return np.uint32(register)


def crc(frame: bytes | bytearray) -> int:
    """Checksum of a whole frame, over its first ``len(frame) // 4 - 1`` words.

    Where the length is no multiple of 4, the bytes between those words and the stored checksum
    are not covered: 604 and 605 of LowCmd, 764 to 766 of LowState.
    """
    return int(_crc(np.frombuffer(frame, np.uint8)))
