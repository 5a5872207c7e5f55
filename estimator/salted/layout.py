"""Where the parts of the error state stand: 45 numbers, and 3 more of the tick before.

The first 36 are the robot's tangent vector, `robots.state`: position and rotation in base axes,
joints, then their velocities.
"""

from __future__ import annotations

POSITION, ROTATION, JOINTS = 0, 3, 6
VELOCITY, ANGULAR, RATES = 18, 21, 24
"""Linear and angular velocity of the base in its own axes, and the joints' (12)."""
ROBOT = 36
GYRO_BIAS, ACCELEROMETER_BIAS, MISALIGNMENT = 36, 39, 42
"""Constant errors of the IMU, in base axes [rad/s, m/s2, rad]; the last one is of its attitude."""
STATES = 45
PREVIOUS = 45
"""Linear velocity at the tick before, turned into today's base: what the accelerometer spans."""
SIZE = 48
