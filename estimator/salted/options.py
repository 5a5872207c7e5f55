"""The numbers of the A1's salted Kalman filter, with their units and where they come from."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from robots.a1.constants import FOOT_RADIUS, GRAVITY


@dataclass(frozen=True)
class SaltedOptions:
    """Noises and thresholds of `SaltedEstimator`; every one is positive.

    A noise that grows with the square root of time is given per sqrt(s); a sensor's noise is that
    of one reading. Raises ValueError on a number that is not positive.
    """

    # What the dynamics do not know: forces, slip, flexible feet.
    acceleration_noise: float = 0.1
    """Of the base [m/s per sqrt(s)]; the accelerometer takes most of it back."""
    angular_acceleration_noise: float = 1.0
    """Of the base [rad/s per sqrt(s)]."""
    joint_acceleration_noise: float = 3.0
    """[rad/s per sqrt(s)]: the measured torques err by 0.2 N m, and soft feet let legs give way."""
    touchdown_acceleration_noise: float = 30.0
    """Of a leg's joints while its foot comes to rest, fading with `touchdown_time` [rad/s per
    sqrt(s)]."""
    impact_noise: float = 1.0
    """Standard deviation of an impact's jump, relative to the jump: feet and ground are soft."""
    gyro_bias_walk: float = 1e-5
    """[rad/s per sqrt(s)]"""
    accelerometer_bias_walk: float = 1e-4
    """[m/s2 per sqrt(s)]"""
    misalignment_walk: float = 1e-5
    """[rad per sqrt(s)]"""
    # Sensors: rather above what `sim_bridge.sensors` assumes of the A1.
    orientation_noise: float = 0.001
    """Of the IMU's attitude [rad]."""
    gyro_noise: float = 0.008
    """[rad/s]"""
    accelerometer_noise: float = 0.1
    """[m/s2]"""
    accelerometer_relative_noise: float = 0.005
    """More of it, relative to the measured acceleration, which impacts distort."""
    joint_position_noise: float = 0.0003
    """[rad]"""
    joint_velocity_noise: float = 0.03
    """[rad/s]"""
    # At the start.
    gyro_bias: float = 0.003
    """[rad/s]"""
    accelerometer_bias: float = 0.03
    """[m/s2]"""
    misalignment: float = 0.004
    """[rad]"""
    # Feet that stand.
    foot_velocity_noise: float = 0.01
    """Slip along the ground [m/s]."""
    foot_vertical_noise: float = 0.06
    """Sinking of the foot and the ground [m/s]."""
    touchdown_noise: float = 1.0
    """Slip and bounce at touchdown [m/s], which fades with `touchdown_time`."""
    touchdown_time: float = 0.01
    """[s]"""
    heavy_load: float = 100.0
    """A foot under more than this sinks in [N]: its vertical noise grows by `touchdown_noise` for
    every other such load. A standing A1 has 33 N on each foot, a trotting one 70."""
    height_noise: float = 0.006
    """Height of a standing foot above flat ground [m]."""
    foot_stiffness: float = 3e4
    """Of foot and ground [N/m]. With `foot_depth` it fits the simulated ground; a real robot's feet
    are to be measured."""
    foot_depth: float = 0.0022
    """How far a heavy load presses a foot in at most [m]."""
    huber: float = 0.5
    """Standard deviations beyond which a foot's row counts less (Huber's weight): so few that slip
    counts by its sign rather than its size, for it has a long tail."""
    # Modes.
    terrain_noise: float = 0.005
    """Of the ground's height where a foot comes down: width of the guard [m]."""
    touchdown_delay: float = 0.0015
    """How late or early a force sensor tells a touchdown [s]."""
    slowest_impact: float = 0.05
    """A foot that comes down more slowly makes no impact [m/s]."""
    load_noise: float = 15.0
    """Of the predicted normal force at liftoff: width of that guard [N]."""
    force_noise: float = 4.0
    """Of a foot's force sensor, its drifting zero included [N]."""
    largest_force: float = 200.0
    """A standing foot's force is as likely to be anything up to this [N]."""
    surprise_rate: float = 2.0
    """Touchdowns and liftoffs that no guard announces [1/s]."""
    force_off: float = 8.0
    """From this force on a standing foot starts to hold [N]."""
    force_full: float = 28.0
    """Force from which it holds for certain [N]; a standing A1 has 33 N on each foot."""
    offset_clearance: float = 0.02
    """A foot this far above the lowest one is in the air and shows its sensor's zero [m]."""
    offset_time: float = 0.03
    """Time constant with which that zero is followed [s]."""
    largest_offset: float = 20.0
    """A force beyond this is no zero offset [N]."""
    # A push that changes the velocity between two samples of the accelerometer.
    settling_time: float = 0.008
    """Over this time of holding firmly a foot becomes a witness of jumps [s]."""
    firm_time: float = 0.03
    """One foot at least must have held firmly for so long [s]: a robot that lands is not pushed."""
    jump_gate: float = 2.5
    """Standard deviations of the mean stance-foot velocity that tell a jump of the base."""
    jump_speed: float = 0.15
    """Smallest jump of the base velocity looked for [m/s]."""
    jump_scatter: float = 0.3
    """Largest scatter among the stance feet, relative to their mean, in a jump."""
    jump_persistence: float = 0.001
    """Time that the evidence of a jump must last [s]."""
    jump_window: float = 0.030
    """Time after a jump over which feet may slip and the velocity may still change [s]."""
    jump_noise: float = 10.0
    """Random walk of the horizontal velocity within that window [m/s per sqrt(s)]."""
    jump_sideways: float = 0.2
    """Share of that across the jump's direction."""
    jump_selection: float = 0.3
    """A foot that lags this far behind the one that follows the jump best is slipping [m/s]."""
    # Limits.
    longest_step: float = 0.0025
    """After a longer time without a reading the estimate is "degraded" [s]. Two ticks, for one
    reading that was lost, and half a tick of room: times are rounded, and a robot's clock may be
    slow."""
    largest_gap: float = 0.2
    """Readings further apart, or this long without IMU and encoders, restart the filter [s]."""
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


Parameters = SaltedOptions
"""The options in compiled functions: a record with the same fields."""
_RECORD = np.dtype((np.record, [(field.name, np.float64) for field in fields(SaltedOptions)]))


def parameters(options: SaltedOptions) -> NDArray[np.void]:
    """The options as one record (1,), which compiled functions take as one pointer."""
    return np.array([astuple(options)], dtype=_RECORD)
