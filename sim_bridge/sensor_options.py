"""Errors of the simulated sensors."""

import math

import msgspec


class SensorOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Standard deviations of the sensors' errors; biases are drawn once, noise at every tick.

    Unitree publishes none of these numbers; they are assumptions. The inertial ones are typical of
    MEMS units at 1 kHz, the encoder's quantum is 14 bits a motor turn over the gear of 9.1.

    Attributes:
        noise: factor on every error below; 0 or false gives perfect sensors.
        orientation_noise: of the attitude, each tick [rad].
        orientation_bias: constant tilt and heading error of the attitude [rad].
        yaw_drift: rate at which the heading turns away [rad/s]; a value, not a deviation.
        gyro_noise: each tick [rad/s].
        gyro_bias: constant [rad/s].
        accelerometer_noise: each tick [m/s^2].
        accelerometer_bias: constant [m/s^2].
        accelerometer_range: readings are cut at plus and minus this [m/s^2] (16 g), noise or not.
        joint_position_noise: each tick [rad].
        joint_position_quantum: step of the encoder [rad].
        joint_velocity_noise: each tick [rad/s].
        joint_torque_noise: each tick [N m].
        foot_force_noise: each tick [N].
        foot_force_offset: constant per foot [N].
    """

    noise: float | bool = 1.0
    orientation_noise: float = 0.0005
    orientation_bias: float = 0.003
    yaw_drift: float = 0.0
    gyro_noise: float = 0.005
    gyro_bias: float = 0.002
    accelerometer_noise: float = 0.05
    accelerometer_bias: float = 0.03
    accelerometer_range: float = 157.0
    joint_position_noise: float = 0.0002
    joint_position_quantum: float = 2.0 * math.pi / 2**14 / 9.1
    joint_velocity_noise: float = 0.03
    joint_torque_noise: float = 0.2
    foot_force_noise: float = 2.0
    foot_force_offset: float = 4.0

    def __post_init__(self) -> None:
        """Raise ValueError for a negative or non-finite deviation."""
        for name in self.__struct_fields__:
            value = float(getattr(self, name))
            if not math.isfinite(value) or (value < 0.0 and name != "yaw_drift"):
                raise ValueError(f"sensors: {name} is {value}; give a finite number >= 0")
