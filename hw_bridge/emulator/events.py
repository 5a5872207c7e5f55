"""What goes wrong with the emulated robot, and when, as data.

One event is a mapping with a `kind`; its `at` counts from the first command that the robot
received [s]::

    {kind: cut, at: 12.0, for: 0.05}
    {kind: heat, at: 10.0, motor: FL_thigh, temperature: 61}
    {kind: remote, at: 14.0, for: 0.2, buttons: [L2, B]}
    {kind: remote, at: 12.0, for: 3.0, sticks: {ly: 0.5}}

A motor is named as in FR_hip, or given as its index 0 to 11.
"""

from typing import Annotated

import msgspec

from hw_bridge.wire.remote import encode_remote
from robots.conventions import JOINT_NAMES
from runtime.options import Options, Range, positive

Length = Annotated[float, positive("s", 86_400.0)]
MOTORS = tuple(name.removesuffix("_joint") for name in JOINT_NAMES)


def motor_index(motor: int | str) -> int:
    """Index 0 to 11 of a motor given by name or index.

    Raises:
        ValueError: it is none.
    """
    if isinstance(motor, int) and 0 <= motor < len(MOTORS):
        return motor
    if motor in MOTORS:
        return MOTORS.index(str(motor))
    raise ValueError(f"motor is {motor!r}; accepted: 0 to 11 or one of {', '.join(MOTORS)}")


class Incident(Options, frozen=True):
    """Something that goes wrong.

    Attributes:
        at: when, since the first command that the robot received.
    """

    at: Annotated[float, Range("s", 0.0, 86_400.0)]


class MotorIncident(Incident, frozen=True):
    """Something that goes wrong with one motor.

    Attributes:
        motor: its name, such as FR_hip, or its index.
    """

    motor: Annotated[int, Range("-", 0, len(MOTORS) - 1)] | str

    def __post_init__(self) -> None:
        """Raise ValueError for a number or a motor that is not accepted."""
        Options.__post_init__(self)
        motor_index(self.motor)


class Cut(Incident, frozen=True, tag="cut", tag_field="kind"):
    """The cable is out: no frame passes, in either direction.

    Attributes:
        duration: `for` in a file: how long it is out.
    """

    duration: Length = msgspec.field(name="for")


class StuckEncoder(MotorIncident, frozen=True, tag="stuck_encoder", tag_field="kind"):
    """An encoder shows its last angle and no speed from now on, to its motor's own loop too."""


class StuckVelocity(MotorIncident, frozen=True, tag="stuck_velocity", tag_field="kind"):
    """A motor tells one speed from now on; its own loop knows the true one.

    Attributes:
        value: the speed that it tells.
    """

    value: Annotated[float, Range("rad/s", -100.0, 100.0)] = 0.0


class Jam(MotorIncident, frozen=True, tag="jam", tag_field="kind"):
    """A joint jams where it is, for good."""


class Heat(MotorIncident, frozen=True, tag="heat", tag_field="kind"):
    """A motor is hot, all of a sudden.

    Attributes:
        temperature: new temperature of the motor.
    """

    temperature: Annotated[float, Range("deg C", -100.0, 200.0)]


class DriveJoint(MotorIncident, frozen=True, tag="drive_joint", tag_field="kind"):
    """Somebody turns a joint.

    Attributes:
        torque: turns the joint.
        duration: `for` in a file: how long it is turned.
    """

    torque: Annotated[float, Range("N m", -1000.0, 1000.0)]
    duration: Length = msgspec.field(name="for")


class RemoteHold(Incident, frozen=True, tag="remote", tag_field="kind"):
    """Buttons and sticks of the A1's own remote are held.

    Attributes:
        duration: `for` in a file: how long they are held.
        buttons: their names.
        sticks: place of each stick by its name, -1 to 1.
    """

    duration: Length = msgspec.field(name="for")
    buttons: tuple[str, ...] = ()
    sticks: dict[str, float] = {}

    def __post_init__(self) -> None:
        """Raise ValueError for a time out of range, or what the remote does not have."""
        Options.__post_init__(self)
        encode_remote(self.buttons, self.sticks)


class VelocityPush(Incident, frozen=True, tag="push", tag_field="kind"):
    """Adds a velocity to the trunk's.

    Attributes:
        value: what is added to the trunk's linear velocity, world frame.
    """

    value: Annotated[tuple[float, float, float], Range("m/s", -20.0, 20.0)]


class PowerCut(Incident, frozen=True, tag="power_cut", tag_field="kind"):
    """The battery is gone for good: limp motors, and silence."""


Event = (
    Cut | StuckEncoder | StuckVelocity | Jam | Heat | DriveJoint | RemoteHold | VelocityPush
    | PowerCut
)  # fmt: skip
