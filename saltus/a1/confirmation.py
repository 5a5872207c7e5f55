"""What a person is told, and types, before a real robot goes limp or moves."""

import os
import sys
from ipaddress import IPv4Address
from pathlib import Path

from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.configuration.launch import LaunchConfig
from saltus.launch.hardware import LIMP

WORD = "move"
STANDARD_INPUT = 0


def confirm_motion(config: LaunchConfig) -> None:
    """Ask for the word, where a real robot is going to move; an emulator on this host needs none.

    A motion that is no gait needs its own name too. Without torque nothing is asked, but said that
    the robot goes limp.

    Raises:
        BadRequest: something else was typed, or nothing can be.
    """
    address, port = config.hardware.link.robot
    if not config.kind.real or IPv4Address(address).is_loopback:
        return
    if config.hardware.mode != "full":
        say(LIMP.format(address, port))
        return
    print(
        f"The A1 at {address} goes limp, so it has to lie or hang; then it will move: keep 2 m "
        "away, a hand on the stop (docs/hardware.md).\n"
        f"Type '{WORD}' to go on: ",
        end="", file=sys.stderr, flush=True,
    )  # fmt: skip
    _await(WORD)
    if config.needs_consent:
        name = Path(config.reference).stem
        print(
            f"Then it does '{name}', which no real A1 has done: it may leave the ground, and land "
            f"badly (docs/hardware.md).\nType '{name}' to go on: ",
            end="", file=sys.stderr, flush=True,
        )  # fmt: skip
        _await(name)


def _await(word: str) -> None:
    """Raise BadRequest unless `word` is typed."""
    if _typed_line() != word:
        raise BadRequest(f"not confirmed with '{word}': nothing was sent to the robot")


def _typed_line() -> str:
    """One line of standard input, and not a byte more: what follows are keys for the robot."""
    line = b""
    while (byte := _typed_byte()) not in (b"", b"\n"):
        line += byte
    if not byte:
        print(file=sys.stderr)  # nobody has pressed Enter
    return line.decode(errors="replace").strip()


def _typed_byte() -> bytes:
    """The next byte of standard input; none at its end, or where it is closed."""
    try:
        return os.read(STANDARD_INPUT, 1) if sys.stdin else b""
    except OSError:
        return b""
