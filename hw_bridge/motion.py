"""Motions of the bridge's own: slow, bounded, from the pose that was measured when they begin.

They lead up to the stand, back to the stand, and down to the ground. A robot rests on its belly
with its shins folded under its thighs and its hips spread: folded legs below the hips may be longer
(A1: 0.13 m) than the trunk is deep (0.06 m), so a robot left on them would drop. Up and down lead
through the pose of lying, feet below the hips, where the legs take the weight, or have it last.

A motion is a row of stages. In each the targets go by minimum jerk, at bounded joint speed, from
one pose to the next, while the share of the robot's weight that the legs carry goes to another one;
the weight is fed forward, so that joint PD has little left to do and the robot does not sag. Where
a joint lags, its motion slows down and waits: it never pushes harder than kp * STOP_LAG. All joints
wait for it where they carry the robot together; where legs only fold, each waits for itself, so
that one whose foot is jammed gets free as the others go on. Nothing waits on the way out of a walk:
what moves is brought to rest by getting there; a joint that has been left behind by then is fetched
from where it is.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hw_bridge.options import MotionOptions
from hw_bridge.wire.low_command import Setpoints
from robots.conventions import GRAVITY, JOINT_LABELS
from robots.legs import foot_jacobians_in_base, foot_positions_in_base
from robots.profiles import minimum_jerk
from robots.robot import Robot
from robots.rotations import tilt_of

Array = NDArray[np.float64]
SLOW_LAG, STOP_LAG = 0.08, 0.16  # [rad] of the worst joint: the motion slows down, and waits
LEVEL_TILT, LEVEL_RATE = 0.15, 0.5  # [rad], [rad/s] below which a trunk counts as level
STILL_SPEED = 0.3  # [rad/s] of the fastest joint of a robot that counts as still
SPREAD_FURTHER = 0.04  # [rad] than the hips need for folded legs to reach the floor
_PEAK = 1.875  # fastest slope of the minimum-jerk profile
_LEAST_S = 1e-3  # of a stage that has nothing to do
_MOST_S = 0.01  # of the motion's time in a step: after a stall it goes on where it was


class Stage(NamedTuple):
    """One leg of a motion."""

    goal: Array  # joints (12) at its end [rad]
    load: float  # share of the weight carried at its end
    speed: float  # fastest joint [rad/s]
    least_s: float = 0.0  # shortest duration [s]
    waits: Literal["all", "each", "none"] = "all"  # for a joint that lags: all joints, or itself


class Motion:
    """A motion under way: joint PD towards moving targets, plus the weight and a fading torque.

    Attributes:
        is_done: the last stage has ended; the motion goes on holding its goal.
        target: where the joints shall be now (12) [rad].
        load: share of the robot's weight that the legs carry now.
    """

    def __init__(
        self,
        options: MotionOptions,
        robot: Robot,
        start: Array,
        load: float,
        stages: Sequence[Stage],
        torque: Array | None = None,
    ) -> None:
        """Begin at rest in the pose `start` (12) [rad].

        Args:
            options: gains and bounds.
            robot: whose weight the legs carry.
            start: measured joints.
            load: share of the weight carried now.
            stages: at least one.
            torque: (12) [N m] of the last command: it goes over into the motion's own within
                load_s, so that nothing jumps.
        """
        self.options, self.is_done, self.target, self.load = options, False, start.copy(), load
        self._stages, self._index = tuple(stages), 0
        self._from, self._from_load = start.copy(), load
        self._s, self._now = np.zeros(12), math.nan  # how far each joint is through the stage
        self._elapsed = 0.0  # [s]
        self._robot = robot
        self._left = np.zeros(12) if torque is None else torque - weight_torque(robot, start, load)

    @property
    def goal(self) -> Array:
        """Joints (12) at the end of the last stage [rad]."""
        return self._stages[-1].goal

    def step(self, now: float, q: Array) -> Setpoints:
        """Return the setpoints at `now` [s] for measured joints q (12) [rad]."""
        dt = 0.0 if math.isnan(self._now) else min(max(0.0, now - self._now), _MOST_S)
        self._now = now
        self._elapsed += dt
        dq = np.zeros(12) if self.is_done else self._move(dt, q)
        o = self.options
        faded = minimum_jerk(min(1.0, self._elapsed / o.load_s)).value
        tau = weight_torque(self._robot, self.target, self.load) + (1.0 - faded) * self._left
        return Setpoints(self.target.copy(), dq, np.full(12, o.kp), np.full(12, o.kd), tau)

    def _rates(self, q: Array) -> Array:
        """Rate of each joint's own time: 1, less where it lags, 0 where it waits."""
        stage = self._stages[self._index]
        if stage.waits == "none":
            return np.ones(12)
        if stage.waits == "all":
            lag = np.full(12, np.abs(self.target - q).max())
        else:
            lag = np.sign(stage.goal - self._from) * (self.target - q)
        return np.clip((STOP_LAG - lag) / (STOP_LAG - SLOW_LAG), 0.0, 1.0)

    def _move(self, dt: float, q: Array) -> Array:
        """Go on by `dt` [s], each joint at its own rate; return the targets' velocity (12)."""
        stage, rates = self._stages[self._index], self._rates(q)
        way = stage.goal - self._from
        duration = max(stage.least_s, _PEAK * float(np.abs(way).max()) / stage.speed, _LEAST_S)
        self._s = np.minimum(1.0, self._s + rates * dt / duration)
        blend = np.array([minimum_jerk(s) for s in self._s.tolist()])  # (12, 2) value and slope
        self.target = self._from + blend[:, 0] * way
        self.load = self._from_load + float(blend[:, 0].min()) * (stage.load - self._from_load)
        velocity = rates * blend[:, 1] / duration * way
        if self._s.min() >= 1.0:
            self._next(stage, q)
        return velocity

    def _next(self, stage: Stage, q: Array) -> None:
        """Begin the stage after `stage`, if any; where nothing waited, within STOP_LAG of q."""
        if self._index + 1 == len(self._stages):
            self.is_done = True
            return
        most = STOP_LAG if stage.waits == "none" else math.inf
        self._from = np.clip(stage.goal, q - most, q + most)
        self._from_load, self._s = stage.load, np.zeros(12)
        self._index += 1


