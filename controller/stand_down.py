"""What the robot does without a plan: waiting, standing, lying down, and the way back to a plan.

Standing down needs no estimate of the base. It starts from the measured joints and with the torque
that the motors gave last, so neither targets nor torques jump: within `rise_s` all legs go to the
stand while the old torque fades, after `pause_s` the robot folds its legs within `lie_s` and stays
there.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.options import StandDownOptions
from robots import profiles
from robots.robot import Robot

Array = NDArray[np.float64]


class JointTarget(NamedTuple):
    """Wanted joints, twelve each [rad], [rad/s]."""

    q: Array
    dq: Array


def minimum_jerk(start: Array, end: Array, since: float, duration: float) -> JointTarget:
    """Return the point at `since` [s] of the minimum-jerk motion, at rest at both ends.

    Before its beginning and after its end it is at rest there.
    """
    blend = profiles.minimum_jerk(min(1.0, max(0.0, since / duration)))
    way = end - start
    return JointTarget(start + blend.value * way, blend.slope / duration * way)


class StandDown:
    """The motion from the measured joints to a stand, and from there to the ground."""

    def __init__(
        self, options: StandDownOptions, robot: Robot, q: Array, torque: Array, now: float
    ) -> None:
        """Start at time `now` [s] from measured joints q (12) and the last torque (12) [N m]."""
        self.options, self._robot = options, robot
        self._start, self._torque, self._since = q.copy(), torque.copy(), now

    def can_return(self, now: float) -> bool:
        """Whether the robot still stands, so that a new plan may take over."""
        return now - self._since <= self.options.rise_s + self.options.pause_s

    def target(self, now: float) -> JointTarget:
        """Return the wanted joints at time `now` [s]."""
        o, since, stand = self.options, now - self._since, self._robot.stand
        if since < o.rise_s + o.pause_s:
            return minimum_jerk(self._start, stand, since, o.rise_s)
        return minimum_jerk(stand, self._robot.lie, since - o.rise_s - o.pause_s, o.lie_s)

    def aim(self, q: Array, dq: Array, now: float) -> Array:
        """Return the PD torque towards the target plus what is left of the fading old torque."""
        target = self.target(now)
        fade = min(1.0, max(0.0, 1.0 - (now - self._since) / self.options.rise_s))
        aim = joint_pd(target, q, dq, self.options.kp, self.options.kd)
        aim[0] += fade * self._torque
        return aim


def joint_pd(target: JointTarget, q: Array, dq: Array, kp: float, kd: float) -> Array:
    """Return the aim (5, 12) of `write_command` for plain joint PD at measured joints (12)."""
    torque = kp * (target.q - q) + kd * (target.dq - dq)
    return np.stack((torque, target.q, target.dq, np.full(12, kp), np.full(12, kd)))


def damping_aim(q: Array, dq: Array, kd: float) -> Array:
    """Return the aim of pure damping: no position loop, whatever the joints do."""
    return joint_pd(JointTarget(q, np.zeros(12)), q, dq, 0.0, kd)


class Standby:
    """Waiting in the pose measured first, standing down, and the way back to a plan."""

    def __init__(self, options: StandDownOptions, robot: Robot) -> None:
        """Nothing is being done yet."""
        self.options, self._robot = options, robot
        self._waiting: tuple[JointTarget, Array] | None = None  # pose and torque
        self._standing: StandDown | None = None
        self._taken_over_since: float | None = None

    def wait(self, q: Array, dq: Array, torque: Array) -> Array:
        """Return joint PD on the pose of the first call, on top of the torque of that call.

        Args:
            q, dq: measured joints (12) [rad], [rad/s].
            torque: of the motors (12) [N m]: a robot that stands goes on standing, without a sag.
        """
        if self._waiting is None:
            self._waiting = JointTarget(q.copy(), np.zeros(12)), torque.copy()
        target, held = self._waiting
        aim = joint_pd(target, q, dq, self.options.kp, self.options.kd)
        aim[0] += held
        return aim

    def stand_down(self, q: Array, dq: Array, torque: Array, now: float) -> Array:
        """Return the motion to a stand and to the ground, begun now unless it is under way.

        Args:
            q, dq: measured joints (12) [rad], [rad/s].
            torque: of the last command (12) [N m].
            now: [s].
        """
        if not self.standing:
            self._standing = StandDown(self.options, self._robot, q, torque, now)
            self._taken_over_since = None
        assert self._standing is not None
        return self._standing.aim(q, dq, now)

    @property
    def standing(self) -> bool:
        """Whether the robot stands down, and no plan has begun to take over from that."""
        return self._standing is not None and self._taken_over_since is None

    @property
    def is_over(self) -> bool:
        """Whether a plan has taken over altogether, or nothing was to be taken over from."""
        return self._waiting is None and self._standing is None

    def may_return(self, now: float) -> bool:
        """Whether a fresh plan may take over: before lying down has begun."""
        return self._standing is None or self._standing.can_return(now)

    def take_over(self, aim: Array, q: Array, dq: Array, now: float) -> Array:
        """Return the plan's aim, mixed for `return_s` with what went before, if anything did."""
        if self.is_over:
            return aim
        if self._taken_over_since is None:
            self._taken_over_since = now
        share = (now - self._taken_over_since) / self.options.return_s
        if share >= 1.0:
            self._waiting = self._standing = self._taken_over_since = None
            return aim
        if self._standing is not None:
            before = self._standing.aim(q, dq, now)
        else:
            before = self.wait(q, dq, np.zeros(12))
        return before + max(0.0, share) * (aim - before)
