"""What a person is told, and types, before a real robot goes limp or moves."""

import os
import sys
from pathlib import Path

import msgspec

from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.configuration.launch import LaunchConfig
from saltus.launch.hardware import LIMP, REMEDY, needs_pass, reaches_robot, read_passes

WORD = "move"
OVERRIDE = "without doctor"
NO_PASS = f"no robot has a pass of today: {REMEDY}"
STANDARD_INPUT = 0


def confirm_motion(config: LaunchConfig) -> LaunchConfig:
    """Ask for the word, where a real robot is going to move; an emulator on this host needs none.

    Where no robot has a pass of today, that needs words of its own, and a terminal. A motion
    that is no gait needs its own name too. Without torque nothing is asked, but said that the robot
    goes limp.

    Returns:
        The launch, which knows whether a person goes on without a pass.

    Raises:
        BadRequest: something else was typed, or nothing can be; or there is no pass and no
            terminal.
    """
    config = _without_doctor(config, False)  # whatever the file says
    address, port = config.hardware.link.robot
    if not needs_pass(config):
        if reaches_robot(config):
            say(LIMP.format(address, port))
        return config
    passed = bool(read_passes())
    if not (passed or _is_terminal()):
        raise BadRequest(NO_PASS)
    print(
        f"The robot at {address} goes limp, so it has to lie or hang; then it will move: keep 2 m "
        "away, a hand on the stop (docs/hardware.md).\n"
        f"Type '{WORD}' to go on: ",
        end="", file=sys.stderr, flush=True,
    )  # fmt: skip
    _await(WORD)
    if not passed:
        config = _override_doctor(config)
    if config.needs_consent:
        name = Path(config.reference).stem
        print(
            f"Then it does '{name}', which no real robot has done: it may leave the ground or land "
            f"badly (docs/hardware.md).\nType '{name}' to go on: ",
            end="", file=sys.stderr, flush=True,
        )  # fmt: skip
        _await(name)
    return config


def _override_doctor(config: LaunchConfig) -> LaunchConfig:
    """The launch of a person who types that it goes on without a pass."""
    print(
        f"But {NO_PASS}.\nType '{OVERRIDE}' to go on all the same: ",
        end="", file=sys.stderr, flush=True,
    )  # fmt: skip
    _await(OVERRIDE)
    say("going on without a doctor's pass; summary.json says so (without_doctor)")
    return _without_doctor(config, True)


def _without_doctor(config: LaunchConfig, typed: bool) -> LaunchConfig:
    hardware = msgspec.structs.replace(config.hardware, without_doctor=typed)
    return msgspec.structs.replace(config, hardware=hardware)


def _await(word: str) -> None:
    """Raise BadRequest unless `word` is typed."""
    if _typed_line() != word:
        raise BadRequest(f"not confirmed with '{word}': nothing was sent to the robot")


def _is_terminal() -> bool:
    """Whether a person may type; what a script writes into a pipe is no consent."""
    return sys.stdin is not None and os.isatty(STANDARD_INPUT)


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
