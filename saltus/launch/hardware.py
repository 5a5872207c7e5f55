"""Needs of a launch on a robot: addresses, a stop, a pass, a black box.

Each robot that passed every essential check of `saltus doctor` has a file of its own below the
user's state folder. What cannot be read is no pass.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from hw_bridge.black_box.pipe import PipeWriter
from hw_bridge.black_box.ring import segments
from hw_bridge.emulator.network import robot_end
from hw_bridge.link import Link, RecordedLink, UdpLink
from hw_bridge.operator.gamepad import Joystick
from hw_bridge.operator.keyboard import is_attended
from hw_bridge.options import HardwareOptions, LinkOptions, motor_limits
from hw_bridge.wire.layout import Header, wire_of
from saltus.common.console import say
from saltus.common.errors import BadRequest, refusing
from saltus.common.files import replacing, state_folder
from saltus.common.processes import Child
from saltus.configuration.launch import LaunchConfig, write_config
from saltus.launch.run_folder import RunFolder, preparing
from saltus.launch.supervisor import (
    BLACK_BOX,
    GRACE_S,
    black_box_command,
    black_box_folder,
    black_box_pipe,
    free_port,
)

if TYPE_CHECKING:
    from hw_bridge.dds.link import DdsLink, DdsRobot


STANDARD_INPUT = 0
MOST_DOMAINS = 230
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
        options = replace(options, link=link, tick_unit_s=emulator.tick_unit_s, motions=True)
    return options


def with_own_port(config: LaunchConfig) -> LaunchConfig:
    """The launch with a free port, and a domain of DDS, where its emulator has port 0."""
    emulator = config.emulator
    if not config.kind.emulated or emulator.port:
        return config
    port = free_port()
    emulator = replace(emulator, port=port, domain=emulator.domain or 1 + port % MOST_DOMAINS)
    return replace(config, emulator=emulator)


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
    with refusing("hardware", ValueError):
        if wire_of(config.robot_model).transport == "udp":
            return UdpLink(options, hears_all)
        from hw_bridge.dds.link import DdsLink

        return DdsLink(options)


def check_at_hand(config: LaunchConfig) -> None:
    """Find out before anything starts whether limits, addresses, ports and stop are good.

    Raises:
        BadRequest: one of them cannot; the message says what to do.
    """
    operator = config.hardware.operator
    if (
        config.kind.real
        and config.hardware.mode == "full"
        and operator.gamepad is None
        and not (
            # None where a shell has closed it: <&-
            operator.keyboard and sys.stdin is not None and is_attended(STANDARD_INPUT)
        )
    ):  # the robot's own remote does not count: its frames may not carry it (docs/hardware.md)
        raise BadRequest(
            "nothing could stop the robot: launch it from a terminal, with "
            "hardware.operator.keyboard true, or name a gamepad in hardware.operator.gamepad; the "
            "robot's own remote alone is not enough (docs/hardware.md)"
        )
    if reaches_robot(config):
        _check_room(black_box_folder(config, Path()), config.hardware.black_box.size_mb)
    if config.kind.emulated or config.kind.bridged:
        _check_transport(with_own_port(config))
    if config.kind.bridged:
        with refusing("hardware.safety", ValueError):
            motor_limits(config.hardware.safety, config.robot_model)
        if operator.gamepad is not None:
            with refusing("hardware", ValueError):
                Joystick(operator.gamepad, "operator.gamepad").close()


def _check_transport(config: LaunchConfig) -> None:
    """Raise BadRequest where addresses or ports cannot be had, or DDS is missing."""
    if wire_of(config.robot_model).transport == "dds":
        from hw_bridge.dds.topics import require_cyclonedds

        with refusing("hardware", ValueError):
            require_cyclonedds()
        return
    if config.kind.emulated:
        open_robot_socket(config).close()
    if config.kind.bridged:
        open_link(config).close()


def _check_room(folder: Path, size_mb: int) -> None:
    """Raise BadRequest where the disk has no room for the black box of a real robot."""
    remedy = "name another folder in hardware.black_box.folder"
    with refusing(f"black box: {folder} cannot be used", remedy=remedy):
        folder.mkdir(parents=True, exist_ok=True)
        free, there = shutil.disk_usage(folder).free, segments(folder)
        missing = 1e6 * size_mb - free - sum(file.stat().st_size for file in there)
    if missing > 0:
        raise BadRequest(
            f"black box: {folder} lacks {1e-6 * missing:.0f} MB of room; free them, or set "
            f"hardware.black_box.folder or size_mb ({size_mb})"
        )


def open_robot_socket(config: LaunchConfig) -> UdpLink | DdsRobot:
    """The emulated robot's end of the cable.

    Raises:
        BadRequest: its address or port cannot be had.
    """
    options = config.emulator
    with refusing("", ValueError):
        if wire_of(config.robot_model).transport == "udp":
            return robot_end(options)
        from hw_bridge.dds.link import DdsRobot
        from hw_bridge.dds.topics import Place

        return DdsRobot(Place(options.domain, options.address))


REMEDY = "`saltus doctor a1` examines the robot and gives it a pass for the day"


class DoctorPass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Stored pass of a robot.

    Attributes:
        robot_id, serial: of its header; another robot has another one.
        day: of the computer's calendar, such as 2026-01-31.
        braked_s: silence after which it braked its motors [s].
        address: of the robot, over whose link it was examined.
    """

    robot_id: int
    serial: int
    day: str
    braked_s: float
    address: str


