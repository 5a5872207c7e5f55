"""Standard output that raises nothing: a full disk or a closed pipe must not undo finished work."""

import io
import os
import sys
from typing import Any

STDOUT = 1  # its descriptor


class RawOutput(io.RawIOBase):
    """Descriptor 1, for `sys.stdout`.

    Attributes:
        problem: why it took nothing at some time, "" while it takes all.
    """

    def __init__(self) -> None:
        """Note a descriptor that is closed, and keep files opened later from taking its number."""
        self.problem = ""
        if sys.stdout is None:
            self.problem = "it is closed"
            null = os.open(os.devnull, os.O_WRONLY)
            if null != STDOUT:
                os.dup2(null, STDOUT)
                os.close(null)

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """Descriptor 1."""
        return STDOUT

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return os.isatty(STDOUT)

    def write(self, data: Any, /) -> int:
        """Write what can be written; all of it counts as written after an error."""
        try:
            return os.write(STDOUT, data)
        except OSError as error:
            self.problem = error.strerror or str(error)
            return len(data)


def guard_standard_output() -> RawOutput:
    """Replace `sys.stdout` by one that writes or drops; characters it cannot encode are escaped."""
    raw, before = RawOutput(), sys.stdout
    encoding = before.encoding if before is not None else "utf-8"
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=raw.isatty()
    )
    return raw
