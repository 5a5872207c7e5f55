"""The robot without a plan: waiting, standing, lying down, and the way back to a plan.

Standing down needs no estimate of the base. It starts from the measured joints and with the torque
that the motors gave last, so neither targets nor torques jump: within `RISE_S` all legs go to the
stand while the old torque fades, after `PAUSE_S` the robot folds its legs within `LIE_S` and stays
there.
"""

import numpy as np

from controller.options import StandDownOptions
from robots import profiles
from robots.robot import Robot
from robots.rotations import Array

RISE_S = 0.4  # duration of going to the stand [s]
PAUSE_S = 1.0  # how long the robot stands before it lies down [s]
LIE_S = 1.5  # duration of lying down [s]
RETURN_S = 0.2  # in which torque and feedback go over to a new plan [s]
KD_DAMP = 3.0  # joint damping after a fall [N m s/rad]


def minimum_jerk(start: Array, end: Array, since: float, duration: float) -> tuple[Array, Array]:
    """Return joints [rad], [rad/s] at `since` [s] of the minimum-jerk motion from rest to rest.

    Before its beginning and after its end it is at rest there.
    """
    blend = profiles.minimum_jerk(min(1.0, max(0.0, since / duration)))
    way = end - start
    return start + blend.value * way, blend.slope / duration * way


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
        return now - self._since <= RISE_S + PAUSE_S

    def target(self, now: float) -> tuple[Array, Array]:
        """Return the wanted joints at time `now` [s]: (12) [rad], (12) [rad/s]."""
        since, stand = now - self._since, self._robot.stand
        if since < RISE_S + PAUSE_S:
            return minimum_jerk(self._start, stand, since, RISE_S)
        return minimum_jerk(stand, self._robot.lie, since - RISE_S - PAUSE_S, LIE_S)

    def aim(self, q: Array, dq: Array, now: float) -> Array:
        """Return the PD torque towards the target plus what is left of the fading old torque."""
        fade = min(1.0, max(0.0, 1.0 - (now - self._since) / RISE_S))
        aim = joint_pd(*self.target(now), q, dq, self.options.kp, self.options.kd)
        aim[0] += fade * self._torque
        return aim


def joint_pd(
    q_aim: Array, dq_aim: Array, q: Array, dq: Array, kp: float = 0.0, kd: float = KD_DAMP
) -> Array:
    """Return the aim (5, 12) of `write_command` for plain joint PD at measured joints (12).

    Without gains it damps the joints, wherever they are.
    """
    torque = kp * (q_aim - q) + kd * (dq_aim - dq)
    return np.stack((torque, q_aim, dq_aim, np.full(12, kp), np.full(12, kd)))


class Standby:
    """Waiting in the pose measured first, standing down, and the way back to a plan."""

    def __init__(self, options: StandDownOptions, robot: Robot) -> None:
        """Nothing is being done yet."""
        self.options, self._robot = options, robot
        self._waiting: tuple[Array, Array] | None = None  # pose and torque
        self._standing: StandDown | None = None
        self._taken_over_since: float | None = None

    def wait(self, q: Array, dq: Array, torque: Array) -> Array:
        """Return joint PD on the pose of the first call, on top of the torque of that call.

        Args:
            q, dq: measured joints (12) [rad], [rad/s].
            torque: of the motors (12) [N m]: a robot that stands goes on standing, without a sag.
        """
        if self._waiting is None:
            self._waiting = q.copy(), torque.copy()
        pose, held = self._waiting
        aim = joint_pd(pose, np.zeros(12), q, dq, self.options.kp, self.options.kd)
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
        """Return the plan's aim, mixed for `RETURN_S` with what went before, if anything did."""
        if self.is_over:
            return aim
        if self._taken_over_since is None:
            self._taken_over_since = now
        share = (now - self._taken_over_since) / RETURN_S
        if share >= 1.0:
            self._waiting = self._standing = self._taken_over_since = None
            return aim
        if self._standing is not None:
            before = self._standing.aim(q, dq, now)
        else:
            before = self.wait(q, dq, np.zeros(12))
        return before + max(0.0, share) * (aim - before)
