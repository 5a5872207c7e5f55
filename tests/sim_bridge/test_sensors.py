"""Sensor errors have the statistics that the options promise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from robots.rotations import log3, rotation_from_quaternion
from sim_bridge.options import SensorOptions
from sim_bridge.sensors import READING, Sensors, measure

Q = np.concatenate(([0.1, 0.2, 0.3], [0.1, -0.2, 0.3, np.sqrt(1.0 - 0.14)], np.linspace(-1, 1, 12)))
V = np.linspace(-2.0, 2.0, 18)
FORCE = np.array([0.3, -0.2, 9.8])
TORQUE = np.linspace(-5.0, 5.0, 12)
FEET = np.array([0.0, 30.0, 31.0, 32.0])
NO_BIAS = {
    "orientation_bias": 0.0,
    "gyro_bias": 0.0,
    "accelerometer_bias": 0.0,
    "foot_force_offset": 0.0,
}


def sense(sensors, time=0.0, force=FORCE):
    row = np.zeros(READING.width)
    measure(time, Q, V, force, TORQUE, FEET, *sensors.draw(), row)
    return READING.message(row)


@pytest.mark.parametrize("noise", [0, False, 0.0])
def test_without_noise_sensors_tell_the_truth(noise):
    sensed = sense(Sensors(SensorOptions(noise=noise, yaw_drift=0.1), seed=1), time=5.0)
    truth = (Q[3:7], V[3:6], FORCE, Q[7:], V[6:], TORQUE, FEET)
    assert_array_equal(sensed.row[2:], np.concatenate(truth))


def test_noise_has_the_promised_mean_and_deviation():
    options = SensorOptions(**NO_BIAS, joint_position_quantum=0.0)
    sensors = Sensors(options, seed=2)
    samples = [sense(sensors) for _ in range(2000)]
    cases = (
        ("angular_velocity_imu", V[3:6], options.gyro_noise),
        ("linear_acceleration_imu", FORCE, options.accelerometer_noise),
        ("joint_position", Q[7:], options.joint_position_noise),
        ("joint_velocity", V[6:], options.joint_velocity_noise),
        ("joint_torque", TORQUE, options.joint_torque_noise),
        ("foot_force", FEET, options.foot_force_noise),
    )
    for name, true, deviation in cases:
        error = np.array([getattr(sample, name) for sample in samples]) - true
        assert np.abs(error.mean(axis=0)).max() < 5.0 * deviation / np.sqrt(2000)
        assert_allclose(error.std(axis=0), deviation, rtol=0.1)
        correlation = np.mean(error[1:] * error[:-1], axis=0) / deviation**2
        assert np.abs(correlation).max() < 0.12


def test_heading_drifts_at_the_chosen_rate_about_the_world_vertical():
    options = SensorOptions(**NO_BIAS, orientation_noise=0.0, yaw_drift=0.02)
    quaternion = sense(Sensors(options, seed=0), time=30.0).quaternion_imu_in_world
    turned = rotation_from_quaternion(quaternion) @ rotation_from_quaternion(Q[3:7]).T
    assert_allclose(log3(turned), [0.0, 0.0, 0.6], atol=1e-9)


def test_biases_are_constant_and_belong_to_the_seed():
    def gyro_mean(seed):
        sensors = Sensors(SensorOptions(gyro_noise=0.0), seed)
        first, second = sense(sensors), sense(sensors)
        assert_array_equal(first.angular_velocity_imu, second.angular_velocity_imu)
        return first.angular_velocity_imu - V[3:6]

    biases = np.array([gyro_mean(seed) for seed in range(300)])
    assert_allclose(biases.std(axis=0), 0.002, rtol=0.2)


def test_encoders_have_a_quantum_and_the_accelerometer_a_range():
    sensors = Sensors(SensorOptions(joint_position_quantum=0.01, accelerometer_range=20.0), seed=0)
    sensed = sense(sensors, force=np.array([500.0, -500.0, 0.0]))
    steps = sensed.joint_position / 0.01
    assert_allclose(steps, np.rint(steps), atol=1e-9)
    assert_array_equal(sensed.linear_acceleration_imu[:2], [20.0, -20.0])
