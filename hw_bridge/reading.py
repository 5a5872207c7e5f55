"""The robot's state as the stack's message."""

from hw_bridge.intake import Sample
from hw_bridge.take_in import (
    ACCELEROMETER,
    DQ,
    FOOT_FORCE,
    GYROSCOPE,
    QUATERNION,
    TORQUE,
    Q,
)
from runtime.messages import SensorReading


def to_reading(sample: Sample) -> SensorReading:
    """The reading of a believed frame, at its time and tick."""
    numbers = sample.numbers
    return SensorReading(
        tick=sample.tick,
        time=sample.time,
        quaternion_imu_in_world=numbers[QUATERNION],
        angular_velocity_imu=numbers[GYROSCOPE],
        linear_acceleration_imu=numbers[ACCELEROMETER],
        joint_position=numbers[Q],
        joint_velocity=numbers[DQ],
        joint_torque=numbers[TORQUE],
        foot_force=numbers[FOOT_FORCE],
    )
