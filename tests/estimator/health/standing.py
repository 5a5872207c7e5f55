"""Readings of a robot at rest whose sensors agree exactly, without noise."""

import numpy as np

from estimator.health.monitor import faults, judge
from estimator.record import PAST, forget, robot_record
from estimator.rows import FORCE, POSITION, ROW, TORQUE
from robots.conventions import GRAVITY
from robots.legs import foot_jacobians_in_base
from tests.a1 import A1

TICK = 1e-3


def standing_row():
    """Four feet share the weight; the torques hold it: tau = -J' f."""
    row = np.zeros(ROW)
    row[3], row[9], row[POSITION : POSITION + 12] = 1.0, GRAVITY, A1.stand
    force = np.array([0.0, 0.0, A1.mass * GRAVITY / 4.0])
    for leg, jacobian in enumerate(foot_jacobians_in_base(A1.legs, A1.stand)):
        row[TORQUE + 3 * leg : TORQUE + 3 * leg + 3] = -jacobian.T @ force
    row[FORCE:] = force[2]
    return row


class Clock:
    """Shows rows to a monitor that has seen nothing, one a tick."""

    def __init__(self, robot=A1):
        self.past, self.time, self.robot = np.zeros(1, PAST)[0], 0.0, robot_record(robot)[0]
        forget(self.past)

    def judge(self, row, time):
        """What is wrong with a reading at its own time [s]."""
        judge(self.past, self.robot, row, time)
        return faults(self.past)

    def show(self, row, ticks=1):
        """What is wrong with the last of `ticks` equal readings."""
        for _ in range(ticks):
            found = self.judge(row, self.time)
            self.time += TICK
        return found
