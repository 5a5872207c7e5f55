"""The numbers of the leg-odometry filter, with their units and where they come from."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import astuple, dataclass, fields

from robots.a1.constants import FOOT_RADIUS, GRAVITY


@dataclass(frozen=True)
class LegOdometryOptions:
    """Noises and thresholds of `LegOdometryFilter`; every one is positive.

    A noise that grows with the square root of time is given per sqrt(s), so the filter does not
    depend on the rate of the readings. Raises ValueError on a number that is not positive.
    """

    acceleration_noise: float = 0.03
    """Accelerometer random walk of the velocity [m/s per sqrt(s)]."""
    acceleration_relative_noise: float = 0.0005
    """More of it per m/s2 of measured acceleration, which impacts distort [sqrt(s)]."""
    position_noise: float = 0.001
    """Random walk of the base position beyond the integrated velocity [m per sqrt(s)]."""
    stance_foot_noise: float = 0.003
    """Random walk of a foot that stands [m per sqrt(s)]."""
    swing_foot_noise: float = 1.0
    """Random walk of a foot in the air or slipping [m per sqrt(s)]."""
    kinematics_noise: float = 0.002
    """Relative foot position from the encoders [m]."""
    foot_velocity_noise: float = 0.08
    """Velocity of a standing foot from encoders and gyroscope [m/s]."""
    height_noise: float = 0.004
    """Height of a standing foot above flat ground [m]."""
    force_off: float = 8.0
    """A foot leaves the ground below this force [N]."""
    force_on: float = 15.0
    """A foot touches the ground above this force [N]."""
    force_full: float = 28.0
    """Force from which contact is certain [N]; a standing A1 has 33 N on each foot."""
    offset_clearance: float = 0.02
    """A foot this far above the lowest one is in the air and shows its sensor's zero [m]."""
    offset_time: float = 0.03
    """Time constant with which that zero is followed [s]."""
    largest_offset: float = 20.0
    """A force beyond this is no zero offset [N]."""
    touchdown_ramp: float = 0.015
    """Time over which a new contact becomes trusted [s]: it hides the touchdown transient."""
    huber: float = 1.5
    """Standard deviations beyond which one foot's velocity counts less (Huber's weight)."""
    jump_gate: float = 2.5
    """Standard deviations of the mean stance-foot velocity that tell a jump of the base."""
    jump_speed: float = 0.15
    """Smallest jump of the base velocity looked for [m/s]."""
    jump_scatter: float = 0.5
    """Largest scatter among the stance feet, relative to their mean, in a jump."""
    jump_persistence: float = 0.002
    """Time that the evidence of a jump must last [s]."""
    jump_window: float = 0.030
    """Time after a jump over which feet may slip and the velocity may still change [s]."""
    jump_noise: float = 5.0
    """Random walk of the velocity within that window [m/s per sqrt(s)]."""
    largest_gap: float = 0.1
    """Readings further apart than this restart the filter [s]."""
    largest_speed: float = 20.0
    """An estimated speed above this is a divergence [m/s]."""
    foot_radius: float = FOOT_RADIUS
    """Radius of the foot sphere; the foot point is its centre [m]."""
    gravity: float = GRAVITY
    """[m/s2]"""

    def __post_init__(self) -> None:
        """Refuse what is not a positive number."""
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0.0 < value < float("inf"):
                raise ValueError(f"{field.name} must be a positive number, not {value!r}")


# numba takes a named tuple but no dataclass; the fields stay written once.
Parameters = namedtuple("Parameters", [field.name for field in fields(LegOdometryOptions)])


def parameters(options: LegOdometryOptions) -> Parameters:
    """The options as the named tuple that the compiled update takes."""
    return Parameters(*(float(value) for value in astuple(options)))
