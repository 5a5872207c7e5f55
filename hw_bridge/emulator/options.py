"""Everything that can be chosen about the emulated A1, but for its body."""

import ipaddress
from typing import Literal

import msgspec

from hw_bridge.emulator.events import Event
from hw_bridge.emulator.network import NetworkOptions
from hw_bridge.emulator.thermal_options import ThermalOptions
from hw_bridge.wire.header import Header

Counts4 = tuple[int, int, int, int]


class EmulatorOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The emulated A1's address, firmware and misfortunes.

    What Unitree does not publish is an assumption, and said to be one.

    Attributes:
        address: where it listens; loopback, unless you name an interface.
        port: 8007 is the robot's (unitree_legged_sdk v3.3.1 udp.h); 0 takes a free one.
        reply: ``per_command`` answers each command with one state, the pattern that the vendor's
            client expects; ``stream`` sends states at `stream_hz` from the first command on. Which
            of the two the robot does is not published.
        stream_hz: rate of a stream [Hz], at most 1000.
        comm_version, robot_id, serial, bandwidth: of the header. Invented, and not zero, so that a
            bridge that does not copy them shows.
        tick_unit_s: length of the state's tick [s]. The vendor's header says microseconds, drivers
            that work read milliseconds.
        first_tick: the tick at the start, for runs over its wrap.
        foot_force_scale: [N/count]; an assumption.
        foot_force_offset: counts of each unloaded foot; a public log of an A1 shows -1 to -23.
        command_timeout_s: time without a command after which the robot brakes all motors [s].
            Users report about 30 ms (yxyang/locomotion_simulation thread 5).
        release_s: how long commands must ask for neither position nor torque before it obeys
            again [s]. How the robot leaves this protection is not published: an assumption.
        brake_kd: damping of a motor that brakes [N m s/rad]; an assumption.
        thermal: of the motors.
        network: faults of the network, in both directions.
        events: what goes wrong, and when.
    """

    address: str = "127.0.0.1"
    port: int = 8007
    reply: Literal["per_command", "stream"] = "per_command"
    stream_hz: float = 1000.0
    comm_version: int = 3
    robot_id: int = 1
    serial: int = 20211207
    bandwidth: int = 8
    tick_unit_s: float = 1e-3
    first_tick: int = 0
    foot_force_scale: float = 1.0
    foot_force_offset: Counts4 = (-1, -23, -8, -14)
    command_timeout_s: float = 0.03
    release_s: float = 0.5
    brake_kd: float = 3.0
    thermal: ThermalOptions = ThermalOptions()
    network: NetworkOptions = NetworkOptions()
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        try:
            ipaddress.IPv4Address(self.address)
        except ValueError:
            raise ValueError(f"emulator: address {self.address!r} is no IPv4 address") from None
        _check(0 <= self.port < 65536, "port must be in [0, 65535]")
        _check(1.0 <= self.stream_hz <= 1000.0, "stream_hz must be in [1, 1000] Hz")
        _check(0 <= self.comm_version < 1 << 16, "comm_version has 16 bits")
        _check(0 <= self.robot_id < 1 << 16, "robot_id has 16 bits")
        _check(0 <= self.serial < 1 << 32, "serial has 32 bits")
        _check(0 <= self.bandwidth < 1 << 8, "bandwidth has 8 bits")
        _check(1e-7 <= self.tick_unit_s <= 0.01, "tick_unit_s must be in [1e-7, 0.01] s")
        _check(0 <= self.first_tick < 1 << 32, "first_tick has 32 bits")
        _check(1e-3 <= self.foot_force_scale <= 1e3, "foot_force_scale must be in [1e-3, 1e3]")
        offsets = self.foot_force_offset
        _check(all(abs(n) < 1 << 15 for n in offsets), "foot_force_offset: 16 bits each")
        _check(0.001 <= self.command_timeout_s < 10.0, "command_timeout_s: [0.001, 10) s")
        _check(0.0 <= self.release_s < 60.0, "release_s must be in [0, 60) s")
        _check(0.0 <= self.brake_kd <= 20.0, "brake_kd must be in [0, 20] N m s/rad")

    @property
    def header(self) -> Header:
        """What the robot's frames begin with."""
        return Header(
            comm_version=self.comm_version,
            robot_id=self.robot_id,
            serial=self.serial,
            bandwidth=self.bandwidth,
        )


def _check(holds: bool, requirement: str) -> None:
    if not holds:
        raise ValueError(f"emulator: {requirement}")
