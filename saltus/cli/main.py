"""Entry point of the ``saltus`` script; what takes long to load, loads where signals end it."""

import os
import signal
import sys
from collections.abc import Sequence

from saltus.cli.standard_output import guard_standard_output
from saltus.common.interrupt import INTERRUPTED

BAD_REQUEST = 2  # exit status
PRINT_ALONE = ("bench", "config", "doctor", "replay", "score")  # nothing of their work is a file


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    from saltus.cli import app

    return app.run(arguments)


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
