"""The robot's state as the stack's message."""

import math

import numpy as np
from numpy.typing import NDArray

from hw_bridge.intake import Sample
from hw_bridge.sensing_options import SensingOptions
from hw_bridge.wire.layout import JOINTS
from runtime.messages import SensorReading

Array = NDArray[np.float64]


def to_reading(sample: Sample, options: SensingOptions) -> SensorReading:
    """The reading of a believed frame, at its time and tick.

    The quaternion changes from the robot's order w, x, y, z to x, y, z, w and is normalised; one of
    length zero stays so. Motors 12 to 19, which the A1 does not have, are left out.
    """
    state = sample.state
    load = state.foot_force - np.asarray(options.foot_force_offset, np.float64)
    return SensorReading(
        tick=sample.tick,
        time=sample.time,
        quaternion_imu_in_world=_normalised(*state.quaternion_wxyz.tolist()),
        angular_velocity_imu=state.gyroscope,
        linear_acceleration_imu=state.accelerometer,
        joint_position=state.q[:JOINTS],
        joint_velocity=state.dq[:JOINTS],
        joint_torque=state.tau_est[:JOINTS],
        foot_force=load * options.foot_force_scale,
    )


def _normalised(w: float, x: float, y: float, z: float) -> Array:
    length = math.sqrt(w * w + x * x + y * y + z * z) or 1.0
    return np.array([x / length, y / length, z / length, w / length])
