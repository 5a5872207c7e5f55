"""The tracker's tick as one compiled call, and the checks of a plan.

`track` judges what was measured and estimated, and follows the plan where the estimate may be fed
back. It returns bits; the tracker names them, and chooses its state by them.

`contradiction` compares an estimate with the reading that it was made from. In simulated walks,
pushes of 3 m/s, jumps and flips the two differ by 0.005 rad and 0.04 rad/s at most. Where that
reading is missing, a newer one takes its place, before which joints and trunk have moved on: the
bounds grow with the time between. Estimates 0 to 20 ms older than the reading used half of them at
most.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numba import njit

from controller.motor_targets import write_command
from controller.plan_function import evaluate, unpack
from robots.legs import Legs
from robots.record import Record
from robots.rotations import Array
from runtime.messages import MotorCommand, SensorReading, StateEstimate
from runtime.rows import layout_of

# Verdicts on an estimate; a result's lowest bits are one.
SOUND, NONE, NOT_FINITE, STARTING, DIVERGED, OLD, TOO_FAST, OFF_ENCODERS, OFF_GYROSCOPE = range(9)
VERDICT: Final = 15
TILTED, TOO_LOW, MISREAD, MEASURED, FOLLOWED = (1 << bit for bit in range(4, 9))
HAS_ESTIMATE, HAS_READING, HAS_PLAN, FOLLOWS = 1, 2, 4, 8  # flags of a tick
TURN_CHANGE = 500.0  # [rad/s^2] by which the trunk's turn may change; a flip's landing has half
STATES, INPUTS, GAINS = 1, 2, 3
PAST: Final = 64  # ticks for which readings are kept, longer than estimates may be old
_READING, _COMMAND = layout_of(SensorReading).spans, layout_of(MotorCommand).spans
_ESTIMATE = layout_of(StateEstimate).spans
TICK, TIME = 0, 1  # of each row
Q, V, STATUS = _ESTIMATE["q"], _ESTIMATE["v"], _ESTIMATE["status"].start
OK, DEGRADED, ENDED, BEGINNING = range(4)  # statuses of an estimate, in the order of its words
IMU, GYROSCOPE = _READING["quaternion_imu_in_world"], _READING["angular_velocity_imu"]
READ_Q, READ_DQ = _READING["joint_position"], _READING["joint_velocity"]
assert all(spans["time"].start == TIME for spans in (_READING, _COMMAND, _ESTIMATE))

# What is remembered from tick to tick: joints (12) [rad], [rad/s] and their time [s] as measured
# last, whether there are any; what of the last estimate that could be compared could not be; since
# when a fall is suspected, NaN for no time [s]; height of the trunk below which it is one, in the
# world [m]; tilt to which the plan's reference tilts the trunk [rad].
JOINTS, SPEEDS, AT, KNOWN, FOUND, FALLING, LOWEST, ALLOWED = (
    slice(0, 12), slice(12, 24), 24, 25, 26, 27, 28, 29,
)  # fmt: skip
MEMORY: Final = 30
FASTEST_MEASURED = 200.0  # [rad/s] ten times what the motors reach: more is no measurement
MEASURED_MARGIN = 0.5  # [rad] beyond its range up to which a joint's measurement is believed
FALL_CONFIRM = 0.01  # [s] for which a fall must be seen before it is believed
JOINT_ERROR = 0.3  # [rad] of an estimate's joints from the encoders in its reading; if the newest
# stands for that, plus a motor's way at full speed
TURN_ERROR = 4.0  # [rad/s] of its angular velocity from that reading's gyroscope, plus TURN_CHANGE
# times the time between
BELIEVED_SPEED = 8.0  # [m/s] of the trunk that is believed
# What a plan may hold at most. In brackets the largest that was seen in plans of walks, pushes of 1
# to 3 m/s, stairs, jumps, flips and a stand on two legs.
JOINT_MARGIN = 1.0  # [rad] of a joint outside its range (0.31)
MOST_HEIGHT = 2.0  # [m] of the trunk from the ground that is followed (0.7)
MOST_SPEED, MOST_TURN = 10.0, 40.0  # [m/s], [rad/s] of the trunk (2.8, 14)
MOST_JOINT_SPEED = 150.0  # [rad/s] (53)
MOST_INPUT = 3.0  # of a motor's largest torque (1)
MOST_GAIN = 1e5  # (11 000, of a position after a push of 2.5 m/s)
LEAST_SQUARE, MOST_SQUARE = 0.98, 1.02  # of a quaternion's length, between which it is believed


@njit(cache=True)
def contradiction(
    v: Array, estimated_joints: Array, joints: Array, gyroscope: Array, age: float,
    fastest: Array,
) -> int:  # fmt: skip
    """Return what of an estimate cannot be, SOUND where nothing.

    Args:
        v: (18) of the estimate, finite.
        estimated_joints: (12) [rad].
        joints, gyroscope: as measured (12) [rad], (3) [rad/s]; what is NaN contradicts nothing.
        age: from the estimate to the measurement [s].
        fastest: speeds of the joints (12) [rad/s].
    """
    age = abs(age)
    speed = turn = 0.0
    for i in range(3):
        speed += v[i] ** 2
        turn += (v[3 + i] - gyroscope[i]) ** 2
    if speed > BELIEVED_SPEED**2:
        return TOO_FAST
    for i in range(12):
        if abs(estimated_joints[i] - joints[i]) > JOINT_ERROR + fastest[i] * age:
            return OFF_ENCODERS
    return OFF_GYROSCOPE if turn > (TURN_ERROR + TURN_CHANGE * age) ** 2 else SOUND


@njit(cache=True)
def _exceeds(values: Array, most: Array) -> bool:
    """Whether the size of one of the values (N, 12) is more than its column's `most` (12)."""
    found = False
    for k in range(len(values)):
        for i in range(12):
            found |= abs(values[k, i]) > most[i]
    return found


