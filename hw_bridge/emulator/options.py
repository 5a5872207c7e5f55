"""Options of the emulated robot, but for its body, and the events of a run as data.

One event is a mapping with a `kind`; its `at` counts from the first command that the robot
received [s]::

    {kind: cut, at: 12.0, for: 0.05}
    {kind: heat, at: 10.0, motor: FL_thigh, temperature: 61}
    {kind: remote, at: 14.0, for: 0.2, buttons: [L2, B]}
    {kind: remote, at: 12.0, for: 3.0, sticks: {ly: 0.5}}

A motor is named as in FR_hip, or given as its index 0 to 11.
"""

from typing import Annotated, Literal

import msgspec

from hw_bridge.options import Domain, Port, ipv4_address
from hw_bridge.wire.layout import LOW_LEVEL, Header
from hw_bridge.wire.remote import encode_remote
from robots.conventions import JOINT_NAMES
from runtime.options import Options, Range, positive

Length = Annotated[float, positive("s", 86_400.0)]
Share = Annotated[float, Range("-", 0.0, 1.0)]
Delay = Annotated[float, Range("s", 0.0, 10.0)]
Word = Annotated[int, Range("-", 0, 2**32 - 1)]
MOTORS = tuple(name.removesuffix("_joint") for name in JOINT_NAMES)


class Incident(Options, frozen=True, tag_field="kind"):
    """A fault.

    Attributes:
        at: time since the first command that the robot received.
    """

    at: Annotated[float, Range("s", 0.0, 86_400.0)]


class MotorIncident(Incident, frozen=True):
    """A fault of one motor.

    Attributes:
        motor: its name, such as FR_hip, or its index.
    """

    motor: Annotated[int, Range("-", 0, len(MOTORS) - 1)] | str

    def check(self) -> None:
        """Raise ValueError for a motor that is none."""
        _ = self.index

    @property
    def index(self) -> int:
        """Number of the motor, 0 to 11."""
        if isinstance(self.motor, int):
            return self.motor
        if self.motor in MOTORS:
            return MOTORS.index(self.motor)
        names = ", ".join(MOTORS)
        raise ValueError(f"motor is {self.motor!r}; accepted: 0 to 11 or one of {names}")


class Cut(Incident, frozen=True, tag="cut"):
    """The cable is out: no frame passes, in either direction.

    Attributes:
        duration: length of the cut.
    """

    duration: Length = msgspec.field(name="for")


class StuckEncoder(MotorIncident, frozen=True, tag="stuck_encoder"):
    """An encoder shows its last angle and no speed from now on, to its motor's own loop too."""


class StuckVelocity(MotorIncident, frozen=True, tag="stuck_velocity"):
    """A motor tells one speed from now on; its own loop knows the true one.

    Attributes:
        value: the speed that it tells.
    """

    value: Annotated[float, Range("rad/s", -100.0, 100.0)] = 0.0


class Jam(MotorIncident, frozen=True, tag="jam"):
    """A joint jams where it is, for good."""


class Heat(MotorIncident, frozen=True, tag="heat"):
    """A motor is hot, all of a sudden.

    Attributes:
        temperature: new temperature of the motor.
    """

    temperature: Annotated[float, Range("deg C", -100.0, 200.0)]


class DriveJoint(MotorIncident, frozen=True, tag="drive_joint"):
    """A joint is turned from outside.

    Attributes:
        torque: turns the joint.
        duration: how long it is turned.
    """

    torque: Annotated[float, Range("N m", -1000.0, 1000.0)]
    duration: Length = msgspec.field(name="for")


class RemoteHold(Incident, frozen=True, tag="remote"):
    """Buttons and sticks of the robot's own remote are held.

    Attributes:
        duration: how long they are held.
        buttons: their names.
        sticks: place of each stick by its name, -1 to 1.
    """

    duration: Length = msgspec.field(name="for")
    buttons: tuple[str, ...] = ()
    sticks: dict[str, float] = {}

    def check(self) -> None:
        """Raise ValueError for a time out of range, or what the remote does not have."""
        encode_remote(self.buttons, self.sticks)


class VelocityPush(Incident, frozen=True, tag="push"):
    """Adds a velocity to the trunk's.

    Attributes:
        value: what is added to the trunk's linear velocity, world frame.
    """

    value: Annotated[tuple[float, float, float], Range("m/s", -20.0, 20.0)]


class PowerCut(Incident, frozen=True, tag="power_cut"):
    """The battery is gone for good: limp motors, and silence."""


Event = (
    Cut | StuckEncoder | StuckVelocity | Jam | Heat | DriveJoint | RemoteHold | VelocityPush
    | PowerCut
)  # fmt: skip


class NetworkOptions(Options, frozen=True):
    """Faults of the network for each frame, the same in both directions; draws are independent.

    Attributes:
        loss: probability that a frame does not arrive.
        duplicate: probability that a frame arrives twice.
        reorder: probability that later frames overtake a frame, by `reorder_s`.
        reorder_s: how long such a frame is held up.
        corrupt: probability that one to eight bits of a frame are flipped.
        jitter_s: each frame is late by a uniform time from 0 to this.
        seed: equal seeds and frames give equal faults.
    """

    loss: Share = 0.0
    duplicate: Share = 0.0
    reorder: Share = 0.0
    reorder_s: Delay = 0.003
    corrupt: Share = 0.0
    jitter_s: Delay = 0.0
    seed: Word = 0


class EmulatorOptions(Options, frozen=True):
    """The emulated robot's address, firmware and faults.

    What Unitree does not publish is an assumption, and said to be one.

    Attributes:
        address: where it listens; loopback, unless you name an interface.
        port: 8007 is the robot's (unitree_legged_sdk v3.3.1 udp.h); 0 takes a free one.
        domain: domain of DDS, for a robot that speaks it; 0 with port 0 takes a random one.
        reply: `per_command` answers each command with one state, as the vendor's client expects;
            `stream` sends one every 1 ms. Which of the two the robot does is not published.
        robot_id: number of the robot, in its header.
        serial: serial number, in its header.
        tick_unit_s: length of the state's tick (`hardware.tick_unit_s`).
        foot_force_offset: count of each unloaded foot; -1 to -23 in a public log. A count is 1 N,
            an assumption.
        network: faults of the network, in both directions.
        events: what goes wrong, and when.
    """

    address: str = "127.0.0.1"
    port: Port = 8007
    domain: Domain = 0
    reply: Literal["per_command", "stream"] = "per_command"
    robot_id: Annotated[int, Range("-", 0, 2**16 - 1)] = 1
    serial: Word = 20211207
    tick_unit_s: Annotated[float, Range("s", 1e-7, 0.01)] = 1e-3
    foot_force_offset: Annotated[
        tuple[int, int, int, int], Range("counts", -(2**15) + 1, 2**15 - 1)
    ] = (-1, -23, -8, -14)
    network: NetworkOptions = NetworkOptions()
    events: tuple[Event, ...] = ()

    def check(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        ipv4_address("address", self.address, "such as 127.0.0.1")

    @property
    def header(self) -> Header:
        """First fields of the robot's frames; no number is zero, so that a missing copy shows."""
        return Header(LOW_LEVEL, 3, self.robot_id, self.serial, 8)
