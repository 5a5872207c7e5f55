"""What a launch on a robot, real or emulated, needs of this machine: addresses, ports, a stop."""

from __future__ import annotations

import shutil
import sys
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hw_bridge.black_box.ring import segments
from hw_bridge.emulator.network import RobotSocket
from hw_bridge.link import UdpLink
from hw_bridge.operator.gamepad import Joystick
from hw_bridge.operator.keyboard import is_attended
from hw_bridge.options import HardwareOptions, LinkOptions, OperatorOptions, motor_limits
from hw_bridge.wire.layout import wire_of
from saltus.common.errors import BadRequest
from saltus.configuration.launch import LaunchConfig
from saltus.launch.driving import open_gamepad
from saltus.launch.process_table import black_box_folder

if TYPE_CHECKING:
    from hw_bridge.dds.link import DdsLink, DdsRobot

STANDARD_INPUT = 0
LIMP = (
    "asking the robot at {} port {} for its state, without torque: it goes limp now, and has to "
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
            domain=emulator.domain,
        )  # fmt: skip
        options = msgspec.structs.replace(
            options, link=link, tick_unit_s=emulator.tick_unit_s, motions=True
        )
    return options


def reaches_robot(config: LaunchConfig) -> bool:
    """Whether the launch is on a real robot, and not on an emulator on this host."""
    address = config.hardware.link.robot_address
    return config.kind.real and not IPv4Address(address).is_loopback


def open_link(config: LaunchConfig, hears_all: bool = False) -> UdpLink | DdsLink:
    """The link to the robot, which may hear all others too.

    Raises:
        BadRequest: the addresses cannot be had; the message says what to do.
    """
    options = hardware_options(config).link
    try:
        if wire_of(config.robot_model).transport == "udp":
            return UdpLink(options, hears_all)
        from hw_bridge.dds.link import DdsLink

        return DdsLink(options)
    except ValueError as error:
        raise BadRequest(f"hardware: {error}") from error


def check_at_hand(config: LaunchConfig) -> None:
    """Find out before anything starts whether limits, addresses, ports, gamepad and stop are good.

    Raises:
        BadRequest: one of them cannot; the message says what to do.
    """
    if config.kind.real and config.hardware.mode == "full":
        _check_means_to_stop(config.hardware.operator)
    if reaches_robot(config):
        _check_room(black_box_folder(config, Path()), config.hardware.black_box.size_mb)
    if config.drive.source == "gamepad":
        open_gamepad(config.sources).close()
    if config.kind.emulated or config.kind.bridged:
        _check_transport(config)
    if config.kind.bridged:
        options = hardware_options(config)
        _check_limits(config)
        _check_gamepad(options.operator.gamepad)


def _check_transport(config: LaunchConfig) -> None:
    """Raise BadRequest where addresses or ports cannot be had, or DDS is missing."""
    if wire_of(config.robot_model).transport == "dds":
        from hw_bridge.dds.topics import require_cyclonedds

        try:
            require_cyclonedds()
        except ValueError as error:
            raise BadRequest(f"hardware: {error}") from error
        return
    if config.kind.emulated:
        open_robot_socket(config).close()
    if config.kind.bridged:
        open_link(config).close()


def _check_limits(config: LaunchConfig) -> None:
    """Raise BadRequest where an option allows more than the robot bears."""
    try:
        motor_limits(config.hardware.safety, config.robot_model)
    except ValueError as error:
        raise BadRequest(f"hardware.safety: {error}") from error


def _check_means_to_stop(options: OperatorOptions) -> None:
    """Refuse to move a real robot that neither keys nor a gamepad could stop.

    Its own remote does not count: the robot's frames may not carry it (docs/hardware.md).
    """
    # None where a shell has closed it: <&-
    has_keys = options.keyboard and sys.stdin is not None and is_attended(STANDARD_INPUT)
    if not has_keys and options.gamepad is None:
        raise BadRequest(
            "nothing could stop the robot: launch it from a terminal, with "
            "hardware.operator.keyboard true, or name a gamepad in hardware.operator.gamepad; the "
            "robot's own remote alone is not enough (docs/hardware.md)"
        )


def _check_room(folder: Path, size_mb: int) -> None:
    """Raise BadRequest where the disk has no room for the black box of a real robot."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free, there = shutil.disk_usage(folder).free, segments(folder)
        missing = 1e6 * size_mb - free - sum(file.stat().st_size for file in there)
    except OSError as error:
        raise BadRequest(
            f"black box: {folder} cannot be used ({error.strerror}); name another folder in "
            "hardware.black_box.folder"
        ) from error
    if missing > 0:
        raise BadRequest(
            f"black box: {folder} lacks {1e-6 * missing:.0f} MB of room; free them, or set "
            f"hardware.black_box.folder or size_mb ({size_mb})"
        )


def _check_gamepad(path: str | None) -> None:
    """Raise BadRequest where the operator's gamepad cannot be opened."""
    try:
        if path is not None:
            Joystick(path, "operator.gamepad").close()
    except ValueError as error:
        raise BadRequest(f"hardware: {error}") from error


def open_robot_socket(config: LaunchConfig) -> RobotSocket | DdsRobot:
    """The emulated robot's end of the cable.

    Raises:
        BadRequest: its address or port cannot be had.
    """
    options = config.emulator
    try:
        if wire_of(config.robot_model).transport == "udp":
            return RobotSocket(options.address, options.port)
        from hw_bridge.dds.link import DdsRobot
        from hw_bridge.dds.topics import Place

        return DdsRobot(Place(options.domain, options.address))
    except ValueError as error:
        raise BadRequest(str(error)) from error
