"""Scripted disturbances of the simulated robot, as data: what, when and how much.

One event is a mapping with a `kind`, as design and suite files write it::

    {kind: base_velocity, at: 1.35, value: [0.0, 1.5, 0.0]}
    {kind: base_force, at: {foot: FR, phase: swing, cycle: 2}, for: 0.1, value: [0.0, 80.0, 0.0]}
    {kind: motor_block, at: 0.8, for: 0.15}
    {kind: base_velocity, at: 5.0, every: 5.0, value: [0.0, 1.0, 0.0]}  # again every 5 s
"""

from typing import Annotated, Protocol

import msgspec

from runtime.options import Options, Range, positive

Vector = tuple[float, float, float]
FEET = ("FR", "FL", "RR", "RL")
PHASES = ("swing", "stance")


def _check_one_of(name: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        raise ValueError(f"{name} is {value!r}; accepted: {', '.join(accepted)}")


class PhaseInstant(Options, frozen=True):
    """An instant in one foot's swing or stance in one gait cycle.

    Attributes:
        foot: FR, FL, RR or RL.
        phase: swing or stance.
        cycle: stride, counted from 0.
        share: part of the phase that has gone by.
    """

    foot: str
    phase: str
    cycle: Annotated[int, Range("-", 0, 1_000_000)]
    share: Annotated[float, Range("-", 0.0, 0.999)] = 0.0

    def check(self) -> None:
        """Raise ValueError for a foot or phase that is none, a cycle or a share out of range."""
        _check_one_of("foot", self.foot, FEET)
        _check_one_of("phase", self.phase, PHASES)


Instant = Annotated[float, Range("s", 0.0, 86_400.0)] | PhaseInstant
Length = Annotated[float, positive("s", 86_400.0)]


class GaitClock(Protocol):
    """Knows when phases begin and how long they last; the controller's gait answers this."""

    def phase_start(self, foot: str, phase: str, cycle: int) -> float:
        """Start [simulated s] of `phase` of `foot` in gait cycle `cycle`."""
        ...

    def phase_duration(self, foot: str, phase: str, cycle: int) -> float:
        """Length of `phase` of `foot` in gait cycle `cycle` [s]."""
        ...


class BaseVelocity(Options, frozen=True, tag="base_velocity", tag_field="kind"):
    """Adds a velocity to the trunk's; again and again with `every`.

    Attributes:
        at: time of the push.
        value: what is added to the trunk's linear velocity, world frame.
        every: time after which it does so again; null does it once.
    """

    at: Instant
    value: Annotated[Vector, Range("m/s", -20.0, 20.0)]
    every: Length | None = None


class BaseForce(Options, frozen=True, tag="base_force", tag_field="kind"):
    """Pushes the trunk at its centre of mass; again and again with `every`.

    Attributes:
        at: when the push begins.
        value: force, world frame.
        duration: length of the push.
        every: time after which the next push begins, longer than one; null pushes once.
    """

    at: Instant
    value: Annotated[Vector, Range("N", -10_000.0, 10_000.0)]
    duration: Length = msgspec.field(name="for")
    every: Length | None = None

    def check(self) -> None:
        """Raise ValueError for a number out of range, or pushes that overlap."""
        if self.every is not None and self.every <= self.duration:
            raise ValueError(
                f"every is {self.every:g}; give more than its `for`, {self.duration:g} s"
            )


class MotorBlock(Options, frozen=True, tag="motor_block", tag_field="kind"):
    """Blocks the commands of all motors: no torque (thesis, section 6.5.3).

    Attributes:
        at: when the block begins.
        duration: length of the block.
    """

    at: Instant
    duration: Length = msgspec.field(name="for")


Perturbation = BaseVelocity | BaseForce | MotorBlock
KINDS: dict[str, type[msgspec.Struct]] = {
    "base_velocity": BaseVelocity,
    "base_force": BaseForce,
    "motor_block": MotorBlock,
}


def start_time(event: Perturbation, gait: GaitClock | None) -> float:
    """Begin of `event` [simulated s], asking the gait for a phase.

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
