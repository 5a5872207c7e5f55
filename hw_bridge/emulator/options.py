"""Everything that can be chosen about the emulated A1, but for its body."""

import ipaddress
from typing import Annotated, Literal

from hw_bridge.emulator.events import Event
from hw_bridge.emulator.network import NetworkOptions
from hw_bridge.emulator.thermal_options import ThermalOptions
from hw_bridge.wire.header import Header
from runtime.options import Options, Range

Counts4 = tuple[int, int, int, int]


class EmulatorOptions(Options, frozen=True):
    """The emulated A1's address, firmware and misfortunes.

    What Unitree does not publish is an assumption, and said to be one.

    Attributes:
        address: where it listens; loopback, unless you name an interface.
        port: 8007 is the robot's (unitree_legged_sdk v3.3.1 udp.h); 0 takes a free one.
        reply: ``per_command`` answers each command with one state, the pattern that the vendor's
            client expects; ``stream`` sends states at `stream_hz` from the first command on. Which
            of the two the robot does is not published.
        stream_hz: rate of a stream.
        comm_version: number in the header. Invented, as the next three, and not zero, so that a
            bridge that does not copy them shows.
        robot_id: number in the header.
        serial: number in the header.
        bandwidth: number in the header.
        tick_unit_s: length of the state's tick. The vendor's header says microseconds, drivers
            that work read milliseconds.
        first_tick: the tick at the start, for runs over its wrap.
        foot_force_scale: force that a foot sensor's count stands for; an assumption.
        foot_force_offset: what each unloaded foot shows; a public log of an A1 shows -1 to -23.
        command_timeout_s: time without a command after which the robot brakes all motors.
            Users report about 30 ms (yxyang/locomotion_simulation thread 5).
        release_s: how long commands must ask for neither position nor torque before it obeys
            again. How the robot leaves this protection is not published: an assumption.
        brake_kd: damping of a motor that brakes; an assumption.
        thermal: how motors warm up.
        network: faults of the network, in both directions.
        events: what goes wrong, and when.
    """

    address: str = "127.0.0.1"
    port: Annotated[int, Range("-", 0, 65535)] = 8007
    reply: Literal["per_command", "stream"] = "per_command"
    stream_hz: Annotated[float, Range("Hz", 1.0, 1000.0)] = 1000.0
    comm_version: Annotated[int, Range("-", 0, 2**16 - 1)] = 3
    robot_id: Annotated[int, Range("-", 0, 2**16 - 1)] = 1
    serial: Annotated[int, Range("-", 0, 2**32 - 1)] = 20211207
    bandwidth: Annotated[int, Range("-", 0, 2**8 - 1)] = 8
    tick_unit_s: Annotated[float, Range("s", 1e-7, 0.01)] = 1e-3
    first_tick: Annotated[int, Range("-", 0, 2**32 - 1)] = 0
    foot_force_scale: Annotated[float, Range("N/count", 1e-3, 1e3)] = 1.0
    foot_force_offset: Annotated[Counts4, Range("counts", -(2**15) + 1, 2**15 - 1)] = (
        -1, -23, -8, -14,
    )  # fmt: skip
    command_timeout_s: Annotated[float, Range("s", 0.001, 10.0)] = 0.03
    release_s: Annotated[float, Range("s", 0.0, 60.0)] = 0.5
    brake_kd: Annotated[float, Range("N m s/rad", 0.0, 20.0)] = 3.0
    thermal: ThermalOptions = ThermalOptions()
    network: NetworkOptions = NetworkOptions()
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        Options.__post_init__(self)
        try:
            ipaddress.IPv4Address(self.address)
        except ValueError:
            raise ValueError(f"address is {self.address!r}; give an IPv4 address") from None

    @property
    def header(self) -> Header:
        """What the robot's frames begin with."""
        return Header(
            comm_version=self.comm_version,
            robot_id=self.robot_id,
            serial=self.serial,
            bandwidth=self.bandwidth,
        )
