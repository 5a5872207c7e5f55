"""Errors of the simulated sensors."""

import math
from typing import Annotated

from runtime.options import Options, Range


class SensorOptions(Options, frozen=True):
    """Standard deviations of the sensors' errors; biases are drawn once, noise at every tick.

    Unitree publishes none of these numbers; they are assumptions. The inertial ones are typical of
    MEMS units at 1 kHz, the encoder's quantum is 14 bits a motor turn over the gear of 9.1.

    Attributes:
        noise: factor on every error below; 0 or false gives perfect sensors.
        orientation_noise: error of the attitude, each tick.
        orientation_bias: constant tilt and heading error of the attitude.
        yaw_drift: rate at which the heading turns away; a value, not a deviation.
        gyro_noise: error of the angular velocity, each tick.
        gyro_bias: error of the angular velocity, constant.
        accelerometer_noise: error of the acceleration, each tick.
        accelerometer_bias: error of the acceleration, constant.
        accelerometer_range: readings are cut at plus and minus this (16 g), noise or not.
        joint_position_noise: error of a joint's angle, each tick.
        joint_position_quantum: step of the encoder.
        joint_velocity_noise: error of a joint's velocity, each tick.
        joint_torque_noise: error of a joint's torque, each tick.
        foot_force_noise: error of a foot's force, each tick.
        foot_force_offset: error of a foot's force, constant.
    """

    noise: Annotated[float, Range("-", 0.0, 1000.0)] | bool = 1.0
    orientation_noise: Annotated[float, Range("rad", 0.0, 1.0)] = 0.0005
    orientation_bias: Annotated[float, Range("rad", 0.0, 1.0)] = 0.003
    yaw_drift: Annotated[float, Range("rad/s", -10.0, 10.0)] = 0.0
    gyro_noise: Annotated[float, Range("rad/s", 0.0, 10.0)] = 0.005
    gyro_bias: Annotated[float, Range("rad/s", 0.0, 10.0)] = 0.002
    accelerometer_noise: Annotated[float, Range("m/s^2", 0.0, 100.0)] = 0.05
    accelerometer_bias: Annotated[float, Range("m/s^2", 0.0, 100.0)] = 0.03
    accelerometer_range: Annotated[float, Range("m/s^2", 0.0, 10_000.0)] = 157.0
    joint_position_noise: Annotated[float, Range("rad", 0.0, 1.0)] = 0.0002
    joint_position_quantum: Annotated[float, Range("rad", 0.0, 1.0)] = 2.0 * math.pi / 2**14 / 9.1
    joint_velocity_noise: Annotated[float, Range("rad/s", 0.0, 100.0)] = 0.03
    joint_torque_noise: Annotated[float, Range("N m", 0.0, 100.0)] = 0.2
    foot_force_noise: Annotated[float, Range("N", 0.0, 1000.0)] = 2.0
    foot_force_offset: Annotated[float, Range("N", 0.0, 1000.0)] = 4.0
