"""Standing and lying down under joint PD, without a plan and without an estimate of the base.

Starts from the measured joints and with the torque that the motors gave last, so neither the
targets nor the torques jump: within `rise_s` all legs go to the stand while the old torque fades,
after `pause_s` the robot folds its legs within `lie_s` and stays there.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.motor_targets import MotorAim
from controller.stand_down_options import StandDownOptions
from robots import profiles
from robots.robot import Robot

Array = NDArray[np.float64]


class JointTarget(NamedTuple):
    """Where the joints shall be, twelve each [rad], [rad/s]."""

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
        """Return where the joints shall be at time `now` [s]."""
        o, since, stand = self.options, now - self._since, self._robot.stand
        if since < o.rise_s + o.pause_s:
            return minimum_jerk(self._start, stand, since, o.rise_s)
        return minimum_jerk(stand, self._robot.lie, since - o.rise_s - o.pause_s, o.lie_s)

    def aim(self, q: Array, dq: Array, now: float) -> MotorAim:
        """Return the PD torque towards the target plus what is left of the fading old torque."""
        target = self.target(now)
        fade = min(1.0, max(0.0, 1.0 - (now - self._since) / self.options.rise_s))
        aim = joint_pd(target, q, dq, self.options.kp, self.options.kd)
        return aim._replace(torque=aim.torque + fade * self._torque)


def joint_pd(target: JointTarget, q: Array, dq: Array, kp: float, kd: float) -> MotorAim:
    """Return the aim of plain joint PD at the measured joints q, dq (12)."""
    torque = kp * (target.q - q) + kd * (target.dq - dq)
    return MotorAim(torque, target.q, target.dq, np.full(12, kp), np.full(12, kd))


def damping_aim(q: Array, dq: Array, kd: float) -> MotorAim:
    """Return the aim of pure damping: no position loop, whatever the joints do."""
    return joint_pd(JointTarget(q, np.zeros(12)), q, dq, 0.0, kd)
