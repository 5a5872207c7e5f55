"""The limiter: the last to touch a command before it is packed for the wire."""

import logging
import math
from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hw_bridge.safety.limit_kernel import (
    NOT_FINITE,
    REASONS,
    MotorBounds,
    gather,
    is_passive,
    limit,
)
from hw_bridge.safety.options import HardwareSafetyOptions, motor_limits
from hw_bridge.setpoints import Setpoints, damping, no_torque
from hw_bridge.wire import gains
from hw_bridge.wire.layout import BRAKE, SERVO
from robots.robot import Robot

Array = NDArray[np.float64]
LOG = logging.getLogger(__name__)
TICK = 0.001  # [s] between commands; the first one after nothing may change a torque for that long
CATCH_UP_S = 0.003  # after a late tick a torque may change for no longer than this
_FAULTS = ("not_finite", "not_measured", "measurement", "mode", "malformed", "clock")  # logged once
_NO_TORQUE = np.stack(no_torque()[:5], axis=1)
_NO_JOINTS = np.full(12, np.nan), np.full(12, np.nan)


def bounds_of(options: HardwareSafetyOptions, robot: Robot) -> Array:
    """`MotorBounds` of each motor (12, 13).

    Raises:
        ValueError: an option allows more than the robot bears, see `motor_limits`.
    """
    torque, velocity = motor_limits(options, robot)
    own = {
        "lower": robot.legs.lower, "upper": robot.legs.upper, "torque_limit": torque,
        "velocity_limit": velocity,
    }  # fmt: skip
    bounds = np.empty((12, len(MotorBounds._fields)))
    for i, name in enumerate(MotorBounds._fields):
        bounds[:, i] = own[name] if name in own else getattr(options, name)
    return bounds


class Limited(NamedTuple):
    """A command that may be sent.

    Attributes:
        setpoints: to send; the very ones that came in where nothing was limited.
        torque: (12) expected of the motors' law at the sampling instant [N m].
        limited: the limits that were met, of `limit_kernel.REASONS`, or a fault: ``not_finite`` (a
            command, or what comes of it), ``not_measured`` (joints missing or not finite),
            ``measurement`` (a joint that cannot be where it reads), ``mode``, ``malformed``. A
            fault makes it damping, ``measurement`` that of one motor. ``clock`` (it went back,
            or is no number) lets no torque change.
    """

    setpoints: Setpoints
    torque: Array
    limited: tuple[str, ...]


