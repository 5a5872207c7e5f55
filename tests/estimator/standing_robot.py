"""A standing A1 for tests, with the joint torques that hold it up and errors of its IMU."""

import numpy as np
import pinocchio as pin
from msgspec.structs import replace

from robots.pinocchio_model import load_pinocchio
from robots.rotations import exp3, quaternion_from_rotation
from tests.a1 import A1
from tests.estimator.synthetic_walk import KinematicRobot, Noise
from tests.robots.test_contact_dynamics import foot_jacobian


def expected_noise():
    """What `SaltedOptions` and the simulated sensors say of the A1's."""
    return Noise(0.05, 0.005, 2e-4, 0.03, 2.0)


class StandingRobot:
    """Readings of a robot that stands, at first still; its `robot` can be moved.

    `gyroscope` [rad/s], `accelerometer` [m/s2], `misalignment` [rad]: errors in base axes.
    """

    def __init__(
        self, noise=None, yaw=0.0, gyroscope=0.0, accelerometer=0.0, misalignment=(0.0, 0.0, 0.0)
    ):
        self.noise = noise or expected_noise()
        self.gyroscope, self.accelerometer = gyroscope, accelerometer
        self.misalignment = np.array(misalignment)
        self.robot = r = KinematicRobot(self.noise, yaw)
        q = np.concatenate((r.position, quaternion_from_rotation(r.rotation), r.joints()))
        self._torque, self._force = _static_torques(q)

    def reading(self):
        """The next one."""
        r = self.robot
        r.step()
        r.force = self._force
        plain = r.reading()
        attitude = r.rotation @ exp3(self.noise.add(self.misalignment, 5e-4))
        return replace(
            plain,
            quaternion_imu_in_world=quaternion_from_rotation(attitude),
            angular_velocity_imu=plain.angular_velocity_imu + self.gyroscope,
            linear_acceleration_imu=plain.linear_acceleration_imu + self.accelerometer,
            joint_torque=self.noise.add(self._torque, 0.2),
        )


def _static_torques(q):
    """Joint torques (12) and normal forces (4) of the least forces that carry the robot."""
    model = load_pinocchio(A1)
    data, zero = model.createData(), np.zeros(model.nv)
    weight = pin.rnea(model, data, q, zero, zero)
    J = foot_jacobian(model, q)
    forces = np.linalg.lstsq(J[:, :6].T, weight[:6], rcond=None)[0]
    return (weight - J.T @ forces)[6:], forces.reshape(4, 3)[:, 2]
