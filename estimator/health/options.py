"""The thresholds of the sensor monitor, with their units and where they come from."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from robots.a1.constants import ARMATURE, GRAVITY, TORQUE_LIMIT, TOTAL_MASS, VELOCITY_LIMIT
from robots.a1.imu_units import LEAST, MOST


@dataclass(frozen=True)
class MonitorOptions:
    """Ranges, tolerances and times of `SensorMonitor`; every one is positive.

    "Seen" is the largest value in recorded walks, trots, pushes of the base to 1.5 m/s, blocked
    motors and slippery ground, with the simulated sensors' noise: nothing of that is a fault.
    Raises ValueError on a number that is not positive.
    """

    norm_error: float = 0.1
    """A quaternion's norm is this near to one."""
    largest_rate: float = 35.0
    """Range of a gyroscope of 2000 degrees/s [rad/s]."""
    accelerometer_range: float = 16.0 * GRAVITY
    """A reading at the rail is at least 0.999 of it; 1.05 of it is no reading [m/s2]."""
    joint_margin: float = 0.5
    """A joint may seem this far beyond its stops [rad]."""
    largest_joint_velocity: float = 2.0 * VELOCITY_LIMIT
    """A blow turns a joint faster than its motor can [rad/s]; seen 18."""
    largest_torque: float = 1.5 * TORQUE_LIMIT
    """[N m]"""
    largest_force: float = 2000.0
    """Fifteen times the robot's weight [N]; seen 313."""
    least_force: float = 100.0
    """A foot pulls no more than this on the ground, whatever its sensor's zero [N]."""

    freeze_time: float = 0.010
    """Equal numbers for so long are suspect [s]; encoders repeat themselves up to 4 ms."""
    lively: float = 0.3
    """Share of readings at which a number must have changed before it can be called frozen."""
    lively_time: float = 0.05
    """Over which that share is taken [s]."""

    attitude_jump: float = 0.02
    """Attitude beyond what the gyroscope has turned [rad]; seen 0.0033 in a step."""
    attitude_drift: float = 0.008
    """The same, summed over `attitude_time`: the gyroscope is wrong [rad]; seen 0.002."""
    attitude_time: float = 0.05
    """[s]"""
    attitude_stuck: float = 0.002
    """What the gyroscope turns while the attitude stays equal [rad]."""
    rate_jump: float = 5.0
    """Change of the angular velocity between readings [rad/s]; seen 0.21."""
    fastest_turn: float = 6.0
    """Growth of the tolerance while the gyroscope is left out [rad/s]; seen 1.8."""
    position_jump: float = 0.01
    """Joint position beyond what its velocity moves [rad]; seen 0.0013 in a step."""
    position_drift: float = 0.008
    """The same, summed over `position_time`: the velocity is wrong [rad]; seen 0.0032."""
    position_time: float = 0.02
    """[s]"""
    position_stuck: float = 0.0012
    """What the velocity moves while the position stays equal [rad]; 29 of the encoder's steps."""
    velocity_jump: float = 16.0
    """Change of a joint's velocity between readings [rad/s]: the torque limit gives 3 in 1 ms, a
    foot stopped at 2 m/s 10; seen 2.0."""
    velocity_start: float = 4.0
    """Change after which a disagreement is the velocity's own [rad/s]."""
    position_start: float = 0.0018
    """A disagreement large enough in the very step of such a change [rad]; seen 0.0013."""

    leg_force: float = 45.0
    """Foot sensor against the force that its leg's torques hold, filtered [N]; seen 22."""
    body_force: float = 16.0
    """Force that neither feet nor gravity give, per mass, filtered [m/s2]. A trunk that lies on
    the ground shows 9.8, a push of 150 N 11."""
    silent_force: float = 34.0
    """The same for a foot or a leg that says exactly zero [N]; seen 24."""
    least_gravity: float = LEAST * GRAVITY
    most_gravity: float = MOST * GRAVITY
    """Bounds of the mean acceleration [m/s2]: half of gravity a speed of 5 m/s gives or takes in
    `gravity_time`, and only another unit for longer."""
    gravity_time: float = 1.0
    """Over which that mean is taken; from half of it on it is judged [s]."""
    heavy_load: float = 200.0
    """Where foot and leg both say so much, their disagreement counts half [N]; a landing from a
    backflip shows 570."""
    stop_distance: float = 0.08
    """Nearer to a joint's stop the stop may bear the force, not the motor [rad]."""
    fastest_leg: float = 12.0
    """Legs faster than this have inertia that the forces leave out [rad/s]; a swing has 8."""
    force_time: float = 0.02
    """Time constant of that filter [s]."""
    mass: float = TOTAL_MASS
    """[kg]"""
    armature: float = ARMATURE
    """[kg m2]"""
    gravity: float = GRAVITY
    """[m/s2]"""

    sound_time: float = 0.02
    """A sensor is trusted again when nothing was wrong with it for so long [s]."""
    readmit_time: float = 0.5
    """A sensor that jumped and is sound but for that is believed after so long [s]."""
    attitude_spread: float = 0.03
    """Growth of the tolerance while an attitude is carried on by the gyroscope [rad/s]."""
    position_spread: float = 0.1
    """Growth of the tolerance while a joint is carried on by its velocity [rad/s]."""
    most_repeats: float = 10.0
    """Readings in a row whose time does not go on [-]."""
    tick: float = 1e-3
    """Between readings further apart than this a velocity may have changed at any time [s]."""
    largest_gap: float = 0.0065
    """Readings further apart are not compared [s]."""

    def __post_init__(self) -> None:
        """Refuse what is not a positive number."""
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0.0 < value < float("inf"):
                raise ValueError(f"{field.name} must be a positive number, not {value!r}")


_RECORD = np.dtype([(field.name, np.float64) for field in fields(MonitorOptions)])


def thresholds(options: MonitorOptions) -> NDArray[np.void]:
    """The options as one record (1,), which compiled functions take as one pointer."""
    return np.array([astuple(options)], dtype=_RECORD)
