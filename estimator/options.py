"""The numbers of the leg-odometry filter, with their units and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from robots.conventions import GRAVITY
from runtime.options import check_ranges, positive


@dataclass(frozen=True)
class LegOdometryOptions:
    """Noises and thresholds of `LegOdometryFilter`; every one is positive.

    A noise that grows with the square root of time is given per sqrt(s), so the filter does not
    depend on the rate of the readings. Raises ValueError on a number out of its range.
    """

    acceleration_noise: Annotated[float, positive("m/s/sqrt(s)", 1e6)] = 0.03
    """Random walk of the velocity, from the accelerometer."""
    acceleration_relative_noise: Annotated[float, positive("sqrt(s)", 1e6)] = 0.0005
    """More of `acceleration_noise` per measured acceleration, which impacts distort."""
    position_noise: Annotated[float, positive("m/sqrt(s)", 1e6)] = 0.001
    """Random walk of the base position beyond the integrated velocity."""
    stance_foot_noise: Annotated[float, positive("m/sqrt(s)", 1e6)] = 0.003
    """Random walk of a foot that stands."""
    swing_foot_noise: Annotated[float, positive("m/sqrt(s)", 1e6)] = 1.0
    """Random walk of a foot in the air or slipping."""
    kinematics_noise: Annotated[float, positive("m", 1e6)] = 0.002
    """Relative foot position from the encoders."""
    foot_velocity_noise: Annotated[float, positive("m/s", 1e6)] = 0.08
    """Velocity of a standing foot from encoders and gyroscope."""
    height_noise: Annotated[float, positive("m", 1e6)] = 0.004
    """Height of a standing foot above flat ground."""
    force_off: Annotated[float, positive("N", 1000.0)] = 8.0
    """A foot leaves the ground below this force."""
    force_on: Annotated[float, positive("N", 1000.0)] = 15.0
    """A foot touches the ground above this force."""
    force_full: Annotated[float, positive("N", 1000.0)] = 28.0
    """Force from which contact is certain; a standing A1 has 33 N on each foot."""
    offset_clearance: Annotated[float, positive("m", 1.0)] = 0.02
    """A foot this far above the lowest one is in the air and shows its sensor's zero."""
    offset_time: Annotated[float, positive("s", 100.0)] = 0.03
    """Time constant with which the zero of a foot's sensor is followed."""
    largest_offset: Annotated[float, positive("N", 1e6)] = 20.0
    """A force beyond this is no zero offset of a foot's sensor."""
    touchdown_ramp: Annotated[float, positive("s", 10.0)] = 0.015
    """Time over which a new contact becomes trusted: it hides the touchdown transient."""
    huber: Annotated[float, positive("-", 1e6)] = 1.5
    """Standard deviations beyond which one foot's velocity counts less (Huber's weight)."""
    jump_gate: Annotated[float, positive("-", 1e6)] = 2.5
    """Standard deviations of the mean stance-foot velocity that tell a jump of the base."""
    jump_speed: Annotated[float, positive("m/s", 1e6)] = 0.15
    """Smallest jump of the base velocity looked for."""
    jump_scatter: Annotated[float, positive("-", 1e6)] = 0.5
    """Largest scatter among the stance feet, relative to their mean, in a jump."""
    jump_persistence: Annotated[float, positive("s", 10.0)] = 0.002
    """Time that the evidence of a jump must last."""
    jump_window: Annotated[float, positive("s", 10.0)] = 0.030
    """Time after a jump over which feet may slip and the velocity may still change."""
    jump_noise: Annotated[float, positive("m/s/sqrt(s)", 1e6)] = 5.0
    """Random walk of the velocity within `jump_window`."""
    largest_gap: Annotated[float, positive("s", 1e6)] = 0.1
    """Readings further apart than this restart the filter."""
    largest_speed: Annotated[float, positive("m/s", 1e6)] = 20.0
    """An estimated speed above this is a divergence."""
    foot_radius: Annotated[float, positive("m", 0.2)] | None = None
    """Radius of the foot sphere; the foot point is its centre. The robot's own where it is left
    out."""
    gravity: Annotated[float, positive("m/s^2", 100.0)] = GRAVITY
    """Acceleration of free fall."""

    __post_init__ = check_ranges
