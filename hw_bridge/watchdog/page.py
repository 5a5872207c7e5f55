"""The memory that tracker and watchdog share: heartbeat, latch and the frame that damps."""

import mmap
import os
from typing import Final, Self

FRAME_BYTES: Final = 1024  # room for one frame; a LowCmd has 610
_BEAT, _UP, _LATCH, _RELEASE, _SLOT, _LENGTH = range(6)  # words of 8 bytes
_FRAMES: Final = 64  # [bytes] where the two slots of the frame begin
_SIZE: Final = mmap.PAGESIZE
assert _FRAMES + 2 * FRAME_BYTES <= _SIZE


class Page:
    """One page of shared memory without a file; each word has one writer.

    Words are written and read in one piece. A frame is written into the slot that is not in use,
    so that no reader finds half of it.
    """

    def __init__(self, fd: int) -> None:
        """Map the memory of the file descriptor `fd`, which stays the caller's."""
        self._memory = mmap.mmap(fd, _SIZE)
        self._words = memoryview(self._memory).cast("Q")

    @classmethod
    def make(cls) -> tuple[Self, int]:
        """A new page, and the file descriptor to pass to the other process."""
        fd = os.memfd_create("saltus-watchdog")
        os.ftruncate(fd, _SIZE)
        return cls(fd), fd

    @property
    def beat(self) -> int:
        """When the tracker sent its last command [ns] monotonic; 0 while the motors are off."""
        return self._words[_BEAT]

    @beat.setter
    def beat(self, time_ns: int) -> None:
        self._words[_BEAT] = time_ns

    @property
    def up(self) -> bool:
        """Whether the robot is off the ground, or on its way there."""
        return bool(self._words[_UP])

    @up.setter
    def up(self, up: bool) -> None:
        self._words[_UP] = up

    @property
    def latched(self) -> bool:
        """Whether the watchdog damps the robot; it never lets go again."""
        return bool(self._words[_LATCH])

    def latch(self) -> None:
        """Damp from now on: the tracker sends nothing else either."""
        self._words[_LATCH] = 1

    @property
    def released(self) -> bool:
        """Whether the tracker has ended in order, with the robot off."""
        return bool(self._words[_RELEASE])

    def release(self) -> None:
        """The robot is off: nobody need watch it any more."""
        self._words[_BEAT], self._words[_RELEASE] = 0, 1

    @property
    def frame(self) -> bytes:
        """The frame that damps; empty before the first one."""
        begin = _FRAMES + FRAME_BYTES * self._words[_SLOT]
        return self._memory[begin : begin + self._words[_LENGTH]]

    @frame.setter
    def frame(self, frame: bytes) -> None:
        slot = 1 - self._words[_SLOT]
        begin = _FRAMES + FRAME_BYTES * slot
        self._memory[begin : begin + len(frame)] = frame
        self._words[_LENGTH], self._words[_SLOT] = len(frame), slot  # all frames are of one length
