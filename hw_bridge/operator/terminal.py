"""A terminal that hands over keys one by one, and is given back as it was."""

import os
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

_DISABLED = b"\x00"  # Linux's _POSIX_VDISABLE
_SPECIAL = 6  # index of the special characters among the attributes


@contextmanager
def raw_keys(fd: int) -> Iterator[None]:
    """Put the terminal `fd` into cbreak mode without echo; restore it whatever happens inside.

    A read returns at once, empty where there is no key: another reader may have taken it. Ctrl-C
    still interrupts. Ctrl-Z does not suspend: keys would go to the shell, and with them the stop.
    What was typed and not read is dropped at the end, for the shell shall not run it. A file that
    is not a terminal is left alone.
    """
    if not os.isatty(fd):
        yield
        return
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd, termios.TCSADRAIN)
        attributes = termios.tcgetattr(fd)
        special = attributes[_SPECIAL]
        special[termios.VSUSP], special[termios.VMIN], special[termios.VTIME] = _DISABLED, 0, 0
        termios.tcsetattr(fd, termios.TCSADRAIN, attributes)
        yield
    finally:
        try:
            termios.tcsetattr(fd, termios.TCSAFLUSH, before)
        except termios.error:
            pass  # it has hung up: nothing is left to restore