def weight_torque(robot: Robot, joints: Array, load: float) -> Array:
    """Torques (12) [N m] that carry a share of the robot's weight on four feet, trunk level.

    By virtual work, tau = -J' f with the ground's force f on each foot; the legs count as massless.
    """
    lift = load * robot.mass * GRAVITY / 4.0
    return -lift * foot_jacobians_in_base(robot.legs, joints)[:, 2, :].reshape(12)


class PostureMotions:
    """The motions of one robot.

    Attributes:
        rest: joints (12) of a robot that lies on its belly [rad].
    """

    def __init__(self, options: MotionOptions, robot: Robot) -> None:
        """Compile what is compiled."""
        self._options, self._robot = options, robot
        self.rest = rest_joints(robot)
        bend = robot.legs.bend
        self._low = 0.5 * float(np.mean(bend * (robot.stand[2::3] + robot.lie[2::3])))
        weight_torque(robot, robot.stand.copy(), 0.0)
        tilt_of(np.zeros(4))

    def stand_up(self, q: Array) -> Motion:
        """From a robot that lies, joints q (12) [rad], to the stand.

        Shins fold first, then thighs turn: with spread hips a folded leg turns clear of the floor
        wherever it lay. Hips swing in, so that the feet are below them before the legs take the
        weight; then all push straight up. It knows no attitude: an A1's trunk that leans on a leg
        by less than 0.6 rad comes to lie flat on the way (simulated, legs drawn at random), one
        that leans further may roll over.
        """
        shins_folded = self.rest.copy()
        shins_folded[1::3] = q[1::3]
        o, lie, stand = self._options, self._robot.lie, self._robot.stand
        stages = (
            Stage(shins_folded, 0.0, o.joint_speed, waits="each"),
            Stage(self.rest, 0.0, o.joint_speed, waits="each"),
            Stage(lie, 0.0, o.joint_speed),
            Stage(lie, 1.0, o.joint_speed, o.load_s),
            Stage(stand, 1.0, o.joint_speed),
        )
        return Motion(o, self._robot, q, 0.0, stages)

    def recover(self, q: Array, torque: Array) -> Motion:
        """From a walk's pose q (12) [rad] and torque (12) [N m] to the stand.

        Fast first, and at least as long as legs take to change the weight they carry; then a joint
        that has been left behind is fetched from where it is.
        """
        o, stand = self._options, self._robot.stand
        stages = (
            Stage(stand, 1.0, o.recover_speed, o.load_s, waits="none"),
            Stage(stand, 1.0, o.joint_speed),
        )
        return Motion(o, self._robot, q, 1.0, stages, torque)

    def sit_down(self, q: Array, torque: Array) -> Motion:
        """From the stand or lower, joints q (12) [rad] under a torque (12) [N m], to the ground."""
        return Motion(self._options, self._robot, q, 1.0, self._down(), torque)

    def give_up(self, q: Array, load: float) -> Motion:
        """From wherever standing up has come to, joints q (12) [rad] under `load`, down."""
        down = self._down()
        return Motion(self._options, self._robot, q, load, down if load > 0.0 else down[1:])

    def is_low(self, q: Array) -> bool:
        """Whether a robot with joints q (12) [rad] is nearer to lying on its feet than to standing.

        Knees say so: they are bent further the lower it is.
        """
        return float(np.mean(self._robot.legs.bend * q[2::3])) > self._low

    def _down(self) -> tuple[Stage, Stage]:
        """Fold the legs under the weight, then spread the hips until the belly carries it."""
        folded = Stage(self._robot.lie, 1.0, self._options.joint_speed)
        return folded, Stage(self.rest, 0.0, self._options.joint_speed)