def today() -> str:
    """The local day."""
    return date.today().isoformat()


def store_pass(given: DoctorPass) -> Path:
    """Write a pass in place of an older one of the same robot, readable by its owner alone.

    Raises:
        OSError: the folder cannot be written.
    """
    path = _file(given.robot_id, given.serial)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with replacing(path) as part:
        part.touch(0o600)
        part.write_bytes(msgspec.json.encode(given) + b"\n")
    return path


def withdraw_pass(header: Header) -> bool:
    """Remove the pass of the robot with this header; whether there was one.

    Raises:
        OSError: it cannot be removed.
    """
    with suppress(FileNotFoundError):
        _file(header.robot_id, header.serial).unlink()
        return True
    return False


def read_passes() -> list[DoctorPass]:
    """All passes of today."""
    found = []
    with suppress(OSError):
        for path in sorted(_folder().glob("*.json")):
            with suppress(OSError, msgspec.DecodeError):
                given = msgspec.json.decode(path.read_bytes(), type=DoctorPass)
                found += [given] * (given.day == today())
    return found


def has_pass(header: Header) -> bool:
    """Whether the robot with this header has a pass of today."""
    robot = header.robot_id, header.serial
    return any((each.robot_id, each.serial) == robot for each in read_passes())


def needs_pass(config: LaunchConfig) -> bool:
    """Whether a launch moves a real robot, which needs a pass."""
    return reaches_robot(config) and config.hardware.mode == "full"


def _folder() -> Path:
    return state_folder() / "doctor"


def _file(robot_id: int, serial: int) -> Path:
    return _folder() / f"a1-{robot_id}-{serial}.json"


READY_S = 5.0
POLL_S = 0.02


@contextmanager
def black_box_link(config: LaunchConfig) -> Iterator[Link]:
    """The UDP socket to the robot; what goes through it is kept in the black box meanwhile.

    What others send to its port comes too, for a survey to say so. A black box that cannot
    be written costs a line.

    Raises:
        BadRequest: the addresses cannot be had, or nothing temporary can be written.
    """
    with preparing():
        folder = tempfile.TemporaryDirectory(prefix="saltus-")
    with folder as temporary:
        path = Path(temporary)
        pipe, files = black_box_pipe(path), RunFolder(path / "run")
        with preparing():
            write_config(config, files.configuration)
            os.mkfifo(pipe)
        ring = black_box_folder(config, files.path)
        report, log = files.report(BLACK_BOX), files.log(BLACK_BOX)
        box = Child(
            BLACK_BOX, black_box_command(config, path, files.path, report, os.getpid()), log
        )
        robot = hardware_options(config).link.robot
        link = RecordedLink(open_link(config, hears_all=True), robot, PipeWriter(pipe))
        try:
            _start(box, ring)
            yield link
        finally:
            link.close()
            ended = box.stop(GRACE_S)
        if box.status or not ended:
            say(f"no black box: {box.last_words()}")
        else:
            say(f"frames are kept in {ring}: saltus black-box")


def _start(box: Child, ring: Path) -> None:
    """Start the black box, and wait until it has begun a file in its `ring`, or has ended."""
    before, end = segments(ring), time.monotonic() + READY_S
    box.start()
    while segments(ring) == before and box.status is None and time.monotonic() < end:
        time.sleep(POLL_S)
