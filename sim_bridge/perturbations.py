"""Scripted disturbances of the simulated robot, as data: what, when and how much.

One event is a mapping with a `kind`, as design and suite files write it::

    {kind: base_velocity, at: 1.35, value: [0.0, 1.5, 0.0]}
    {kind: base_force, at: {foot: FR, phase: swing, cycle: 2}, for: 0.1, value: [0.0, 80.0, 0.0]}
    {kind: motor_block, at: 0.8, for: 0.15}
    {kind: base_velocity, at: 5.0, every: 5.0, value: [0.0, 1.0, 0.0]}  # again every 5 s
"""

import math
from typing import Protocol

import msgspec

Vector = tuple[float, float, float]
FEET = ("FR", "FL", "RR", "RL")
PHASES = ("swing", "stance")


def _check_one_of(name: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        raise ValueError(f"{name} is {value!r}; accepted: {', '.join(accepted)}")


class PhaseInstant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An instant in one foot's swing or stance in one gait cycle.

    Attributes:
        foot: FR, FL, RR or RL.
        phase: swing or stance.
        cycle: stride, counted from 0.
        share: part of the phase that has gone by, in [0, 1): 0.5 is the middle of a swing.
    """

    foot: str
    phase: str
    cycle: int
    share: float = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError for a foot or phase that is none, a cycle or a share out of range."""
        _check_one_of("foot", self.foot, FEET)
        _check_one_of("phase", self.phase, PHASES)
        if self.cycle < 0:
            raise ValueError(f"cycle is {self.cycle}; cycles count from 0")
        if not 0.0 <= self.share < 1.0:
            raise ValueError(f"share is {self.share}; give a part of the phase in [0, 1)")


Instant = float | PhaseInstant


class GaitClock(Protocol):
    """Knows when phases begin and how long they last; the controller's gait answers this."""

    def phase_start(self, foot: str, phase: str, cycle: int) -> float:
        """Start [simulated s] of `phase` of `foot` in gait cycle `cycle`."""
        ...

    def phase_duration(self, foot: str, phase: str, cycle: int) -> float:
        """Length of `phase` of `foot` in gait cycle `cycle` [s]."""
        ...


def _check_start(at: Instant) -> None:
    if not isinstance(at, PhaseInstant) and not 0.0 <= at < math.inf:
        raise ValueError(f"at is {at}; give seconds >= 0 or {{foot, phase, cycle}}")


def _check_length(duration: float) -> None:
    if not 0.0 < duration < math.inf:
        raise ValueError(f"for is {duration}; give seconds > 0")


def _check_every(every: float | None, duration: float = 0.0) -> None:
    if every is not None and not duration < every < math.inf:
        least = f"more than its `for` of {duration:g} s" if duration else "seconds > 0"
        raise ValueError(f"every is {every}; give {least}")


def _check_value(value: Vector) -> None:
    if not all(math.isfinite(component) for component in value):
        raise ValueError(f"value is {list(value)}; give three finite numbers")


class BaseVelocity(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="base_velocity", tag_field="kind"
):
    """Adds `value` [m/s, world frame] to the trunk's linear velocity at the instant `at` [s].

    With `every` it does so again each time that so many seconds have gone by.
    """

    at: Instant
    value: Vector
    every: float | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a time out of range or a value that is not finite."""
        _check_start(self.at)
        _check_value(self.value)
        _check_every(self.every)


class BaseForce(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="base_force", tag_field="kind"
):
    """Pushes the trunk at its centre of mass with `value` [N, world frame] for `for` [s].

    With `every` it does so again each time that so many seconds have gone by.
    """

    at: Instant
    value: Vector
    duration: float = msgspec.field(name="for")
    every: float | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a time out of range or a value that is not finite."""
        _check_start(self.at)
        _check_length(self.duration)
        _check_value(self.value)
        _check_every(self.every, self.duration)


class MotorBlock(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="motor_block", tag_field="kind"
):
    """Blocks the commands of all motors for `for` [s]: no torque (thesis, section 6.5.3)."""

    at: Instant
    duration: float = msgspec.field(name="for")

    def __post_init__(self) -> None:
        """Raise ValueError for a negative time or no duration."""
        _check_start(self.at)
        _check_length(self.duration)


Perturbation = BaseVelocity | BaseForce | MotorBlock
KINDS: dict[str, type[msgspec.Struct]] = {
    "base_velocity": BaseVelocity,
    "base_force": BaseForce,
    "motor_block": MotorBlock,
}


def start_time(event: Perturbation, gait: GaitClock | None) -> float:
    """When `event` begins [simulated s], asking the gait for a phase.

    Raises:
        ValueError: the event names a gait phase and there is no gait.
    """
    if not isinstance(event.at, PhaseInstant):
        return event.at
    if gait is None:
        raise ValueError("at: {foot, phase, cycle} needs a gait with swings; give seconds instead")
    at = event.at
    start = gait.phase_start(at.foot, at.phase, at.cycle)
    return start + at.share * gait.phase_duration(at.foot, at.phase, at.cycle)
