"""A kinematic A1 for tests: base motion and feet are given, joints follow by inverse kinematics.

It shares only the robot's kinematics with the estimator.
"""

from dataclasses import dataclass, field

import numpy as np

from robots.conventions import GRAVITY
from robots.legs import foot_jacobians_in_base, foot_positions_in_base, inverse_kinematics
from robots.rotations import exp3, quaternion_from_rotation
from tests.a1 import A1, reading

DT = 1e-3
UP = np.array([0.0, 0.0, 1.0])
TROT = np.array([0, 1, 1, 0])
HALF_CYCLE = 250


@dataclass
class Noise:
    """Standard deviations of white sensor noise; zero by default."""

    acceleration: float = 0.0
    gyroscope: float = 0.0
    joint_position: float = 0.0
    joint_velocity: float = 0.0
    force: float = 0.0
    seed: int = 0
    generator: np.random.Generator = field(init=False)

    def __post_init__(self):
        self.generator = np.random.default_rng(self.seed)

    def add(self, value, deviation):
        return value + deviation * self.generator.standard_normal(value.shape)


def real_noise():
    """Noise rather above what the robot's sensors have."""
    return Noise(0.3, 0.02, 5e-4, 0.05, 2.0)


class KinematicRobot:
    """Base pose and velocity, and feet that stand (rolling on their spheres) or are moved."""

    def __init__(self, noise=None, yaw=0.0):
        self.noise = noise or Noise()
        self.tick = 0
        self.rotation = exp3(np.array([0.0, 0.0, yaw]))
        self.omega = np.zeros(3)  # base axes [rad/s]
        self.position = np.array([0.0, 0.0, A1.stand_height])
        self.velocity = np.zeros(3)  # world [m/s]
        self.acceleration = np.zeros(3)  # world [m/s2]
        self.feet = self.position + foot_positions_in_base(A1.legs, A1.stand) @ self.rotation.T
        self.foot_velocities = np.zeros((4, 3))
        self.stance = np.ones(4, dtype=bool)
        self.force = None
        self._joint_velocity = np.zeros(12)

    def step(self):
        """One tick with constant acceleration and angular velocity."""
        self.position = self.position + DT * self.velocity + 0.5 * DT**2 * self.acceleration
        self.velocity = self.velocity + DT * self.acceleration
        self.rotation = self.rotation @ exp3(DT * self.omega)
        self.feet = self.feet + DT * self.foot_velocities
        self.feet[self.stance, 2] = A1.legs.foot_radius
        self.tick += 1
        self._solve_joint_velocities()

    def joints(self):
        return inverse_kinematics(A1.legs, (self.feet - self.position) @ self.rotation)

    def reading(self):
        """The noisy reading of the present state; four stance feet share the weight."""
        noise, joints = self.noise, self.joints()
        share = A1.mass * GRAVITY / max(1, int(self.stance.sum()))
        force = np.where(self.stance, share, 0.0) if self.force is None else self.force
        specific = self.rotation.T @ (self.acceleration + GRAVITY * UP)
        return reading(
            self.tick,
            quaternion_imu_in_world=quaternion_from_rotation(self.rotation),
            angular_velocity_imu=noise.add(self.omega, noise.gyroscope),
            linear_acceleration_imu=noise.add(specific, noise.acceleration),
            joint_position=noise.add(joints, noise.joint_position),
            joint_velocity=noise.add(self._joint_velocity, noise.joint_velocity),
            foot_force=noise.add(force, noise.force),
        )

    def _solve_joint_velocities(self):
        """J dq = R' (foot velocity - v) - omega x r; a standing foot's own velocity is rolling."""
        joints = self.joints()
        relative = foot_positions_in_base(A1.legs, joints)
        jacobians = foot_jacobians_in_base(A1.legs, joints)
        moved = np.cross(self.omega, relative)
        for _ in range(4):
            rolling = self._rolling(joints)
            self.foot_velocities[self.stance] = rolling[self.stance]
            wanted = (self.foot_velocities - self.velocity) @ self.rotation - moved
            self._joint_velocity = np.linalg.solve(jacobians, wanted[:, :, None]).ravel()

    def _rolling(self, joints):
        """Velocities (4, 3) of feet that roll on the ground [m/s], world axes."""
        hip, thigh, calf = self._joint_velocity.reshape(4, 3).T
        angle, turn = joints[::3], thigh + calf
        omega = self.omega + np.array([hip, turn * np.cos(angle), turn * np.sin(angle)]).T
        x, y, z = self.rotation @ omega.T
        return A1.legs.foot_radius * np.array([y, -x, np.zeros(4)]).T  # omega x (0, 0, radius)


class Trot:
    """Moves a `KinematicRobot` in a trot at a constant world velocity and yaw rate."""

    def __init__(self, robot, velocity, yaw_rate=0.0):
        self.robot = robot
        robot.velocity = np.array(velocity, dtype=float)
        robot.omega = np.array([0.0, 0.0, yaw_rate])
        self._home = foot_positions_in_base(A1.legs, A1.stand)
        self._lifted = robot.feet.copy()

    def step(self):
        robot = self.robot
        half, phase = divmod(robot.tick, HALF_CYCLE)
        if phase == 0:
            self._lifted = robot.feet.copy()
        robot.stance = TROT == half % 2
        for i in np.flatnonzero(~robot.stance).tolist():
            robot.foot_velocities[i] = self._swing_velocity(i, phase)
        robot.step()

    def _swing_velocity(self, i, phase):
        """Smooth swing to the foot's home, half a stance ahead of where the base will be."""
        robot = self.robot
        left = (HALF_CYCLE - phase) * DT
        turned = robot.rotation @ exp3(robot.omega * (left + 0.5 * HALF_CYCLE * DT))
        target = robot.position + robot.velocity * (left + 0.5 * HALF_CYCLE * DT)
        target = target + turned @ self._home[i]
        target[2] = A1.legs.foot_radius
        s0, s1 = phase / HALF_CYCLE, (phase + 1) / HALF_CYCLE
        return (_swing(self._lifted[i], target, s1) - _swing(self._lifted[i], target, s0)) / DT


def _swing(start, end, s):
    blend = s * s * (3.0 - 2.0 * s)
    place = start + blend * (end - start)
    place[2] = A1.legs.foot_radius + 0.06 * np.sin(np.pi * s) ** 2
    return place


def errors(estimate, robot):
    """Position [m] and velocity [m/s] errors, world axes."""
    velocity = robot.rotation @ estimate.v[:3]
    return estimate.q[:3] - robot.position, velocity - robot.velocity


def follow(robot, step, ticks, observer):
    """Position and velocity errors (ticks, 3) each over `ticks` steps."""
    history = []
    for _ in range(ticks):
        step()
        history.append(errors(observer.update(robot.reading()), robot))
    position, velocity = zip(*history, strict=True)
    return np.array(position), np.array(velocity)


def walk_readings(yaw):
    """A trot that turns with `yaw` [rad], pushed sideways halfway; no noise that knows of yaw."""
    robot = KinematicRobot(Noise(joint_velocity=0.05, joint_position=5e-4), yaw)
    turn = exp3(np.array([0.0, 0.0, yaw]))
    walk = Trot(robot, turn @ np.array([0.4, 0.1, 0.0]))
    readings = [robot.reading()]
    for _ in range(400):
        walk.step()
        if robot.tick == 200:
            robot.velocity = robot.velocity + turn @ np.array([0.0, 1.0, 0.0])
        readings.append(robot.reading())
    return readings
