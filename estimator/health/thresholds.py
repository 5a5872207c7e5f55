"""The thresholds of the sensor monitor, with their units and where they come from.

"Seen" is the largest value in recorded walks, trots, pushes of the base to 1.5 m/s, blocked motors
and slippery ground, with the simulated sensors' noise: nothing of that is a fault. Forces are those
of a robot of `MASS`; they grow with a robot's weight.
"""

from __future__ import annotations

from robots.conventions import GRAVITY
from robots.imu_units import LEAST, MOST

MASS, LEG_LENGTH = 13.741, 0.4
"""Of the robot that the forces here and `SINGULAR` are for [kg], [m]."""

NORM_ERROR = 0.1
"""A quaternion's norm is this near to one."""
LARGEST_RATE = 35.0
"""Range of a gyroscope of 2000 degrees/s [rad/s]."""
ACCELEROMETER_RANGE = 16.0 * GRAVITY
"""A reading at the rail is at least 0.999 of it; 1.05 of it is no reading [m/s2]."""
JOINT_MARGIN = 0.5
"""A joint may seem this far beyond its stops [rad]."""
LARGEST_JOINT_VELOCITY = 2.0
"""Times the motor's largest: a blow turns a joint faster [-]; seen 18 rad/s of 21."""
LARGEST_TORQUE = 1.5
"""Times the motor's largest [-]."""
LARGEST_FORCE = 2000.0
"""Fifteen times the robot's weight [N]; seen 313."""
LEAST_FORCE = 100.0
"""A foot pulls no more than this on the ground, whatever its sensor's zero [N]."""

FREEZE_TIME = 0.010
"""Equal numbers for so long are suspect [s]; encoders repeat themselves up to 4 ms."""
LIVELY = 0.3
"""Share of readings at which a number must have changed before it can be called frozen."""
LIVELY_TIME = 0.05
"""Over which that share is taken [s]."""

ATTITUDE_JUMP = 0.02
"""Attitude beyond what the gyroscope has turned [rad]; seen 0.0033 in a step."""
ATTITUDE_DRIFT = 0.008
"""The same, summed over `attitude_time`: the gyroscope is wrong [rad]; seen 0.002."""
ATTITUDE_TIME = 0.05
"""[s]"""
ATTITUDE_STUCK = 0.002
"""What the gyroscope turns while the attitude stays equal [rad]."""
RATE_JUMP = 5.0
"""Change of the angular velocity between readings [rad/s]; seen 0.21."""
FASTEST_TURN = 6.0
"""Growth of the tolerance while the gyroscope is left out [rad/s]; seen 1.8."""
POSITION_JUMP = 0.01
"""Joint position beyond what its velocity moves [rad]; seen 0.0013 in a step."""
POSITION_DRIFT = 0.008
"""The same, summed over `position_time`: the velocity is wrong [rad]; seen 0.0032."""
POSITION_TIME = 0.02
"""[s]"""
POSITION_STUCK = 0.0012
"""What the velocity moves while the position stays equal [rad]; 29 of the encoder's steps."""
VELOCITY_JUMP = 16.0
"""Change of a joint's velocity between readings [rad/s]: the torque limit gives 3 in 1 ms, a
foot stopped at 2 m/s 10; seen 2.0."""
VELOCITY_START = 4.0
"""Change after which a disagreement is the velocity's own [rad/s]."""
POSITION_START = 0.0018
"""A disagreement large enough in the very step of such a change [rad]; seen 0.0013."""

LEG_FORCE = 45.0
"""Foot sensor against the force that its leg's torques hold, filtered [N]; seen 22."""
BODY_FORCE = 16.0
"""Force that neither feet nor gravity give, per mass, filtered [m/s2]. A trunk that lies on
the ground shows 9.8, a push of 150 N 11."""
SILENT_FORCE = 34.0
"""The same for a foot or a leg that reads exactly zero [N]; seen 24."""
LEAST_GRAVITY = LEAST * GRAVITY
MOST_GRAVITY = MOST * GRAVITY
"""Bounds of the mean acceleration [m/s2]: half of gravity a speed of 5 m/s gives or takes in
`gravity_time`, and only another unit for longer."""
GRAVITY_TIME = 1.0
"""Over which that mean is taken; from half of it on it is judged [s]."""
HEAVY_LOAD = 200.0
"""Where foot and leg both read so much, their disagreement counts half [N]; a landing from a
backflip shows 570."""
SINGULAR = 1e-4
"""Determinant of a leg's Jacobian below which its torques say nothing of the force [m3]; it grows
with the legs' length."""
STOP_DISTANCE = 0.08
"""Nearer to a joint's stop the stop may bear the force, not the motor [rad]."""
FASTEST_LEG = 12.0
"""Legs faster than this have inertia that the forces leave out [rad/s]; a swing has 8."""
FORCE_TIME = 0.02
"""Time constant of that filter [s]."""

SOUND_TIME = 0.02
"""A sensor is trusted again when nothing was wrong with it for so long [s]."""
READMIT_TIME = 0.5
"""A sensor that jumped and is sound but for that is accepted after so long [s]."""
ATTITUDE_SPREAD = 0.03
"""Growth of the tolerance while an attitude is carried on by the gyroscope [rad/s]."""
POSITION_SPREAD = 0.1
"""Growth of the tolerance while a joint is carried on by its velocity [rad/s]."""
MOST_REPEATS = 10.0
"""Readings in a row whose time does not go on [-]."""
TICK = 1e-3
"""Between readings further apart than this a velocity may have changed at any time [s]."""
LARGEST_GAP = 0.0065
"""Readings further apart are not compared [s]."""
