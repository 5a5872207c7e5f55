"""Kinematic references: standing and gaits, from a contact schedule and inverse kinematics."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from controller.gaits import Gait
from controller.references.feedforward import FeedForward
from controller.references.swing import FootPath
from controller.references.trajectory import ReferenceTrajectory
from robots.legs import foot_positions_in_base, inverse_kinematics
from robots.pinocchio_model import load_pinocchio
from robots.robot import Robot

DIFFERENCE_STEP = 1e-3  # of the central differences that give velocity and acceleration [s]


class KinematicGait:
    """Configuration of a robot on a straight walk as a function of time.

    The trunk stays level at its standing height and moves by the gait's distance; the feet follow
    their paths; inverse kinematics gives the joints.
    """

    def __init__(self, robot: Robot, gait: Gait, speed: float) -> None:
        """`speed` is the commanded forward velocity [m/s]."""
        self.gait, self.speed, self._legs = gait, speed, robot.legs
        feet = foot_positions_in_base(robot.legs, robot.stand)
        self.height = float(robot.legs.foot_radius - feet[:, 2].mean())
        neutral = feet + np.array([0.0, 0.0, self.height])
        self._paths = [FootPath(gait, i, neutral[i], speed) for i in range(4)]

    def configuration(self, time: float) -> NDArray[np.float64]:
        """q at `time` [s], (19,)."""
        base = np.array([self.gait.distance(time, self.speed), 0.0, self.height])
        feet = np.array([path.position(time) for path in self._paths])
        joints = inverse_kinematics(self._legs, feet - base)
        return np.concatenate([base, [0.0, 0.0, 0.0, 1.0], joints])


@cache
def make_kinematic_reference(
    robot: Robot, gait: Gait, speed: float, period: float
) -> ReferenceTrajectory:
    """Reference of a gait at a forward speed, sampled every `period`; made once in a process.

    Args:
        robot: that walks.
        gait: the schedule; its stride must be a whole number of knots.
        speed: forward velocity [m/s].
        period: time between knots [s].

    Raises:
        ValueError: when the stride is no multiple of the knot period.
    """
    loop = gait.knots(period)
    model = load_pinocchio(robot)
    torque = FeedForward(robot, model)
    walk = KinematicGait(robot, gait, speed)
    # The first strides differ (ramp, first footholds); from the third on the walk is periodic.
    lead = round((gait.start + gait.ramp) / period) + 3 * loop
    samples = [_sample(model, walk, torque, k * period, period) for k in range(lead + loop)]
    q, v, inputs, contacts = (np.array(column) for column in zip(*samples, strict=True))
    return ReferenceTrajectory(
        name=gait.name,
        period=period,
        q=q,
        v=v,
        inputs=inputs,
        contacts=contacts,
        loop=loop,
        loop_shift=np.array([_stride(gait, speed), 0.0, 0.0]),
    )


def _stride(gait: Gait, speed: float) -> float:
    """Distance that the base comes in one stride at full speed [m]."""
    settled = gait.start + gait.ramp
    return gait.distance(settled + gait.period, speed) - gait.distance(settled, speed)


def _sample(
    model: pin.Model, walk: KinematicGait, torque: FeedForward, time: float, period: float
) -> tuple[NDArray[np.float64], ...]:
    """q, v, torque and contacts of one knot; the torque is that of the knot's middle."""
    q, v, _ = _motion(model, walk, time)
    contacts = walk.gait.contacts(time)
    middle = time + 0.5 * period
    tau = torque(*_motion(model, walk, middle), walk.gait.contacts(middle))
    return q, v, tau, contacts.astype(float)


def _motion(
    model: pin.Model, walk: KinematicGait, time: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """q, v and a by central differences on the configuration manifold."""
    h = DIFFERENCE_STEP
    before, q, after = (walk.configuration(time + s) for s in (-h, 0.0, h))
    backward = pin.difference(model, before, q) / h
    forward = pin.difference(model, q, after) / h
    return q, 0.5 * (backward + forward), (forward - backward) / h
