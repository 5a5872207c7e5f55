"""The robot's states, entered only in order: off, damping, stand-up, ready, running, and back.

    off -> damping -> stand_up -> ready -> running -> sit_down -> damping -> off

Every state's step gives the setpoints of all motors. A request that does not fit the state is
refused and counted. A stop leads to damping from every state, and after it only off can follow.
A robot that is asked to sit down while it runs goes on running until its trunk is level: the bridge
takes no step, so only the tracker catches a robot that has just been pushed.
"""

import logging
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_bridge.motion import (
    PostureMotions,
    furthest,
    is_level,
    is_still,
)
from hw_bridge.options import MotionOptions
from hw_bridge.states import UP, Request, RobotState
from hw_bridge.wire.low_command import Setpoints, damping, no_torque, setpoints_of
from robots.robot import Robot

Array = NDArray[np.float64]
LOG = logging.getLogger(__name__)
NEAR = 0.1  # [rad] of each joint to the stand of a robot that is ready
STAND_UP_S = 20.0  # that standing up may take
LEVEL_S = 0.2  # for which the trunk must be level before a walk ends, and before the legs fold
LEVEL_TIMEOUT_S = 2.5  # after which the legs fold all the same
_FITS: dict[Request, tuple[RobotState, ...]] = {
    Request.STAND_UP: (RobotState.OFF,),
    Request.RUN: (RobotState.READY,),
    Request.SIT_DOWN: (RobotState.DAMPING, *UP),  # before it stands up: it stays down
    Request.END: tuple(RobotState),
    Request.STOP: tuple(RobotState),
}