class Limiter:
    """Keeps every command within the limits. Deterministic; raises nothing.

    Attributes:
        options: the limits.
        bounds: (12, 13) see `bounds_of`.
        counts: commands by the limit that they met, ``gap`` for those after a pause too.
        last: rows (12, 5) of the command before.
    """

    def __init__(self, options: HardwareSafetyOptions, robot: Robot) -> None:
        """Compile what is compiled (seconds, once per machine); the motors have no torque.

        Raises:
            ValueError: an option allows more than the robot bears, see `motor_limits`.
        """
        self.options, self.bounds = options, bounds_of(options, robot)
        self.counts: Counter[str] = Counter()
        self.reset()
        still = 0.5 * (robot.legs.lower + robot.legs.upper)
        limit(_NO_TORQUE, _NO_TORQUE, 0.0, still, np.zeros(12), self.bounds)
        is_passive(_NO_TORQUE[0])
        gather(*no_torque()[:5], *_NO_JOINTS, np.empty((12, 5)))
        gains.warm_up()

    def reset(self) -> None:
        """Forget the command before: torque begins at nothing again. Counts stay."""
        self.last, self._time = _NO_TORQUE, None

    def apply(self, setpoints: Setpoints, q: Array | None, dq: Array | None, now: float) -> Limited:
        """Return what may be sent in place of `setpoints`.

        Args:
            setpoints: wanted, whatever they hold.
            q, dq: (12) joints measured last [rad], [rad/s]; None where there are none.
            now: time of this command [s] on the monotonic clock.
        """
        try:
            limited = self._apply(setpoints, q, dq, now)
        except Exception as error:  # a wrong shape or type: a fault of the program, not of a value
            LOG.debug("limiter: %s", error)
            limited = self._damp("malformed", None)
        for reason in limited.limited:
            self.counts[reason] += 1
            if reason in _FAULTS and self.counts[reason] == 1:
                LOG.error("limiter: a command is faulty (%s); damping takes its place", reason)
        return limited

    def _apply(
        self, setpoints: Setpoints, q: Array | None, dq: Array | None, now: float
    ) -> Limited:
        step, clock = self._step(now)
        rows, joints = np.empty((12, 5)), _joints(q, dq)
        q_des, dq_des, kp, kd, tau = map(_twelve, setpoints[:5])
        angles, speeds = joints or _NO_JOINTS
        finite, measured = gather(q_des, dq_des, kp, kd, tau, angles, speeds, rows)
        joints = joints if measured else None
        if setpoints.mode not in (SERVO, BRAKE):  # 4 is a calibration
            return self._damp("mode", joints)
        if not finite:
            return self._damp("not_finite", joints)
        if joints is None:
            return self._unmeasured(setpoints, rows)
        sent, torque, hits = limit(rows, self.last, step, *joints, self.bounds)
        if hits & NOT_FINITE:
            return self._damp("not_finite", joints)
        self.last = sent
        names = tuple(name for bit, name in enumerate(REASONS) if hits >> bit & 1) if hits else ()
        if hits:
            setpoints = _setpoints(sent, setpoints.mode)
        return Limited(setpoints, torque, names + clock)

    def allowance(self, now: float) -> float | None:
        """By how much a torque may change now [N m]; None where that is for `apply` to say."""
        before = self._time
        if before is None or not 0.0 <= now - before <= self.options.command_age_max_s:
            return None
        return self.options.torque_slew * min(now - before, CATCH_UP_S)

    def accept(self, rows: Array, now: float) -> None:
        """Take rows (12, 5) of `now` [s], which met no limit, as the command before the next."""
        self.last, self._time = rows, now

    def _step(self, now: float) -> tuple[float, tuple[str, ...]]:
        """By how much a torque may change [N m], and ("clock",) where time does not go on.

        After a gap the motors are taken to have lost their torque: the firmware brakes by itself.
        """
        if not math.isfinite(now):
            return 0.0, ("clock",)
        before, self._time = self._time, now
        if before is None:
            return self.options.torque_slew * TICK, ()
        if now < before:
            return 0.0, ("clock",)
        since = now - before
        if since > self.options.command_age_max_s:
            self.counts["gap"] += 1
            self.last, since = _NO_TORQUE, TICK
        return self.options.torque_slew * min(since, CATCH_UP_S), ()

    def _unmeasured(self, setpoints: Setpoints, rows: Array) -> Limited:
        """Without joints only what can drive none of them is sent as it is."""
        calm = all(is_passive(row) and row[3] <= self.options.kd_max for row in rows)
        if not calm:
            return self._damp("not_measured", None)
        self.last = rows
        return Limited(setpoints, np.zeros(12), ())

    def _damp(self, reason: str, joints: tuple[Array, Array] | None) -> Limited:
        """Damping, in place of what cannot be sent."""
        rows, torque = np.stack(damping(self.options.damping_kd)[:5], axis=1), np.zeros(12)
        if joints is not None:
            rows, torque, _ = limit(rows, rows, 0.0, *joints, self.bounds)
        self.last = rows
        return Limited(_setpoints(rows, SERVO), torque, (reason,))


def _setpoints(rows: Array, mode: int) -> Setpoints:
    """The rows (12, 5) as setpoints of their own."""
    q, dq, kp, kd, tau = rows.T.copy()
    return Setpoints(q, dq, kp, kd, tau, mode)


def _twelve(values: Array) -> Array:
    """The numbers as compiled code takes them.

    Raises:
        ValueError: they are not twelve.
    """
    values = np.ascontiguousarray(values, np.float64)
    if values.shape != (12,):
        raise ValueError(f"expected twelve numbers, got shape {values.shape}")
    return values


def _joints(q: Array | None, dq: Array | None) -> tuple[Array, Array] | None:
    """The measured joints as (12) arrays, None unless all are there."""
    if q is None or dq is None:
        return None
    try:
        return _twelve(q), _twelve(dq)
    except ValueError:
        return None
