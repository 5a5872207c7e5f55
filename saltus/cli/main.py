"""Entry point of the ``saltus`` script; what takes long to load, loads where signals end it."""

import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from saltus.common.errors import INTERRUPTED

STDOUT = 1  # its descriptor


class RawOutput(io.FileIO):
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
        super().__init__(STDOUT, "w", closefd=False)

    def write(self, data: Any, /) -> int:
        """Write what can be written; all of it counts as written after an error."""
        try:
            return super().write(data)
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


BAD_REQUEST = 2  # exit status
PRINT_ALONE = ("bench", "config", "doctor", "replay", "score")  # nothing of their work is a file


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    from saltus.cli.app import run_command

    return run_command(arguments)


def main() -> None:
    """Run the command of this process; SIGTERM, and a terminal that goes, end it as Ctrl-C does."""
    os.environ["PYTHONSAFEPATH"] = "1"  # a file of the current folder is no module of a child
    numbers = (signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup has it ignored
            signal.signal(number, signal.default_int_handler)
    output = guard_standard_output()
    try:
        status = run()
    except KeyboardInterrupt:
        status = INTERRUPTED
    for number in (signal.SIGINT, *numbers):  # a second one would break the end itself
        signal.signal(number, signal.SIG_IGN)
    sys.stdout.flush()
    if output.problem:
        from saltus.common.console import say

        say(f"saltus: standard output: {output.problem}; what was printed is lost")
        status = status or int(sys.argv[1] in PRINT_ALONE)
    sys.exit(status)


if __name__ == "__main__":
    main()
