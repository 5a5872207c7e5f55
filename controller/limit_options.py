"""Limits of a plan as options; `controller.limits` enforces them."""

from __future__ import annotations

from typing import Annotated

from runtime.options import Options, Range, positive


class KeepOut(Options, frozen=True):
    """A box in the world, parallel to its axes, that the body keeps out of.

    Attributes:
        low: corner of the least x, y and z.
        high: the opposite corner.
    """

    low: Annotated[tuple[float, float, float], Range("m", -100.0, 100.0)]
    high: Annotated[tuple[float, float, float], Range("m", -100.0, 100.0)]

    def __post_init__(self) -> None:
        """Raise ValueError for a number out of its range, or corners the other way round."""
        Options.__post_init__(self)
        if not all(low < high for low, high in zip(self.low, self.high, strict=True)):
            raise ValueError("high must be above low along each axis")


class LimitOptions(Options, frozen=True):
    """Limits of a plan.

    Attributes:
        penalty: of a violation squared, in a planner; 0 leaves the limits out.
        range_margin: distance from the ends of the joints' ranges.
        stop_stiffness: by which the largest torque outwards falls on the way there. The default of
            these three is that of `hardware.safety`, which limits the commands to a robot.
        stop_damping: by which that torque is less the faster the joint moves outwards.
        torque: largest of a motor; the robot's own where it is left out.
        speed: largest of a joint, at which its motor has no torque left; the robot's own where it
            is left out.
        corner_speed: up to which the motor has all of its torque; the robot's own where it is left
            out.
        power: largest of all motors together, the sum of |torque times speed|; 1000 W is where the
            vendor's library switches an A1 off.
        trunk_clearance: least height of the trunk's corners above the ground.
        knee_clearance: the same of the knees.
        keep_out: boxes that the body keeps out of.
    """

    penalty: Annotated[float, Range("-", 0.0, 1e9)] = 0.0
    range_margin: Annotated[float, Range("rad", 0.0, 0.5)] = 0.05
    stop_stiffness: Annotated[float, positive("N m/rad", 1000.0)] = 120.0
    stop_damping: Annotated[float, Range("N m s/rad", 0.0, 10.0)] = 4.0
    torque: Annotated[float, positive("N m", 1000.0)] | None = None
    speed: Annotated[float, positive("rad/s", 1000.0)] | None = None
    corner_speed: Annotated[float, Range("rad/s", 0.0, 1000.0)] | None = None
    power: Annotated[float, positive("W", 1e6)] = 1000.0
    trunk_clearance: Annotated[float, Range("m", 0.0, 0.5)] = 0.03
    knee_clearance: Annotated[float, Range("m", 0.0, 0.5)] = 0.03
    keep_out: tuple[KeepOut, ...] = ()
