"""What the robot does while no plan is followed, and how a plan takes over from it."""

import numpy as np
from numpy.typing import NDArray

from controller.motor_targets import MotorAim
from controller.stand_down import JointTarget, StandDown, joint_pd
from controller.stand_down_options import StandDownOptions
from robots.robot import Robot

Array = NDArray[np.float64]


class Standby:
    """Waiting in the pose measured first, standing down, and the way back to a plan."""

    def __init__(self, options: StandDownOptions, robot: Robot) -> None:
        """Nothing is being done yet."""
        self.options, self._robot = options, robot
        self._waiting: tuple[JointTarget, Array] | None = None  # pose and torque
        self._standing: StandDown | None = None
        self._taken_over_since: float | None = None

    def wait(self, q: Array, dq: Array, torque: Array) -> MotorAim:
        """Return joint PD on the pose of the first call, on top of the torque of that call.

        Args:
            q, dq: measured joints (12) [rad], [rad/s].
            torque: of the motors (12) [N m]: a robot that stands goes on standing, without a sag.
        """
        if self._waiting is None:
            self._waiting = JointTarget(q.copy(), np.zeros(12)), torque.copy()
        target, held = self._waiting
        aim = joint_pd(target, q, dq, self.options.kp, self.options.kd)
        return aim._replace(torque=aim.torque + held)

    def stand_down(self, q: Array, dq: Array, torque: Array, now: float) -> MotorAim:
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

    def take_over(self, aim: MotorAim, q: Array, dq: Array, now: float) -> MotorAim:
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
        return before.mixed_with(aim, max(0.0, share))
