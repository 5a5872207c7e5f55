"""The question to a person, and the answer, before a real robot goes limp or moves."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

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
    # What a script writes into a pipe is no consent.
    if not passed and not (sys.stdin is not None and os.isatty(STANDARD_INPUT)):
        raise BadRequest(NO_PASS)
    _ask(
        f"The robot at {address} goes limp, so it has to lie or hang; then it will move: keep 2 m "
        "away, a hand on the stop (docs/hardware.md)", WORD,
    )  # fmt: skip
    if not passed:
        _ask(f"But {NO_PASS}", OVERRIDE)
        say("going on without a doctor's pass; summary.json says so (without_doctor)")
        config = _without_doctor(config, True)
    if config.needs_consent:
        name = Path(config.reference).stem
        _ask(
            f"Then it does '{name}', which no real robot has done: it may leave the ground or land "
            "badly (docs/hardware.md)", name,
        )  # fmt: skip
    return config


def _without_doctor(config: LaunchConfig, typed: bool) -> LaunchConfig:
    hardware = replace(config.hardware, without_doctor=typed)
    return replace(config, hardware=hardware)


def _ask(warning: str, word: str) -> None:
    """Raise BadRequest unless `word` is typed; what follows its line are keys for the robot."""
    print(f"{warning}.\nType '{word}' to go on: ", end="", file=sys.stderr, flush=True)
    line = byte = b""
    with suppress(OSError):
        while sys.stdin and (byte := os.read(STANDARD_INPUT, 1)) not in (b"", b"\n"):
            line += byte
    if not byte:
        print(file=sys.stderr)  # without a pressed Enter
    if line.decode(errors="replace").strip() != word:
        raise BadRequest(f"not confirmed with '{word}': nothing was sent to the robot")
