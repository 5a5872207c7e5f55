"""The gate between what arrives and what the motors get: verdicts and counts, never exceptions."""

import logging
import math
from collections import Counter
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from controller.motor_law import MotorTarget
from controller.safety_options import SafetyOptions
from controller.verdict import PASS, Reason, Verdict
from robots.a1.constants import JOINT_LOWER, JOINT_UPPER
from runtime.messages import Plan, SensorReading, StateEstimate

Array = NDArray[np.float64]
FASTEST_MEASURED = 200.0  # [rad/s] ten times what the motors reach: more is no measurement
LOG = logging.getLogger(__name__)


class Joints(NamedTuple):
    """The joints as measured, twelve each."""

    q: Array  # [rad]
    dq: Array  # [rad/s]
    time: float  # of the measurement [s]


def all_finite(values: Array) -> bool:
    """Return whether no number of an array is NaN or infinite."""
    return math.isfinite(values.sum()) or bool(np.isfinite(values).all())  # the sum is faster


@njit(cache=True)
def _plausible(q: Array, v: Array, lower: Array, upper: Array) -> bool:
    for i in range(12):
        if not (lower[i] <= q[i] <= upper[i] and abs(v[i]) < FASTEST_MEASURED):  # NaN fails too
            return False
    return True


def tilt(quaternion: Array) -> float:
    """Return the angle between the trunk's z axis and the vertical [rad]; quaternion x, y, z, w."""
    x, y = float(quaternion[0]), float(quaternion[1])
    return math.acos(min(1.0, max(-1.0, 1.0 - 2.0 * (x * x + y * y))))


class SafetyGate:
    """Judges what arrives and what leaves; counts every reason; logs changes of state only."""

    def __init__(self, options: SafetyOptions) -> None:
        """Start with nothing counted."""
        self.options = options
        self.counts: Counter[str] = Counter()
        self.state = "waiting"
        self._lower = JOINT_LOWER - options.measured_margin
        self._upper = JOINT_UPPER + options.measured_margin
        self._fall_since: float | None = None

    def _refuse(self, reason: Reason) -> Verdict:
        self.counts[reason.value] += 1
        return Verdict(False, reason)

    def measured(
        self, estimate: StateEstimate | None, reading: SensorReading | None
    ) -> Joints | None:
        """Return copies of the joints to believe: the reading's, else the estimate's, else None.

        Both come from the same encoders, the reading is the newer.
        """
        if reading is not None:
            pair = np.array(reading.joint_position), np.array(reading.joint_velocity)
            if _plausible(*pair, self._lower, self._upper):
                return Joints(*pair, reading.time)
            self._refuse(Reason.READING_NOT_PLAUSIBLE)
        if estimate is not None:
            pair = np.array(estimate.q[7:]), np.array(estimate.v[6:])
            if _plausible(*pair, self._lower, self._upper):
                return Joints(*pair, estimate.time)
        return None

    def measured_torque(self, reading: SensorReading) -> Array:
        """Return the measured torques (12) [N m] within the limit, zeros if there is none."""
        torque = reading.joint_torque
        if not all_finite(torque):
            return np.zeros(12)
        return np.clip(torque, -self.options.torque_limit, self.options.torque_limit)

    def warm_up(self) -> None:
        """Compile everything here."""
        _plausible(np.zeros(12), np.zeros(12), self._lower, self._upper)

    def judge_estimate(self, estimate: StateEstimate | None, now: float) -> Verdict:
        """Return whether `estimate` may be fed back at time `now` [s]."""
        if estimate is None:
            return self._refuse(Reason.NO_ESTIMATE)
        x, y, z, w = estimate.q[3:7].tolist()
        finite = all_finite(estimate.q) and all_finite(estimate.v)
        if not (finite and 0.98 < x * x + y * y + z * z + w * w < 1.02):
            return self._refuse(Reason.ESTIMATE_NOT_FINITE)
        if estimate.status not in ("ok", "degraded"):  # degraded: without a sensor, yet good
            starting = estimate.status == "starting"
            return self._refuse(Reason.ESTIMATE_STARTING if starting else Reason.ESTIMATE_DIVERGED)
        if not now - estimate.time <= self.options.estimate_max_age_s:
            return self._refuse(Reason.ESTIMATE_OLD)
        return PASS

    def judge_plan(self, plan: Plan, now: float) -> Verdict:
        """Return whether a newly arrived plan may be followed, whatever came before it."""
        if plan.status == "failed" or len(plan.inputs) == 0:
            return self._refuse(Reason.PLAN_FAILED)
        arrays = (plan.states_q, plan.states_v, plan.inputs, plan.gains, plan.contacts)
        numbers = math.isfinite(plan.time) and math.isfinite(plan.period) and plan.period > 0.0
        if not (numbers and all(all_finite(array) for array in arrays)):
            return self._refuse(Reason.PLAN_NOT_FINITE)
        norms = np.einsum("ij,ij->i", plan.states_q[:, 3:7], plan.states_q[:, 3:7])
        if norms.min() < 0.98 or norms.max() > 1.02:
            return self._refuse(Reason.PLAN_NOT_FINITE)
        if plan.time > now + self.options.plan_future_s:
            return self._refuse(Reason.PLAN_FROM_FUTURE)
        return PASS

    def judge_fall(
        self,
        estimate: StateEstimate | None,
        reading: SensorReading | None,
        tracking: bool,
        now: float,
    ) -> Verdict:
        """Return not ok once the robot has been fallen for `fall_confirm_s`.

        The tilt is the IMU's where there is a reading, else the estimate's, which also speaks for
        itself while it leaves a sensor out: that may be the IMU. The height, which only the
        estimate knows, counts while tracking (lying down on purpose is no fall). `estimate` is one
        that `judge_estimate` passed, else None.
        """
        reason = self._fall(estimate, reading, tracking)
        if reason is None:
            self._fall_since = None
            return PASS
        if self._fall_since is None:
            self._fall_since = now
        if now - self._fall_since < self.options.fall_confirm_s:
            return PASS
        return self._refuse(reason)

    def _fall(
        self, estimate: StateEstimate | None, reading: SensorReading | None, tracking: bool
    ) -> Reason | None:
        quaternion = None if estimate is None else estimate.q[3:7]
        trusts_imu = estimate is None or estimate.status == "ok"
        if reading is not None and trusts_imu:
            measured = reading.quaternion_imu_in_world
            quaternion = measured if 0.98 < float(measured @ measured) < 1.02 else quaternion
        if quaternion is not None and tilt(quaternion) > self.options.tilt_max:
            return Reason.TILTED
        if tracking and estimate is not None and estimate.q[2] < self.options.height_min:
            return Reason.TOO_LOW
        return None

    def note_limits(self, target: MotorTarget) -> None:
        """Count what limits have changed of a target."""
        if target.torque_limited:
            self.counts[Reason.TORQUE_LIMITED.value] += 1
        if target.position_limited:
            self.counts[Reason.POSITION_LIMITED.value] += 1

    def enter(self, state: str, reason: Reason) -> None:
        """Note the tracker's state; a change is one log line."""
        if state != self.state:
            LOG.warning("tracker: %s -> %s (%s)", self.state, state, reason.value)
            self.state = state
