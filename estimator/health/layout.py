"""Where each sensor's numbers stand in a reading's row, and where its verdict stands."""

from __future__ import annotations

ROW = 50
"""Numbers of a reading's row, which are those of a `SensorReading` without its tick and time."""
QUATERNION, GYRO, ACCELERATION = 0, 4, 7
POSITION, VELOCITY, TORQUE, FORCE = 10, 22, 34, 46
"""First number of each group in the row: 4, 3, 3, 12, 12, 12 and 4 of them."""

SENSORS = 43
"""Sensors that are judged one by one: the IMU's three, 36 of the joints, four feet."""
ATTITUDE_SENSOR, GYRO_SENSOR, ACCELEROMETER = 0, 1, 2
POSITION_SENSOR, VELOCITY_SENSOR, TORQUE_SENSOR, FORCE_SENSOR = 3, 15, 27, 39
"""First sensor of each group. From the joint positions on there is one number to a sensor."""
FIRST_SINGLE = POSITION - POSITION_SENSOR
"""Number of a sensor's channel less the sensor's own, from the joint positions on."""
