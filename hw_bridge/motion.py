"""Motions of the bridge's own: slow, bounded, from the pose that was measured when they begin.

A motion is a row of stages. In each the targets go by minimum jerk, at bounded joint speed, from
one pose to the next, while the share of the robot's weight that the legs carry goes to another one;
the weight is fed forward, so that joint PD has little left to do and the robot does not sag. Where
a joint lags, its motion slows down and waits: it never pushes harder than kp * stop_lag. All joints
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

from hw_bridge.motion_options import MotionOptions
from hw_bridge.setpoints import Setpoints
from robots.a1.constants import GRAVITY, TOTAL_MASS
from robots.a1.kinematics import foot_jacobians_in_base
from robots.profiles import minimum_jerk

Array = NDArray[np.float64]
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
        start: Array,
        load: float,
        stages: Sequence[Stage],
        torque: Array | None = None,
    ) -> None:
        """Begin at rest in the pose `start` (12) [rad].

        Args:
            options: gains and bounds.
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
        self._left = np.zeros(12) if torque is None else torque - weight_torque(start, load)

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
        tau = weight_torque(self.target, self.load) + (1.0 - faded) * self._left
        return Setpoints(self.target.copy(), dq, np.full(12, o.kp), np.full(12, o.kd), tau)

    def _rates(self, q: Array) -> Array:
        """How fast each joint's own time runs: 1, less where it lags, 0 where it waits."""
        o, stage = self.options, self._stages[self._index]
        if stage.waits == "none":
            return np.ones(12)
        if stage.waits == "all":
            lag = np.full(12, np.abs(self.target - q).max())
        else:
            lag = np.sign(stage.goal - self._from) * (self.target - q)
        return np.clip((o.stop_lag - lag) / (o.stop_lag - o.slow_lag), 0.0, 1.0)

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
        """Begin the stage after `stage`, if any; where nothing waited, within stop_lag of q."""
        if self._index + 1 == len(self._stages):
            self.is_done = True
            return
        most = self.options.stop_lag if stage.waits == "none" else math.inf
        self._from = np.clip(stage.goal, q - most, q + most)
        self._from_load, self._s = stage.load, np.zeros(12)
        self._index += 1


def weight_torque(joints: Array, load: float) -> Array:
    """Torques (12) [N m] that carry a share of the robot's weight on four feet, trunk level.

    By virtual work, tau = -J' f with the ground's force f on each foot; the legs count as massless.
    """
    lift = load * TOTAL_MASS * GRAVITY / 4.0
    return -lift * foot_jacobians_in_base(joints)[:, 2, :].reshape(12)
