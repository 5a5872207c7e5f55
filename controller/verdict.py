"""The words in which the safety gate speaks."""

from enum import StrEnum
from typing import NamedTuple


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
