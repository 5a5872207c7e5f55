"""The robot's states, entered only in order: off, damping, stand-up, ready, running, and back.

    off -> damping -> stand_up -> ready -> running -> sit_down -> damping -> off

Every state's step gives the setpoints of all motors. A request that does not fit the state is
refused and counted. A stop leads to damping from every state, and after it only off can follow.
"""

import logging
import math

import numpy as np
from numpy.typing import NDArray

from hw_bridge.motion import Motion
from hw_bridge.motion_options import MotionOptions
from hw_bridge.setpoints import Setpoints, damping, law_torque, no_torque
from hw_bridge.states import Request, RobotState
from hw_bridge.ways import fold, recover, stand_up
from robots.a1.constants import JOINT_NAMES

__all__ = ["Machine", "MotionOptions", "Request", "RobotState"]

Array = NDArray[np.float64]
LOG = logging.getLogger(__name__)
_UP = (RobotState.STAND_UP, RobotState.READY, RobotState.RUNNING)
_FITS: dict[Request, tuple[RobotState, ...]] = {
    Request.STAND_UP: (RobotState.OFF,),
    Request.RUN: (RobotState.READY,),
    Request.SIT_DOWN: _UP,
    Request.END: tuple(RobotState),
    Request.STOP: tuple(RobotState),
}


