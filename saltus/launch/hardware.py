"""What a launch on an A1, real or emulated, needs of this machine: addresses, ports, a gamepad."""

import msgspec

from hw_bridge.emulator.udp import RobotSocket
from hw_bridge.joystick import Joystick
from hw_bridge.link import UdpLink
from hw_bridge.link_options import LinkOptions
from hw_bridge.options import HardwareOptions
from saltus.common.errors import BadRequest
from saltus.configuration.launch import LaunchConfig
from saltus.launch.driving import open_gamepad

LIMP = (
    "asking the A1 at {} port {} for its state, without torque: its motors go limp now; it has to "
    "lie on the ground or hang (docs/hardware.md)"
)


def hardware_options(config: LaunchConfig) -> HardwareOptions:
    """The bridge's options; an emulated robot is where its emulator is, and may do motions."""
    options = config.hardware
    if config.kind.emulated:
        emulator = config.emulator
        link = LinkOptions(
            robot_address=emulator.address, robot_port=emulator.port,
            local_address=emulator.address, local_port=options.link.local_port,
        )  # fmt: skip
        options = msgspec.structs.replace(
            options, link=link, tick_unit_s=emulator.tick_unit_s, motions=True
        )
    return options


def open_link(options: LinkOptions) -> UdpLink:
    """The UDP socket to the robot.

    Raises:
        BadRequest: the addresses cannot be had; the message says what to do.
    """
    try:
        return UdpLink(options)
    except ValueError as error:
        raise BadRequest(f"hardware: {error}") from error


def check_at_hand(config: LaunchConfig) -> None:
    """Find out before anything starts whether addresses, ports and gamepad can be had.

    Raises:
        BadRequest: one of them cannot; the message says what to do.
    """
    if config.drive.source == "gamepad":
        open_gamepad(config.sources).close()
    if config.kind.emulated:
        open_robot_socket(config).close()
    if config.kind.bridged:
        options = hardware_options(config)
        open_link(options.link).close()
        _check_gamepad(options.operator.gamepad)


def _check_gamepad(path: str | None) -> None:
    """Raise BadRequest where the operator's gamepad cannot be opened."""
    try:
        if path is not None:
            Joystick(path, "operator.gamepad").close()
    except ValueError as error:
        raise BadRequest(f"hardware: {error}") from error


def open_robot_socket(config: LaunchConfig) -> RobotSocket:
    """The emulated robot's end of the cable.

    Raises:
        BadRequest: its address or port cannot be had.
    """
    try:
        return RobotSocket(config.emulator.address, config.emulator.port)
    except ValueError as error:
        raise BadRequest(str(error)) from error
