"""Standing and lying down under joint PD, without a plan and without an estimate of the base.

Starts from the measured joints and with the torque that the motors gave last, so neither the
targets nor the torques jump: within `rise_s` all legs go to the stand while the old torque fades,
after `pause_s` the robot folds its legs within `lie_s` and stays there.
"""

from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from controller.motor_law import MotorAim
from robots import profiles
from robots.a1.constants import LIE_JOINTS, STAND_JOINTS

Array = NDArray[np.float64]


class StandDownOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When and how the tracker stops following plans.

    Attributes:
        plan_max_age_s: time since the last new plan after which the plan is stale [s].
        hold_s: how long a stale plan is followed on, within its horizon [s].
        estimate_lost_s: time without a usable estimate after which tracking is given up [s].
        rise_s, pause_s, lie_s: durations of going to the stand, standing, lying down [s].
        return_s: time in which torque and feedback go over to a new plan [s].
        kp, kd: joint PD of standing and lying [N m/rad], [N m s/rad].
        kd_damp: damping after a fall [N m s/rad].
    """

    plan_max_age_s: float = 0.1
    hold_s: float = 0.25
    estimate_lost_s: float = 0.1
    rise_s: float = 0.4
    pause_s: float = 1.0
    lie_s: float = 1.5
    return_s: float = 0.2
    kp: float = 80.0
    kd: float = 3.0
    kd_damp: float = 3.0

    def __post_init__(self) -> None:
        """Raise ValueError for a negative number or a motion that takes no time."""
        for name in self.__struct_fields__:
            value, moves = getattr(self, name), name in ("rise_s", "lie_s", "return_s")
            if not (value > 0.0 if moves else value >= 0.0):
                least = "> 0" if moves else ">= 0"
                raise ValueError(f"stand_down.{name}: expected a number {least}, got {value}")


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

    def __init__(self, options: StandDownOptions, q: Array, torque: Array, now: float) -> None:
        """Start at time `now` [s] from measured joints q (12) and the last torque (12) [N m]."""
        self.options = options
        self._start, self._torque, self._since = q.copy(), torque.copy(), now

    def can_return(self, now: float) -> bool:
        """Whether the robot still stands, so that a new plan may take over."""
        return now - self._since <= self.options.rise_s + self.options.pause_s

    def target(self, now: float) -> JointTarget:
        """Return where the joints shall be at time `now` [s]."""
        o, since = self.options, now - self._since
        if since < o.rise_s + o.pause_s:
            return minimum_jerk(self._start, STAND_JOINTS, since, o.rise_s)
        return minimum_jerk(STAND_JOINTS, LIE_JOINTS, since - o.rise_s - o.pause_s, o.lie_s)

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


def damping(q: Array, dq: Array, kd: float) -> MotorAim:
    """Return the aim of pure damping: no position loop, whatever the joints do."""
    return joint_pd(JointTarget(q, np.zeros(12)), q, dq, 0.0, kd)
