"""Indices of the rows of a reading, of an estimate, and of a verdict on sensors."""

from __future__ import annotations

TIME, SENSORS = 1, 2
"""In a reading's row, behind its tick: the time [s], and the first of the sensors' numbers."""
ROW = 50
"""How many the sensors' numbers are: those of a `SensorReading` without tick and time."""
GYRO, ACCELERATION = 4, 7
POSITION, VELOCITY, TORQUE, FORCE = 10, 22, 34, 46
"""First of each group among them, behind the quaternion: 3, 3, 12, 12, 12 and 4 numbers."""

Q, V, CONTACT, STATUS = 2, 21, 39, 43
"""In an estimate's row, behind tick and time."""
OK, DEGRADED, DIVERGED, STARTING = 0.0, 1.0, 2.0, 3.0
"""Numbers of an estimate's status."""

JUDGED = 43
"""Sensors that are judged one by one: three of the IMU, 36 of the joints, four feet."""
ATTITUDE_SENSOR, GYRO_SENSOR, ACCELEROMETER = 0, 1, 2
POSITION_SENSOR, VELOCITY_SENSOR, TORQUE_SENSOR, FORCE_SENSOR = 3, 15, 27, 39
"""First sensor of each group. From the joint positions on there is one number to a sensor."""
FIRST_SINGLE = POSITION - POSITION_SENSOR
"""Number of a sensor's channel less the sensor's own, from the joint positions on."""
