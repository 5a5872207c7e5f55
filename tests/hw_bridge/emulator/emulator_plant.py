"""A body for the firmware's tests: twelve free joints, exact sensors, no floor."""

import numpy as np

from tests.a1 import A1, ground_truth, reading

INERTIA = 0.05  # [kg m^2] of each joint
STEPS = 10  # of the motor law in a tick


class FreeJoints:
    """Twelve joints that turn under their motors; remembers what it was told."""

    def __init__(self):
        self.tick = 0
        self.q, self.dq = A1.stand.copy(), np.zeros(12)
        self.torque, self.outside = np.zeros(12), np.zeros(12)
        self.command = None
        self.told = 0
        self.blocked = False
        self.pushed = np.zeros(3)

    def reading(self, stamp=None):
        return reading(
            self.tick, joint_position=self.q.copy(), joint_velocity=self.dq.copy(),
            joint_torque=self.torque.copy(), foot_force=np.array([30.0, 31.0, 32.0, 33.0]),
        )  # fmt: skip

    def truth(self, stamp=None):
        return ground_truth(
            self.tick, q=np.concatenate([[0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0], self.q]),
            v=np.concatenate([np.zeros(6), self.dq]),
        )  # fmt: skip

    def advance(self, command):
        self.told += command is not None
        self.command = c = command or self.command
        for _ in range(STEPS):
            self.torque = np.zeros(12)
            if c is not None and not self.blocked:
                self.torque = c.tau + c.kp * (c.q - self.q) + c.kd * (c.dq - self.dq)
            self.dq += (self.torque + self.outside) / INERTIA * 0.001 / STEPS
            self.q += self.dq * 0.001 / STEPS
        self.tick += 1

    def drive_joints(self, torque):
        self.outside = torque

    def block_motors(self, blocked):
        self.blocked = blocked

    def add_base_velocity(self, velocity_in_world):
        self.pushed += velocity_in_world
