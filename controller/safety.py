"""Reasons, their counts, and verdicts on plans; no exceptions."""

import logging
import math
from collections import Counter
from enum import StrEnum

import numpy as np

from controller.motor_targets import motor_limits
from controller.options import SafetyGateOptions
from controller.plan_function import PlanFunction
from controller.track_kernel import (
    ALLOWED,
    GAINS,
    INPUTS,
    LOWEST,
    MEMORY,
    STATES,
    excess,
    tilt,
)
from robots.legs import ground_below
from robots.robot import Robot
from robots.rotations import Array
from runtime.messages import Plan

LOG = logging.getLogger(__name__)
PLAN_FUTURE_S = 0.1  # how far ahead of now a plan may start [s]
FALLEN = 5.0  # a leg's length over the height of the trunk above its lowest standing foot below
# which it has fallen, 0.08 m of an A1, whose trunk touches level ground at about 0.06 m
UPRIGHT = 0.7  # tilt below which the ground is followed [rad]
GROUND_TIME = 0.3  # time constant with which the ground below the plans is followed [s]


class Reason(StrEnum):
    """Reasons of the gate."""

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


# In the order of the verdicts of `track`.
ESTIMATE_REASONS = (
    Reason.OK, Reason.NO_ESTIMATE, Reason.ESTIMATE_NOT_FINITE, Reason.ESTIMATE_STARTING,
    Reason.ESTIMATE_DIVERGED, Reason.ESTIMATE_OLD, Reason.ESTIMATE_TOO_FAST,
    Reason.ESTIMATE_CONTRADICTS_ENCODERS, Reason.ESTIMATE_CONTRADICTS_GYROSCOPE,
)  # fmt: skip
EXCESSES = {
    STATES: Reason.PLAN_STATES_OUT_OF_BOUNDS,
    INPUTS: Reason.PLAN_INPUTS_OUT_OF_BOUNDS,
    GAINS: Reason.PLAN_GAINS_OUT_OF_BOUNDS,
}


class SafetyGate:
    """Judges plans, and follows what they allow; counts every reason; logs changes of state only.

    Attributes:
        memory: of `track`, whose bounds move with the plan.
        legs, torque_limit: of the robot, whose plans are judged.
    """

    def __init__(self, options: SafetyGateOptions, robot: Robot) -> None:
        """Start with nothing counted."""
        self.options, self.legs = options, robot.legs
        self.counts: Counter[str] = Counter()
        self.state = "waiting"
        self.limits = motor_limits(robot, options.torque_limit, options.position_margin)
        self._clearance = robot.leg_length / FALLEN
        self.memory = np.zeros(MEMORY)
        self.memory[LOWEST] = self._clearance
        self.torque_limit = robot.torque_limit
        self._last_plan_at: float | None = None  # [s]

    def count(self, reason: Reason) -> Reason:
        """Count a reason, and return it."""
        if reason is not Reason.OK:
            self.counts[reason.value] += 1
        return reason

    def follow_plan(self, plan: Plan) -> None:
        """Follow the ground below a plan's standing feet, above which height counts, and its tilt.

        The ground slowly: a robot that tumbles is not to take it along.
        """
        self.memory[ALLOWED] = plan.tilt
        q = np.array(plan.states_q[0])
        level = ground_below(self.legs, q, np.array(plan.contacts[0]))
        passed = 0.0 if self._last_plan_at is None else plan.time - self._last_plan_at
        self._last_plan_at = plan.time
        if math.isfinite(level) and tilt(q[3:7]) < UPRIGHT:  # else the ground stays what it was
            share = min(1.0, max(0.0, passed) / GROUND_TIME)
            lowest = float(self.memory[LOWEST])
            self.memory[LOWEST] = lowest + share * (self._clearance + level - lowest)

    def judge_plan(self, plan: Plan, function: PlanFunction | None, now: float) -> Reason:
        """Return OK, or why a newly arrived plan may not be followed, whatever came before it.

        Args:
            plan: as it arrived.
            function: the same, ready to be followed; None where it has failed.
            now: [s].
        """
        if function is None:
            return self.count(Reason.PLAN_FAILED)
        if not (function.is_sound and 0.0 <= plan.tilt <= math.pi):
            return self.count(Reason.PLAN_NOT_FINITE)
        if plan.time > now + PLAN_FUTURE_S:
            return self.count(Reason.PLAN_FROM_FUTURE)
        level = float(self.memory[LOWEST]) - self._clearance
        found = excess(function.flat, level, self.legs, self.torque_limit)
        return self.count(EXCESSES[found]) if found else Reason.OK

    def judge_first_plan(self, plan: Plan, q: Array) -> Reason:
        """Return OK, or that a plan does not stay near a robot with configuration q (19)."""
        o, states = self.options, np.array(plan.states_q)
        way = np.hypot(*(states[:, :2] - q[:2]).T)
        turn = np.angle(np.exp(1j * (_lateral_heading(states) - _lateral_heading(np.array(q)))))
        if not (way.max() <= o.first_plan_distance and abs(turn).max() <= o.first_plan_turn):
            return self.count(Reason.FIRST_PLAN_LEADS_AWAY)
        return Reason.OK

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
