"""Whether a frame is whole."""

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_bridge.wire.crc import crc


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