class StateMachine:
    """Decides what the motors shall do; never raises, and has no clock of its own.

    Attributes:
        options: of its motions.
        state: what the robot does now.
        cause: why it was stopped or had to sit down, the first cause; "" while all is well.
        is_ending: it was asked to sit down or to stop.
        is_finished: the run is over: off, and no request leads anywhere any more.
        refused: requests that did not fit the state.
    """

    def __init__(self, options: MotionOptions, robot: Robot) -> None:
        """Begin off; compile what is compiled."""
        self.options, self._motions = options, PostureMotions(options, robot)
        self._torque_limit = robot.torque_limit
        self.state = RobotState.OFF
        self.cause, self.is_finished, self.refused = "", False, 0
        self._stopped = self.is_ending = False
        self._since: float | None = None  # when the state was entered; None until its first step
        self._joints: Any = None  # measured last: q, dq (12)
        self._measured = False  # in this step
        self._trunk: Array | None = None  # in this step
        self._motion: Any = None  # a Motion
        self._awaits_level = False  # in the stand, on the way down from a walk
        self._lasting: dict[str, float] = {}  # since when what ends a state has been so
        self._sent: Setpoints | Array = no_torque()

    @property
    def ended_well(self) -> bool:
        """Whether the run is over, and nothing but a wish has ended it."""
        return self.is_finished and not self.cause

    def request(self, request: Request, why: str) -> bool:
        """Do as asked if it fits the state; return whether it did.

        Args:
            request: what is asked for; it shows in the next step.
            why: the cause, one line of text; "" for a plain wish.
        """
        if request is Request.STOP:
            self.stop(why)
            return True
        if request is Request.END and self.is_ending:
            return True
        if self.is_finished or self._stopped or self.state not in _FITS[request]:
            self.refused += 1
            LOG.warning("robot: %s does not fit the state %s: refused", request, self.state)
            return False
        if request is Request.STAND_UP:
            self._enter(RobotState.DAMPING, why)
        elif request is Request.RUN:
            self._enter(RobotState.RUNNING, why)
        else:
            self.sit_down(why)
        return True

    def stop(self, cause: str) -> None:
        """Damp from the next step on, whatever the state; only off can follow.

        Args:
            cause: one line of text; kept if it is the first.
        """
        if self._stopped or self.is_finished:
            return
        self._stopped = self.is_ending = True
        self.cause = self.cause or cause or "stopped"
        if self.state is RobotState.DAMPING:
            LOG.warning("robot: %s", cause)
        else:
            self._enter(RobotState.DAMPING, cause)

    def sit_down(self, cause: str) -> None:
        """Come down in order, and end; one that lies does not stand up.

        Args:
            cause: one line of text, kept if it is the first; "" for a plain wish.
        """
        if self._stopped or self.is_finished:
            return
        self.cause = self.cause or cause
        if not self.is_ending:
            self._come_down(cause)

    def step(
        self, now: float, q: Array | None, dq: Array | None, tracker: Array | None,
        trunk: Array | None = None,
    ) -> Setpoints | None:  # fmt: skip
        """Return the setpoints of the motors from now on; None where the tracker's command holds.

        Args:
            now: [s], monotonic.
            q, dq: joints as they are measured now (12) [rad], [rad/s], kept as they are; None
                where they are unknown: before the first, or once they are too old.
            tracker: row of the tracker's command, used while running; None without one. A robot
                that is asked to sit down does so at once without one.
            trunk: of the same moment as q and dq, and not used without them: attitude x, y, z, w
                and angular velocity [rad/s] of the trunk (7), see `take_in`.
        """
        # One product, for time is short: a number that is none makes it none too.
        self._measured = q is not None and dq is not None and math.isfinite(q.dot(dq))
        if q is not None and dq is not None and self._measured:
            self._joints = q, dq
        self._trunk = trunk if self._measured else None
        self._since = now if self._since is None else self._since
        if self.is_ending or self.state is not RobotState.RUNNING:
            self._advance(now, now - self._since, tracker is not None)
        if self.state is RobotState.RUNNING and tracker is not None and self._joints is not None:
            self._motion, self._sent = None, tracker
            return None
        setpoints = self._sent = self._setpoints(now)
        return setpoints

    def _come_down(self, why: str) -> None:
        """The way to the ground and to the end, from any state that is not on it."""
        self.is_ending = True
        if self.state is RobotState.OFF:
            self.is_finished = True
        elif self.state is RobotState.RUNNING:
            LOG.info("robot: sits down once its trunk is level%s", f": {why}" if why else "")
            self._since = None  # from now on it may go on for so long
        elif self.state in UP:
            self._begin_sitting(why)

    def _begin_sitting(self, why: str) -> None:
        """From the measured pose to the ground; a robot that is up has been measured.

        A walk ends in the stand first, so that all feet are down; a robot that is low folds.
        """
        q, was = self._joints[0], self.state
        self._enter(RobotState.SIT_DOWN, why)
        if was is RobotState.STAND_UP:
            self._motion = self._motions.give_up(q, self._motion.load)
        elif self._motions.is_low(q):
            self._motion = self._motions.sit_down(q, self._torque())
        else:
            self._motion = self._motions.recover(q, self._torque())
            self._awaits_level = True

    def _advance(self, now: float, elapsed: float, follows: bool) -> None:
        """Enter the state that follows by itself, if it is time to; `follows` the tracker."""
        if self.state is RobotState.DAMPING:
            if self.is_ending:
                self._end_damping(now, elapsed)
            elif self._joints is not None and elapsed >= self.options.damping_s:
                self._motion = self._motions.stand_up(self._joints[0])
                self._enter(RobotState.STAND_UP, "", now)
        elif self.state is RobotState.STAND_UP:
            self._end_standing_up(now, elapsed)
        elif self.state is RobotState.RUNNING and self.is_ending:
            self._end_running(now, elapsed, follows)
        elif self.state is RobotState.SIT_DOWN:
            self._end_sitting_down(now, elapsed)

    def _end_damping(self, now: float, elapsed: float) -> None:
        """Off, once the robot has been still for long enough, or has had time enough."""
        o = self.options
        still = self._measured and self._joints is not None and is_still(self._joints[1])
        if self._lasts("still", still, now, o.damping_s) or elapsed >= o.damping_timeout_s:
            self._enter(RobotState.OFF, self.cause, now)
            self.is_finished = True

    def _end_standing_up(self, now: float, elapsed: float) -> None:
        """Ready, once the robot stands still; down again if that takes too long."""
        q, dq = self._joints
        settled = bool(np.abs(q - self._motion.goal).max() <= NEAR) and is_still(dq)
        settle_s = self.options.settle_s
        if self._motion.is_done and self._lasts("rest", settled, now, settle_s):
            self._enter(RobotState.READY, "", now)
        elif elapsed > STAND_UP_S:
            self.sit_down(f"no stand within {STAND_UP_S:g} s: {furthest(q, self._motion.target)}")
            self._since = now

    def _end_running(self, now: float, elapsed: float, follows: bool) -> None:
        """Down, once the trunk is level, or has had time enough, or nothing is followed."""
        is_due = not follows or elapsed >= self.options.end_timeout_s
        if self._is_level(now) or is_due or self._motions.is_low(self._joints[0]):
            self._begin_sitting(self.cause)

    def _end_sitting_down(self, now: float, elapsed: float) -> None:
        """Damping, once the robot is down, or if that takes too long."""
        if self._awaits_level:
            self._fold_if_level(now, elapsed)
        limit, target = self.options.sit_down_timeout_s, self._motion.target
        is_down = self._motion.is_done and not self._awaits_level
        if not is_down and elapsed > limit:
            late = f"not down within {limit:g} s: {furthest(self._joints[0], target)}"
            self.cause = self.cause or late
        if is_down or elapsed > limit:
            self._enter(RobotState.DAMPING, "", now)

    def _fold_if_level(self, now: float, elapsed: float) -> None:
        """Leave the stand for the ground, once the trunk is level or has had time enough."""
        is_late = elapsed >= LEVEL_TIMEOUT_S
        if not self._is_level(now, self._motion.is_done) and not is_late:
            return
        if is_late:
            LOG.warning("robot: not level within %g s; its legs fold", LEVEL_TIMEOUT_S)
        self._awaits_level = False
        self._motion = self._motions.sit_down(self._joints[0], self._torque())

    def _is_level(self, now: float, counts: bool = True) -> bool:
        """Whether the trunk has been level for long enough, in steps that count."""
        is_so = counts and self._trunk is not None and is_level(self._trunk)
        return self._lasts("level", is_so, now, LEVEL_S)

    def _lasts(self, what: str, is_so: bool, now: float, needed_s: float) -> bool:
        """Whether something has been so for `needed_s` [s]; time that goes back begins anew."""
        if not is_so or now < self._lasting.get(what, now):
            self._lasting.pop(what, None)
        return is_so and now - self._lasting.setdefault(what, now) >= needed_s

    def _setpoints(self, now: float) -> Setpoints:
        """The setpoints of the state, for want of a tracker's."""
        if self.state is RobotState.OFF:
            return no_torque()
        if self.state is RobotState.DAMPING or self._joints is None:
            return damping(self.options.damping_kd)
        if self._motion is None:
            self._motion = self._motions.recover(self._joints[0], self._torque())
        return self._motion.step(now, self._joints[0])

    def _torque(self) -> Array:
        """Torque of the last setpoints now (12) [N m], as far as motors can."""
        sent = self._sent if isinstance(self._sent, Setpoints) else setpoints_of(self._sent)
        torque = np.nan_to_num(sent.torque(*self._joints))
        return np.clip(torque, -self._torque_limit, self._torque_limit)

    def _enter(self, state: RobotState, why: str, now: float | None = None) -> None:
        """Change the state, with one log line; without `now` it begins at the next step."""
        LOG.info("robot: %s -> %s%s", self.state, state, f": {why}" if why else "")
        self.state, self._since = state, now
        self._lasting.clear()