@njit(cache=True)
def excess(slot: Array, level: float, legs: Legs, torque_limit: Array) -> int:
    """Return which numbers of a plan are out of bounds, STATES, INPUTS or GAINS; 0 where none.

    Args:
        slot: see `plan_function.unpack`; finite.
        level: of the ground in the world [m].
        legs: of the robot; torque_limit: of its motors (12) [N m].
    """
    plan = unpack(slot)
    for k in range(plan.qs.shape[0]):
        q, v = plan.qs[k], plan.vs[k]
        bounded = abs(q[2] - level) <= MOST_HEIGHT
        for i in range(3):
            bounded &= abs(v[i]) <= MOST_SPEED and abs(v[3 + i]) <= MOST_TURN
        for i in range(12):
            outside = max(legs.lower[i] - q[7 + i], q[7 + i] - legs.upper[i])
            bounded &= outside <= JOINT_MARGIN and abs(v[6 + i]) <= MOST_JOINT_SPEED
        if not bounded:
            return STATES
    if _exceeds(plan.inputs, MOST_INPUT * torque_limit):
        return INPUTS
    gains = plan.gains.reshape((-1, 12))
    return GAINS if _exceeds(gains, np.full(12, MOST_GAIN)) else 0


@njit(cache=True)
def is_plausible(q: Array, v: Array, lower: Array, upper: Array) -> bool:
    """Return whether joints (12) [rad], [rad/s] can be where they read."""
    for i in range(12):
        if not (lower[i] <= q[i] <= upper[i] and abs(v[i]) < FASTEST_MEASURED):  # NaN fails too
            return False
    return True


@njit(cache=True)
def is_unit(quaternion: Array) -> bool:
    """Return whether a quaternion (4) is of unit length, but for rounding."""
    square = 0.0
    for i in range(4):
        square += quaternion[i] ** 2
    return LEAST_SQUARE < square < MOST_SQUARE


@njit(cache=True)
def tilt(quaternion: Array) -> float:
    """Return the angle between the trunk's z axis and the vertical [rad]; quaternion x, y, z, w."""
    x, y = quaternion[0], quaternion[1]
    return math.acos(min(1.0, max(-1.0, 1.0 - 2.0 * (x * x + y * y))))


class TrackBounds(NamedTuple):
    """The bounds of `track`, see `SafetyGateOptions` and `TrackerOptions`."""

    joints: Array  # (2, 12) between which a joint's measurement is believed [rad]
    sent: Array  # (4, 12) `motor_limits`
    estimate_max_age: float  # [s]
    tilt_max: float  # [rad]
    kp_max: float
    kd_max: float


@njit(cache=True)
def _verdict(
    estimate: Array, reading: Array, has_reading: bool, now: float, bounds: TrackBounds,
    memory: Array, past: Array,
) -> int:  # fmt: skip
    """Whether an estimate may be fed back.

    A sound one must agree with the reading that it was made from. A degraded one leaves out a
    sensor, which one is not known here: it is believed unless the last sound one was not.
    """
    q, v, status = estimate[Q], estimate[V], int(estimate[STATUS])
    finite = is_unit(q[3:7])
    for i in range(19):
        finite &= np.isfinite(q[i])
    for i in range(18):
        finite &= np.isfinite(v[i])
    if not finite:
        return NOT_FINITE
    if status not in (OK, DEGRADED):
        return STARTING if status == BEGINNING else DIVERGED
    if not now - estimate[TIME] <= bounds.estimate_max_age:
        return OLD
    fastest = bounds.sent[3]
    if has_reading and status == OK:
        source = past[int(estimate[TICK]) % PAST]
        if source[TICK] != estimate[TICK]:
            source = reading
        joints, speeds = source[READ_Q], source[READ_DQ]
        if is_plausible(joints, speeds, bounds.joints[0], bounds.joints[1]):
            age = source[TIME] - estimate[TIME]
            memory[FOUND] = contradiction(v, q[7:], joints, source[GYROSCOPE], age, fastest)
    alone = contradiction(v, q[7:], q[7:], v[3:6], 0.0, fastest)
    return alone if alone != SOUND else int(memory[FOUND])


