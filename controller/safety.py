"""The gate between what arrives and what the motors get: verdicts and counts, no exceptions."""

import logging
import math
from collections import Counter
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.motor_targets import motor_limits
from controller.options import SafetyGateOptions
from controller.plan_function import PlanFunction
from controller.track_kernel import (
    GAINS,
    INPUTS,
    OFF_ENCODERS,
    OFF_GYROSCOPE,
    STATES,
    TOO_FAST,
    bounds_of,
    contradiction,
    excess,
    is_plausible,
    is_unit,
    tilt,
)
from robots.legs import ground_below
from robots.robot import Robot
from runtime.messages import Plan, SensorReading, StateEstimate

Array = NDArray[np.float64]
LOG = logging.getLogger(__name__)
UPRIGHT = 0.7  # tilt below which the ground is followed [rad]
PAST = 64  # ticks for which readings are kept, longer than estimates may be old
GROUND_TIME = 0.3  # time constant with which the ground below the plans is followed [s]


class Reason(StrEnum):
    """Why the gate decided as it did."""

    OK = "ok"
    NO_ESTIMATE = "no_estimate"
    ESTIMATE_STARTING = "estimate_starting"
    ESTIMATE_DIVERGED = "estimate_diverged"
    ESTIMATE_NOT_FINITE = "estimate_not_finite"
    ESTIMATE_OLD = "estimate_old"
    ESTIMATE_TOO_FAST = "estimate_too_fast"
    ESTIMATE_CONTRADICTS_ENCODERS = "estimate_contradicts_encoders"
    ESTIMATE_CONTRADICTS_GYROSCOPE = "estimate_contradicts_gyroscope"
    READING_NOT_PLAUSIBLE = "reading_not_plausible"
    TILTED = "tilted"
    TOO_LOW = "too_low"
    NO_PLAN = "no_plan"
    PLAN_FAILED = "plan_failed"
    PLAN_NOT_FINITE = "plan_not_finite"
    PLAN_FROM_FUTURE = "plan_from_future"
    PLAN_STATES_OUT_OF_BOUNDS = "plan_states_out_of_bounds"
    PLAN_INPUTS_OUT_OF_BOUNDS = "plan_inputs_out_of_bounds"
    PLAN_GAINS_OUT_OF_BOUNDS = "plan_gains_out_of_bounds"
    FIRST_PLAN_LEADS_AWAY = "first_plan_leads_away"
    PLAN_OUT_OF_ORDER = "plan_out_of_order"
    PLAN_STALE = "plan_stale"
    PLAN_ENDED = "plan_ended"
    TORQUE_LIMITED = "torque_limited"
    POSITION_LIMITED = "position_limited"
    COMMAND_NOT_FINITE = "command_not_finite"
    NOT_MEASURED = "not_measured"
    LYING_DOWN = "lying_down"
    STOPPED = "stopped"


class GateVerdict(NamedTuple):
    """Whether something may be used, and why not."""

    ok: bool
    reason: Reason


PASS = GateVerdict(True, Reason.OK)


CONTRADICTIONS = {
    TOO_FAST: Reason.ESTIMATE_TOO_FAST,
    OFF_ENCODERS: Reason.ESTIMATE_CONTRADICTS_ENCODERS,
    OFF_GYROSCOPE: Reason.ESTIMATE_CONTRADICTS_GYROSCOPE,
}
EXCESSES = {
    STATES: Reason.PLAN_STATES_OUT_OF_BOUNDS,
    INPUTS: Reason.PLAN_INPUTS_OUT_OF_BOUNDS,
    GAINS: Reason.PLAN_GAINS_OUT_OF_BOUNDS,
}


class Joints(NamedTuple):
    """The joints as measured, twelve each."""

    q: Array  # [rad]
    dq: Array  # [rad/s]
    time: float  # of the measurement [s]


def all_finite(values: Array) -> bool:
    """Return whether no number of an array is NaN or infinite."""
    return math.isfinite(values.sum()) or bool(np.isfinite(values).all())  # the sum is faster


