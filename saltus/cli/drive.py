"""``saltus drive``: drive a running launch from this terminal."""

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from saltus.cli.common import JsonOption
from saltus.common.console import print_json, say
from saltus.common.errors import BadRequest

if TYPE_CHECKING:
    from hw_bridge.operator.driving import GamepadDevice, KeyDevice
    from saltus.launch.announcement import RunningLaunch


def drive(
    gamepad: Annotated[
        str | None,
        typer.Option(
            metavar="DEVICE", help="Such as /dev/input/js0; without it, the keyboard drives."
        ),
    ] = None,
    json: JsonOption = False,
) -> int:
    """Drive a running launch whose drive.source is client, until q or Ctrl-C; exit status 0."""
    from hw_bridge.operator.keyboard import raw_keys
    from runtime.bus import Bus
    from runtime.endpoints import EndpointInUse
    from runtime.signals import StopFlag
    from runtime.topics import COMMAND
    from saltus.launch.announcement import launch_to_drive
    from saltus.launch.cores import serve_commands
    from saltus.launch.drive_line import DriveLine
    from saltus.launch.driving import LAST_WORDS_S, STANDARD_INPUT
    from saltus.launch.driving import drive as publish_commands

    launch = launch_to_drive()
    serve_commands(launch.config)
    device = _open_device(launch, gamepad)
    begin = time.monotonic()
    with StopFlag() as stop, Bus(launch.endpoints) as bus, raw_keys(STANDARD_INPUT):
        try:
            commands = bus.publisher(COMMAND)
        except EndpointInUse as error:
            raise BadRequest(
                f"the launch of process {launch.pid} has a driver already; end that driver first "
                f"({error.address})"
            ) from error
        say(
            f"driving the {launch.config.connection} robot of process {launch.pid}; {_how(gamepad)}"
        )
        with DriveLine(launch, bus) as line:
            pacer = publish_commands(
                device, commands.send, lambda: stop() or line.is_over or device.quit, line.show
            )
        bus.close(LAST_WORDS_S)
    if line.is_over:
        say("the launch has ended")
    elif device.loss:
        silence = launch.config.drive.silence
        say(f"{device.loss}; after {silence:g} s without a command the robot stands")
    if json:
        print_json({"commands": pacer.commands, "seconds": time.monotonic() - begin})
    return 0


def _open_device(launch: "RunningLaunch", gamepad: str | None) -> "KeyDevice | GamepadDevice":
    from saltus.launch.driving import open_gamepad, open_keys, override_gamepad

    if gamepad is not None:
        return open_gamepad(override_gamepad(launch.config.sources, gamepad))
    if not sys.stdin:  # None where a shell has closed it: <&-
        raise BadRequest("standard input is closed: keys come from a terminal; or give --gamepad")
    return open_keys(launch.config)


def _how(gamepad: str | None) -> str:
    """What to do with keys or gamepad."""
    from hw_bridge.operator.drivers import HELP

    if gamepad is None:
        return f"{HELP}; q ends"
    return "hold the dead-man trigger and push the sticks; Ctrl-C ends"
