"""What a person types before a real robot moves."""

import ipaddress
import os
import sys

from saltus.configuration import LaunchConfig
from saltus.errors import BadRequest

WORD = "move"
STANDARD_INPUT = 0


def confirm_motion(config: LaunchConfig) -> None:
    """Ask for the word, where a real robot is going to move; an emulator on this host needs none.

    Raises:
        BadRequest: something else was typed, or nothing can be.
    """
    address = config.hardware.link.robot_address
    if config.robot != "a1" or config.hardware.mode != "full" or _is_loopback(address):
        return
    print(
        f"The A1 at {address} will move: keep 2 m away, a hand on the stop (docs/hardware.md).\n"
        f"Type '{WORD}' to go on: ",
        end="", file=sys.stderr, flush=True,
    )  # fmt: skip
    if _typed_line() != WORD:
        raise BadRequest(f"not confirmed with '{WORD}': nothing was sent to the robot")


def _typed_line() -> str:
    """One line of standard input, and not a byte more: what follows are keys for the robot."""
    line = b""
    while (byte := os.read(STANDARD_INPUT, 1)) not in (b"", b"\n"):
        line += byte
    return line.decode(errors="replace").strip()


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