class SafetyGate:
    """Judges what arrives and what leaves; counts every reason; logs changes of state only."""

    def __init__(self, options: SafetyGateOptions, robot: Robot) -> None:
        """Start with nothing counted."""
        self.options, self._legs = options, robot.legs
        self.counts: Counter[str] = Counter()
        self.state = "waiting"
        margin = options.measured_margin
        self.joint_range = np.stack((robot.legs.lower - margin, robot.legs.upper + margin))
        self.limits = motor_limits(robot, options.torque_limit, options.position_margin)
        height = options.height_min
        self._clearance = robot.leg_length / 5.0 if height is None else height
        self.height_min = self._clearance  # of the trunk in the world [m]
        self.estimate_bounds = (  # of `contradiction`
            options.estimate_joint_error, options.estimate_turn_error, options.estimate_speed_max,
        )  # fmt: skip
        self.plan_bounds = bounds_of(options.plan, robot)
        self._contradicts = 0  # what did in the last estimate that could be compared
        self._past: list[SensorReading | None] = [None] * PAST
        self.tilt = 0.0  # to which the plan's reference tilts the trunk [rad]
        self._last_plan_at: float | None = None  # [s]
        self._fall_since: float | None = None

    def _refuse(self, reason: Reason) -> GateVerdict:
        self.counts[reason.value] += 1
        return GateVerdict(False, reason)

    def remember(self, reading: SensorReading) -> None:
        """Keep a reading for the estimate that is made from it."""
        self._past[reading.tick % PAST] = reading

    def source_of(self, estimate: StateEstimate, newest: SensorReading) -> SensorReading:
        """The reading that an estimate was made from, or the newest where that was not seen."""
        past = self._past[estimate.tick % PAST]
        return past if past is not None and past.tick == estimate.tick else newest

    def measured(
        self, estimate: StateEstimate | None, reading: SensorReading | None
    ) -> Joints | None:
        """Return copies of the joints to believe: the reading's, else the estimate's, else None.

        Both come from the same encoders, the reading is the newer.
        """
        if reading is not None:
            pair = np.array(reading.joint_position), np.array(reading.joint_velocity)
            if is_plausible(*pair, *self.joint_range):
                return Joints(*pair, reading.time)
            self._refuse(Reason.READING_NOT_PLAUSIBLE)
        if estimate is not None:
            pair = np.array(estimate.q[7:]), np.array(estimate.v[6:])
            if is_plausible(*pair, *self.joint_range):
                return Joints(*pair, estimate.time)
        return None

    def measured_torque(self, reading: SensorReading) -> Array:
        """Return the measured torques (12) [N m] within the limit, zeros if there is none."""
        torque = reading.joint_torque
        if not all_finite(torque):
            return np.zeros(12)
        return np.clip(torque, -self.limits.torque, self.limits.torque)

    def follow_plan(self, plan: Plan) -> None:
        """Follow the ground below a plan's standing feet, above which height counts, and its tilt.

        The ground slowly: a robot that tumbles is not to take it along.
        """
        self.tilt = plan.tilt
        q = np.array(plan.states_q[0])
        level = ground_below(self._legs, q, np.array(plan.contacts[0]))
        passed = 0.0 if self._last_plan_at is None else plan.time - self._last_plan_at
        self._last_plan_at = plan.time
        if math.isfinite(level) and tilt(q[3:7]) < UPRIGHT:  # else the ground stays what it was
            share = min(1.0, max(0.0, passed) / GROUND_TIME)
            self.height_min += share * (self._clearance + level - self.height_min)

    def judge_estimate(
        self, estimate: StateEstimate | None, reading: SensorReading | None, now: float
    ) -> GateVerdict:
        """Return whether `estimate` may be fed back at time `now` [s].

        A sound one must agree with the reading that it was made from. A degraded one leaves out a
        sensor, which one is not known here: it is believed unless the last sound one was not.
        `reading` is the newest.
        """
        if estimate is None:
            return self._refuse(Reason.NO_ESTIMATE)
        finite = all_finite(estimate.q) and all_finite(estimate.v)
        if not (finite and is_unit(estimate.q[3:7])):
            return self._refuse(Reason.ESTIMATE_NOT_FINITE)
        if estimate.status not in ("ok", "degraded"):  # degraded: without a sensor, yet good
            starting = estimate.status == "starting"
            return self._refuse(Reason.ESTIMATE_STARTING if starting else Reason.ESTIMATE_DIVERGED)
        if not now - estimate.time <= self.options.estimate_max_age_s:
            return self._refuse(Reason.ESTIMATE_OLD)
        found = self._contradiction(estimate, reading)
        return self._refuse(CONTRADICTIONS[found]) if found else PASS

    def _contradiction(self, estimate: StateEstimate, reading: SensorReading | None) -> int:
        """See `contradiction`; what cannot be compared counts as what was compared last."""
        q, v = np.array(estimate.q), np.array(estimate.v)
        if reading is not None and estimate.status == "ok":
            source = self.source_of(estimate, reading)
            joints, speeds = np.array(source.joint_position), np.array(source.joint_velocity)
            if is_plausible(joints, speeds, *self.joint_range):
                self._contradicts = contradiction(
                    v, q[7:], joints, np.array(source.angular_velocity_imu),
                    source.time - estimate.time, self.estimate_bounds, self.limits.speed,
                )  # fmt: skip
        bounds, fastest = self.estimate_bounds, self.limits.speed
        alone = contradiction(v, q[7:], q[7:], v[3:6], 0.0, bounds, fastest)
        return alone or self._contradicts

    def judge_plan(self, plan: Plan, function: PlanFunction | None, now: float) -> GateVerdict:
        """Return whether a newly arrived plan may be followed, whatever came before it.

        Args:
            plan: as it arrived.
            function: the same, ready to be followed; None where it has failed.
            now: [s].
        """
        if function is None:
            return self._refuse(Reason.PLAN_FAILED)
        if not (function.is_sound and 0.0 <= plan.tilt <= math.pi):
            return self._refuse(Reason.PLAN_NOT_FINITE)
        if plan.time > now + self.options.plan_future_s:
            return self._refuse(Reason.PLAN_FROM_FUTURE)
        level = self.height_min - self._clearance
        found = excess(function.flat, level, self.plan_bounds)
        return self._refuse(EXCESSES[found]) if found else PASS

    def judge_first_plan(self, plan: Plan, q: Array) -> GateVerdict:
        """Return whether a plan stays near a robot with configuration q (19)."""
        o, states = self.options, np.array(plan.states_q)
        way = np.hypot(*(states[:, :2] - q[:2]).T)
        turn = np.angle(np.exp(1j * (_lateral_heading(states) - _lateral_heading(np.array(q)))))
        if not (way.max() <= o.first_plan_distance and abs(turn).max() <= o.first_plan_turn):
            return self._refuse(Reason.FIRST_PLAN_LEADS_AWAY)
        return PASS

    @property
    def tilt_max(self) -> float:
        """Tilt of the trunk that is a fall while a plan is followed [rad]."""
        return self.options.tilt_max + self.tilt

    @property
    def is_calm(self) -> bool:
        """Whether the tracker follows its plan and nothing has looked like a fall."""
        return self.state == "ok" and self._fall_since is None

    def judge_fall(
        self,
        estimate: StateEstimate | None,
        reading: SensorReading | None,
        tracking: bool,
        now: float,
    ) -> GateVerdict:
        """Return not ok once the robot has been fallen for `fall_confirm_s`.

        The tilt is the IMU's where there is a reading, else the estimate's, which also speaks for
        itself while it leaves a sensor out: that may be the IMU. The height above the ground
        counts while tracking (lying down on purpose is no fall), and so does the plan's tilt: a
        flip that is given up in the air is a fall. `estimate` is one that `judge_estimate` passed,
        else None.
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
            quaternion = measured if is_unit(measured) else quaternion
        tilt_max = self.tilt_max if tracking else self.options.tilt_max
        if quaternion is not None and tilt(quaternion) > tilt_max:
            return Reason.TILTED
        if not tracking or estimate is None:
            return None
        return Reason.TOO_LOW if estimate.q[2] < self.height_min else None

    def count_limits(self, torque: bool, position: bool) -> None:
        """Count a command of which limits have changed a torque, or the target of a position."""
        if torque:
            self.counts[Reason.TORQUE_LIMITED.value] += 1
        if position:
            self.counts[Reason.POSITION_LIMITED.value] += 1

    def enter(self, state: str, reason: Reason) -> None:
        """Note the tracker's state; a change is one log line, a warning if tracking is given up."""
        if state != self.state:
            gives_up = state in ("stand_down", "damp") and self.state != "waiting"
            gives_up = gives_up and reason is not Reason.STOPPED
            level = logging.WARNING if gives_up else logging.INFO
            LOG.log(level, "tracker: %s -> %s (%s)", self.state, state, reason.value)
            self.state = state


def _lateral_heading(q: Array) -> Array:
    """Heading of the trunk's y axis in configurations (..., 19) [rad]; a flip keeps it."""
    x, y, z, w = np.moveaxis(q[..., 3:7], -1, 0)
    return np.arctan2(1.0 - 2.0 * (x * x + z * z), 2.0 * (x * y - w * z))
