"""A terminal that hands over keys one by one, and is given back as it was."""

import os
import select
import stat
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

_DISABLED = b"\x00"  # Linux's _POSIX_VDISABLE
_SPECIAL = 6  # index of the special characters among the attributes
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


def is_attended(fd: int) -> bool:
    """Whether somebody may type at `fd`: a terminal, pipe or socket whose other end is held."""
    try:
        mode = os.fstat(fd).st_mode
        if not (os.isatty(fd) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            return False
        ends = select.poll()
        ends.register(fd, select.POLLIN)
        return not any(event & _GONE for _, event in ends.poll(0))
    except OSError:
        return False


@contextmanager
def raw_keys(fd: int) -> Iterator[None]:
    """Put the terminal `fd` into cbreak mode without echo; restore it whatever happens inside.

    A read returns at once, empty where there is no key: another reader may have taken it. Ctrl-C
    still interrupts. Ctrl-Z does not suspend: keys would go to the shell, and with them the stop.
    Ctrl-S does not halt the terminal: it would look frozen (`TerminalPulse`). What was typed and
    not read is dropped at the beginning, where nobody knew yet what keys mean, and at the end, for
    the shell shall not run it. A file that is not a terminal is left alone.
    """
    if not os.isatty(fd):
        yield
        return
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd, termios.TCSAFLUSH)
        attributes = termios.tcgetattr(fd)
        special = attributes[_SPECIAL]
        special[termios.VSUSP] = special[termios.VSTOP] = _DISABLED
        special[termios.VMIN], special[termios.VTIME] = 0, 0
        termios.tcsetattr(fd, termios.TCSADRAIN, attributes)
        yield
    finally:
        try:
            termios.tcsetattr(fd, termios.TCSAFLUSH, before)
        except termios.error:
            pass  # it has hung up: nothing is left to restore
