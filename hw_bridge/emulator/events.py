"""What goes wrong with the emulated robot, and when, as data.

One event is a mapping with a `kind`; its `at` counts from the first command that the robot
received [s]::

    {kind: cut, at: 12.0, for: 0.05}
    {kind: heat, at: 10.0, motor: FL_thigh, temperature: 61}
    {kind: remote, at: 14.0, for: 0.2, buttons: [L2, B]}
    {kind: remote, at: 12.0, for: 3.0, sticks: {ly: 0.5}}

A motor is named as in FR_hip, or given as its index 0 to 11.
"""

import math

import msgspec

from hw_bridge.wire.remote import encode_remote
from robots.a1.constants import JOINT_NAMES

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


def _check_finite(name: str, value: float, least: float = -math.inf) -> None:
    if not (math.isfinite(value) and value >= least):
        raise ValueError(f"{name} is {value}; give a number{f' >= {least:g}' * (least == 0.0)}")


def _check_length(duration: float) -> None:
    if not 0.0 < duration < math.inf:
        raise ValueError(f"for is {duration}; give seconds > 0")


class Cut(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="cut", tag_field="kind"):
    """The cable is out for `for` [s]: no frame passes, in either direction."""

    at: float
    duration: float = msgspec.field(name="for")

    def __post_init__(self) -> None:
        """Raise ValueError for a time out of range."""
        _check_finite("at", self.at, 0.0)
        _check_length(self.duration)


class StuckEncoder(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="stuck_encoder", tag_field="kind"
):
    """The encoder of `motor` shows its last angle and no speed from now on, to its own loop too."""

    at: float
    motor: int | str

    def __post_init__(self) -> None:
        """Raise ValueError for a time or motor out of range."""
        _check_finite("at", self.at, 0.0)
        motor_index(self.motor)


class Heat(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="heat", tag_field="kind"):
    """`motor` is at `temperature` [deg C], all of a sudden."""

    at: float
    motor: int | str
    temperature: float

    def __post_init__(self) -> None:
        """Raise ValueError for a time, motor or temperature out of range."""
        _check_finite("at", self.at, 0.0)
        motor_index(self.motor)
        _check_finite("temperature", self.temperature)


class DriveJoint(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="drive_joint", tag_field="kind"
):
    """Somebody turns the joint of `motor` with `torque` [N m] for `for` [s]."""

    at: float
    motor: int | str
    torque: float
    duration: float = msgspec.field(name="for")

    def __post_init__(self) -> None:
        """Raise ValueError for a time, motor or torque out of range."""
        _check_finite("at", self.at, 0.0)
        _check_length(self.duration)
        motor_index(self.motor)
        _check_finite("torque", self.torque)


class RemoteHold(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="remote", tag_field="kind"
):
    """`buttons` and `sticks`, in [-1, 1], of the A1's own remote are held for `for` [s]."""

    at: float
    duration: float = msgspec.field(name="for")
    buttons: tuple[str, ...] = ()
    sticks: dict[str, float] = {}

    def __post_init__(self) -> None:
        """Raise ValueError for a time out of range, or what the remote does not have."""
        _check_finite("at", self.at, 0.0)
        _check_length(self.duration)
        encode_remote(self.buttons, self.sticks)


class Push(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="push", tag_field="kind"):
    """Adds `value` [m/s, world frame] to the trunk's linear velocity."""

    at: float
    value: tuple[float, float, float]

    def __post_init__(self) -> None:
        """Raise ValueError for a time or a value out of range."""
        _check_finite("at", self.at, 0.0)
        for component in self.value:
            _check_finite("value", component)


class PowerCut(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="power_cut", tag_field="kind"
):
    """The battery is gone for good: limp motors, and silence."""

    at: float

    def __post_init__(self) -> None:
        """Raise ValueError for a time out of range."""
        _check_finite("at", self.at, 0.0)


Event = Cut | StuckEncoder | Heat | DriveJoint | RemoteHold | Push | PowerCut
