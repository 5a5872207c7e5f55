"""The path through the key poses of a motion: what HiLQR shall come close to."""

from __future__ import annotations

import numpy as np

from controller.motions.motion import STANDING, Motion, Pose
from controller.references.trajectory import ReferenceTrajectory
from robots.conventions import GRAVITY
from robots.robot import Robot
from robots.rotations import Array, exp3, quaternion_from_rotation
from robots.state import difference

FALL = np.array([0.0, 0.0, -GRAVITY, 0.0, 0.0, 0.0])


def key_path(motion: Motion, robot: Robot, period: float) -> ReferenceTrajectory:
    """The path of a motion, sampled every `period` [s], without torques.

    In flight the base falls freely and its angles change evenly. On the ground they follow a cubic
    whose ends have the velocities of the flights beside it, and none elsewhere. Joints go from pose
    to pose with minimum jerk. The last pose holds.
    """
    ends = np.cumsum([0.0, *(phase.duration for phase in motion.phases)])
    poses = [Pose(), *(phase.end for phase in motion.phases)]
    stand = (0.0, 0.0, robot.stand_height)
    base = np.array([(*(pose.position or stand), *pose.turn) for pose in poses])
    joints = [_joints(pose, robot) for pose in poses]
    speeds = _speeds(motion, base)
    times = period * np.arange(round(ends[-1] / period) + 1)
    which = np.clip(np.searchsorted(ends, times + 1e-9, side="right") - 1, 0, len(ends) - 2)
    q, contacts = np.empty((len(times), 19)), np.empty((len(times), 4))
    for k, (time, i) in enumerate(zip(times, which, strict=True)):
        duration = ends[i + 1] - ends[i]
        s = (time - ends[i]) / duration
        place = _hermite(s, duration, base[i], base[i + 1], speeds[i][1], speeds[i + 1][0])
        if motion.phases[i].feet == "none":
            place = base[i] + s * duration * (speeds[i][1] + 0.5 * s * duration * FALL)
        q[k, :3] = place[:3]
        q[k, 3:7] = quaternion_from_rotation(_attitude(*place[3:]))
        way = s**3 * (10.0 + s * (6.0 * s - 15.0))
        q[k, 7:] = (1.0 - way) * joints[i] + way * joints[i + 1]
        contacts[k] = STANDING[motion.phases[i].feet]
    return ReferenceTrajectory(
        "motion", period, q, _velocities(q, period), np.zeros((len(times), 12)), contacts
    )


def _speeds(motion: Motion, base: Array) -> list[tuple[Array, Array]]:
    """Velocity of the base's place and angles at each pose (6,): before it, and after it."""
    speeds = [[np.zeros(6), np.zeros(6)] for _ in base]
    for i, phase in enumerate(motion.phases):
        if phase.feet == "none":
            mean, half = (base[i + 1] - base[i]) / phase.duration, 0.5 * phase.duration * FALL
            speeds[i] = [mean - half, mean - half]
            speeds[i + 1] = [mean + half, mean + half]
    return [(before, after) for before, after in speeds]


def _hermite(s: float, duration: float, a: Array, b: Array, va: Array, vb: Array) -> Array:
    """The cubic from a with the velocity va to b with vb, at the share s of its duration."""
    return (
        (2 * s**3 - 3 * s**2 + 1) * a + (3 * s**2 - 2 * s**3) * b
        + duration * ((s**3 - 2 * s**2 + s) * va + (s**3 - s**2) * vb)
    )  # fmt: skip


def _attitude(roll: float, pitch: float, yaw: float) -> Array:
    """The base's axes (3, 3)."""
    x, y, z = np.eye(3)
    return exp3(yaw * z) @ exp3(pitch * y) @ exp3(roll * x)


def _joints(pose: Pose, robot: Robot) -> Array:
    """The twelve angles (12,) [rad]."""
    legs = robot.stand.reshape(4, 3).copy()
    for leg, given in enumerate((pose.front, pose.front, pose.rear, pose.rear)):
        if given is not None:
            legs[leg] = given
            legs[leg, 0] *= np.sign(robot.legs.plane[leg])
    return legs.ravel()


def _velocities(q: Array, period: float) -> Array:
    """Velocities (K, 18) along configurations (K, 19), by central differences."""
    rest, v = np.zeros(18), np.zeros((len(q), 18))
    for k in range(len(q)):
        before, after = max(k - 1, 0), min(k + 1, len(q) - 1)
        forward = difference(q[k], rest, q[after], rest)[:18]
        back = difference(q[k], rest, q[before], rest)[:18]
        v[k] = (forward - back) / ((after - before) * period)
    return v
