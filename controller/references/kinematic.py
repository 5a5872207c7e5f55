"""Kinematic references: standing and gaits, from a contact schedule and inverse kinematics."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.optimize import nnls

from controller.gaits import Gait
from controller.references.trajectory import ReferenceTrajectory
from robots.legs import foot_positions_in_base, inverse_kinematics
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.profiles import bump, minimum_jerk
from robots.robot import Robot
from robots.rotations import Array

FRICTION = 0.5  # of the pyramid that the reference's forces stay in, below the real one [-]
EDGES = np.vstack((FRICTION * np.array([[1, -1, 0, 0], [0, 0, 1, -1]]), np.ones(4)))  # (3, 4)
REGULARISATION = 1e-3  # weight of the force magnitudes against the base wrench [-]
DIFFERENCE_STEP = 1e-3  # of the central differences that give velocity and acceleration [s]


class FootPath:
    """World path of one foot of a gait along a straight walk.

    A foothold lies below its neutral point at the middle of its stance, so that the leg works
    symmetrically about the neutral posture (Raibert's neutral point).
    """

    def __init__(self, gait: Gait, foot: int, neutral: Array, speed: float) -> None:
        """`neutral` is the foot's place below the standing base [m], (3,); `speed` in [m/s]."""
        self._gait, self._foot, self._speed = gait, foot, speed
        self._neutral = neutral

    def foothold(self, cycle: int) -> Array:
        """Foothold before the lift-off of stride `cycle` in the world [m], (3,)."""
        hold = self._neutral.copy()
        if cycle > 0:
            landed = self._gait.lift_off(self._foot, cycle - 1) + self._gait.swing_duration
            leaves = self._gait.lift_off(self._foot, cycle)
            hold[0] += self._gait.distance(0.5 * (landed + leaves), self._speed)
        return hold

    def position(self, time: float) -> Array:
        """Position of the foot's centre in the world at `time` [s]: [m], (3,)."""
        gait = self._gait
        cycle = gait.cycle(self._foot, time)
        if cycle < 0 or gait.duty >= 1.0:
            return self.foothold(0)
        s = (time - gait.lift_off(self._foot, cycle)) / gait.swing_duration
        if s >= 1.0:
            return self.foothold(cycle + 1)
        s = max(s, 0.0)
        start, end = self.foothold(cycle), self.foothold(cycle + 1)
        position = start + minimum_jerk(s).value * (end - start)
        position[2] += gait.swing_height * bump(s).value
        return position


class FeedForward:
    """Contact-consistent inverse dynamics.

    Solves  min | (J_c^T f)_base - (M a + h)_base |^2 + eps |lambda|^2,  f = E lambda, lambda >= 0
    for the stance feet's forces, then tau = (M a + h - J_c^T f)_joints.
    """

    def __init__(self, robot: Robot, model: pin.Model) -> None:
        """`model` is Pinocchio's of the robot."""
        self._model, self._data = model, model.createData()
        self._frames, self._most = foot_frame_ids(model), robot.torque_limit

    def __call__(
        self,
        q: Array,
        v: Array,
        a: Array,
        contacts: NDArray[np.bool_],
    ) -> Array:
        """Joint torque [N m], (12,), for q (19,), v (18,), a (18,) and stance feet (4,)."""
        wrench = pin.rnea(self._model, self._data, q, v, a)
        pin.computeJointJacobians(self._model, self._data, q)
        columns = []
        for foot in np.flatnonzero(contacts):
            jacobian = pin.getFrameJacobian(
                self._model, self._data, self._frames[foot], pin.LOCAL_WORLD_ALIGNED
            )
            columns.append(jacobian[:3].T @ EDGES)
        if not columns:
            return np.clip(wrench[6:], -self._most, self._most)
        generators = np.hstack(columns)
        size = generators.shape[1]
        system = np.vstack([generators[:6], REGULARISATION * np.eye(size)])
        forces, _ = nnls(system, np.concatenate([wrench[:6], np.zeros(size)]))
        return wrench[6:] - generators[6:] @ forces


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

    def configuration(self, time: float) -> Array:
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
) -> tuple[Array, ...]:
    """q, v, torque and contacts of one knot; the torque is that of the knot's middle."""
    q, v, _ = _motion(model, walk, time)
    contacts = walk.gait.contacts(time)
    middle = time + 0.5 * period
    tau = torque(*_motion(model, walk, middle), walk.gait.contacts(middle))
    return q, v, tau, contacts.astype(float)


def _motion(model: pin.Model, walk: KinematicGait, time: float) -> tuple[Array, Array, Array]:
    """q, v and a by central differences on the configuration manifold."""
    h = DIFFERENCE_STEP
    before, q, after = (walk.configuration(time + s) for s in (-h, 0.0, h))
    backward = pin.difference(model, before, q) / h
    forward = pin.difference(model, q, after) / h
    return q, 0.5 * (backward + forward), (forward - backward) / h