class Machine:
    """Decides what the motors shall do; never raises, and knows no clock but the one it is told.

    Attributes:
        options: of its motions.
        state: what the robot does now.
        cause: why it was stopped or had to sit down, the first cause; "" while all is well.
        finished: the run is over: off, and no request leads anywhere any more.
        refused: requests that did not fit the state.
    """

    def __init__(self, options: MotionOptions | None = None) -> None:
        """Begin off."""
        self.options = options or MotionOptions()
        self.state = RobotState.OFF
        self.cause, self.finished, self.refused = "", False, 0
        self._stopped = self._ending = False
        self._since: float | None = None  # when the state was entered; None until its first step
        self._settled_since: float | None = None
        self._joints: tuple[Array, Array] | None = None  # measured last
        self._motion: Motion | None = None
        self._sent = no_torque()

    @property
    def ended_well(self) -> bool:
        """Whether the run is over without a stop and without a cause to sit down."""
        return self.finished and not self.cause

    def request(self, request: Request, why: str) -> bool:
        """Do as asked if it fits the state; return whether it did.

        Args:
            request: what is asked for; it shows in the next step.
            why: who or what asked, for the log; a STOP's is the cause.
        """
        if request is Request.STOP:
            self.stop(why)
            return True
        if request is Request.END and self._ending:
            return True
        if self.finished or self._stopped or self.state not in _FITS[request]:
            self.refused += 1
            LOG.warning("%s (%s) does not fit the state %s: refused", request, why, self.state)
            return False
        if request is Request.STAND_UP:
            self._enter(RobotState.DAMPING, why)
        elif request is Request.RUN:
            self._enter(RobotState.RUNNING, why)
        else:
            self._come_down(why)
        return True

    def stop(self, cause: str) -> None:
        """Damp from the next step on, whatever the state; only off can follow.

        Args:
            cause: one line for a person; kept if it is the first.
        """
        if self._stopped or self.finished:
            return
        self._stopped = self._ending = True
        self.cause = self.cause or cause or "stopped"
        if self.state is RobotState.DAMPING:
            LOG.warning("stopped: %s", cause)
        else:
            self._enter(RobotState.DAMPING, cause)

    def sit_down(self, cause: str) -> None:
        """Come down in order because of `cause`, and end; one that lies does not stand up."""
        if self._stopped or self.finished:
            return
        self.cause = self.cause or cause
        if not self._ending:
            self._come_down(cause)

    def step(
        self, now: float, q: Array | None, dq: Array | None, tracker: Setpoints | None
    ) -> Setpoints:
        """Return what the motors shall do from now on.

        Args:
            now: [s], monotonic.
            q, dq: newest measured joints (12) [rad], [rad/s]; None before the first.
            tracker: what the tracker wants; used while running, None if it wants nothing.
        """
        if q is not None and dq is not None and math.isfinite(float(q.sum() + dq.sum())):
            self._joints = q.copy(), dq.copy()
        self._since = now if self._since is None else self._since
        self._advance(now, now - self._since)
        self._sent = self._setpoints(now, tracker)
        return self._sent

    def _come_down(self, why: str) -> None:
        """The way to the ground and to the end, from any state that is not on it."""
        self._ending, was = True, self.state
        if was is RobotState.OFF:
            self.finished = True
        elif was in _UP:
            self._enter(RobotState.SIT_DOWN, why)
            self._begin_sitting(was)

    def _begin_sitting(self, was: RobotState) -> None:
        """From the measured pose: to the stand if it may be walking, then to the ground."""
        if self._joints is None:  # unreachable: standing up begins with measured joints
            return
        q, dq = self._joints
        if was is RobotState.STAND_UP:
            assert self._motion is not None
            self._motion = fold(self.options, q, self._motion.load)
        else:
            self._motion = recover(self.options, q, law_torque(self._sent, q, dq), then_fold=True)

    def _advance(self, now: float, elapsed: float) -> None:
        """Enter the state that follows by itself, if it is time to."""
        o = self.options
        if self.state is RobotState.DAMPING and elapsed >= o.damping_s:
            if not self._ending and self._joints is not None:
                self._motion = stand_up(o, self._joints[0])
                self._enter(RobotState.STAND_UP, "", now)
            elif self._ending and (self._still() or elapsed >= o.damping_timeout_s):
                self._enter(RobotState.OFF, self.cause, now)
                self.finished = True
        elif self.state is RobotState.STAND_UP:
            if self._settled(now):
                self._enter(RobotState.READY, "", now)
            elif elapsed > o.stand_up_timeout_s:
                self.sit_down(f"no stand within {o.stand_up_timeout_s:g} s: {self._furthest()}")
                self._since = now
        elif self.state is RobotState.SIT_DOWN and self._motion is not None:
            if elapsed > o.sit_down_timeout_s:
                self.cause = self.cause or (
                    f"not down within {o.sit_down_timeout_s:g} s: {self._furthest()}"
                )
            if self._motion.done or elapsed > o.sit_down_timeout_s:
                self._enter(RobotState.DAMPING, "", now)

    def _setpoints(self, now: float, tracker: Setpoints | None) -> Setpoints:
        """The setpoints of the state."""
        if self.state is RobotState.OFF:
            return no_torque()
        if self.state is RobotState.DAMPING or self._joints is None:
            return damping(self.options.damping_kd)
        if self.state is RobotState.RUNNING and tracker is not None:
            self._motion = None
            return tracker
        q, dq = self._joints
        if self._motion is None:
            self._motion = recover(self.options, q, law_torque(self._sent, q, dq))
        return self._motion.step(now, q)

    def _enter(self, state: RobotState, why: str, now: float | None = None) -> None:
        """Change the state, with one log line."""
        LOG.info("%s -> %s%s", self.state, state, f": {why}" if why else "")
        self.state, self._since, self._settled_since = state, now, None

    def _still(self) -> bool:
        """Whether no joint moves, as far as was measured last."""
        return self._joints is not None and (
            float(np.abs(self._joints[1]).max()) < self.options.still_speed
        )

    def _settled(self, now: float) -> bool:
        """Whether the robot has been still at the stand for long enough."""
        o, motion = self.options, self._motion
        if self._joints is None or motion is None or not motion.done:
            return False
        off = float(np.abs(self._joints[0] - motion.goal).max())
        if off > o.tolerance or not self._still():
            self._settled_since = None
            return False
        self._settled_since = now if self._settled_since is None else self._settled_since
        return now - self._settled_since >= o.settle_s

    def _furthest(self) -> str:
        """The joint that is furthest from where the motion wants it, for a person."""
        if self._joints is None or self._motion is None:
            return "no joint was measured"
        off = self._joints[0] - self._motion.target
        worst = int(np.abs(off).argmax())
        name = JOINT_NAMES[worst].removesuffix("_joint").replace("_", " ")
        return f"{name} is {off[worst]:+.2f} rad off its target"