@njit(cache=True)
def _measure(q: Array, dq: Array, time: float, bounds: TrackBounds, memory: Array) -> bool:
    """Remember joints where they can be; whether they can."""
    if not is_plausible(q, dq, bounds.joints[0], bounds.joints[1]):
        return False
    memory[JOINTS], memory[SPEEDS], memory[AT], memory[KNOWN] = q, dq, time, 1.0
    return True


@njit(cache=True)
def _fall(
    estimate: Array, reading: Array, is_used: bool, has_reading: bool, follows: bool,
    bounds: TrackBounds, memory: Array,
) -> int:  # fmt: skip
    """The sign of a fall: TILTED, TOO_LOW or 0.

    The tilt is the IMU's where there is a reading, else the estimate's, which also speaks for
    itself while it leaves a sensor out: that may be the IMU. The height above the ground counts
    while a plan is followed (lying down on purpose is no fall), and so does the plan's tilt: a flip
    that is given up in the air is a fall.
    """
    q, imu = estimate[Q], reading[IMU]
    most = bounds.tilt_max + (memory[ALLOWED] if follows else 0.0)
    if has_reading and is_unit(imu) and not (is_used and estimate[STATUS] != OK):
        if tilt(imu) > most:
            return TILTED
    elif is_used and tilt(q[3:7]) > most:
        return TILTED
    return TOO_LOW if follows and is_used and q[2] < memory[LOWEST] else 0


@njit(cache=True)
def track(
    current: Array, previous: Array, estimate: Array, reading: Array, flags: int, now: float,
    due: float, record: Record, memory: Array, past: Array, aim: Array, command: Array,
) -> int:  # fmt: skip
    """Judge what there is, and follow the plan where that can be done; return bits of what is so.

    The lowest, VERDICT, are the verdict on the estimate. TILTED or TOO_LOW: the robot has been
    fallen for `FALL_CONFIRM`. MISREAD: joints of the reading cannot be where they read, the
    estimate's count. MEASURED: joints were measured, now or before. FOLLOWED: `command` follows the
    plan, limited as TORQUE_LIMITED and POSITION_LIMITED say.

    Args:
        current, previous: the plans, see `plan_function.unpack`.
        estimate, reading: rows of `StateEstimate` and of the newest `SensorReading`.
        flags: what there is of these, and FOLLOWS: commands have followed a plan until now.
        now: [s].
        due: when the command takes effect [s].
        record: `TrackBounds` (1).
        memory: (MEMORY), see above.
        past: (PAST, width) the last readings, by their tick; the newest is added.
        aim: (8, 12) becomes the aim of `write_command`, the joints then [rad], [rad/s], and the
            torque that is expected of the command [N m].
        command: row of `MotorCommand`, in which time, q, dq, kp, kd and tau are written.
    """
    bits, verdict, has_reading, bounds = 0, NONE, flags & HAS_READING != 0, record[0]
    measured = False
    if has_reading:
        past[int(reading[TICK]) % PAST] = reading
        measured = _measure(reading[READ_Q], reading[READ_DQ], reading[TIME], bounds, memory)
        bits |= 0 if measured else MISREAD
    if flags & HAS_ESTIMATE:
        if not measured:
            _measure(estimate[Q][7:], estimate[V][6:], estimate[TIME], bounds, memory)
        verdict = _verdict(estimate, reading, has_reading, now, bounds, memory, past)
    is_known, is_used = memory[KNOWN] != 0.0, verdict == SOUND
    bits |= verdict | (MEASURED if is_known else 0)
    follows = flags & FOLLOWS != 0
    fall = _fall(estimate, reading, is_used, has_reading, follows, bounds, memory)
    if fall == 0:
        memory[FALLING] = np.nan
    else:
        if np.isnan(memory[FALLING]):
            memory[FALLING] = now
        if now - memory[FALLING] >= FALL_CONFIRM:
            bits |= fall
    if not (is_used and is_known and flags & HAS_PLAN):
        return bits
    finite, wanted, q_aim, dq_aim, kp, kd, joints, speeds = evaluate(
        current, previous, estimate[Q], estimate[V], estimate[TIME], memory[JOINTS],
        memory[SPEEDS], memory[AT], due, bounds.kp_max, bounds.kd_max,
    )  # fmt: skip
    if not finite:
        return bits
    aim[0], aim[1], aim[2], aim[3], aim[4], aim[5], aim[6] = (
        wanted, q_aim, dq_aim, kp, kd, joints, speeds
    )  # fmt: skip
    command[TIME] = now
    limited = write_command(aim, joints, speeds, bounds.sent, command, aim[7])
    return bits | FOLLOWED | limited