def rest_joints(robot: Robot) -> Array:
    """Joints (12) [rad] of a robot on its belly: those of lying, hips spread until feet just reach.

    A sole at y, z from its hip's axis reaches the floor at z = y sin a + z cos a, with a the hip's
    angle outwards.
    """
    legs, joints = robot.legs, robot.lie.copy()
    joints[::3] = 0.0
    down = foot_positions_in_base(legs, joints)[:, 2] - legs.hip[:, 2]
    belly = robot.body[0, 2] + legs.foot_radius - legs.hip[:, 2]
    reach = np.hypot(legs.plane, down)
    touching = np.arctan2(-down, np.abs(legs.plane)) + np.arcsin(np.clip(belly / reach, -1.0, 1.0))
    spread = np.sign(legs.plane) * np.round(np.maximum(0.0, touching + SPREAD_FURTHER), 2)
    joints[::3] = np.clip(spread, legs.lower[::3], legs.upper[::3])
    return joints


def is_still(dq: Array) -> bool:
    """Whether every joint is slow."""
    return float(np.abs(dq).max()) < STILL_SPEED


def is_level(trunk: Array) -> bool:
    """Whether a trunk is level and still; `trunk` (7) as `StateMachine.step` takes it."""
    tilt, rate = tilt_of(trunk[:4]), float(np.linalg.norm(trunk[4:]))
    return tilt < LEVEL_TILT and rate < LEVEL_RATE


def furthest(q: Array, target: Array) -> str:
    """The joint that is furthest from its target, for a person."""
    off = q - target
    worst = int(np.abs(off).argmax())
    return f"{JOINT_LABELS[worst]} is {off[worst]:+.2f} rad off its target"
