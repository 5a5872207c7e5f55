"""Whether motors can be where and as fast as they say: one compiled look at each sample.

An encoder that has stuck repeats its position bit for bit. So does one of a motor that rests, hence
something must say that the motor moves: its measured speed, which integrates to a way that the
position does not show; or its torque, which under the joint's stiffness moves it; or the leg's
other joints, both of which have come a long way. After some time without such a word it begins
anew, so that a bias of the speed cannot add up at rest.

A speed that has stuck repeats its value bit for bit. So may one of a motor that rests; but then the
position goes nowhere else than the speed says. After some time it begins anew, so that a rounded
speed cannot add up.

A jammed joint does not move although its motor pushes hard and long. The largest torques that a
walk, a push of 2.5 m/s, a jump, a flip or a stand on two legs holds without moving (over 20 N m)
lasted 59 ms in simulation; a stand takes 12 N m.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.intake import DQ, MODE, NUMBERS, SQUARE, TEMPERATURE, TORQUE, Q
from hw_bridge.options import HardwareSafetyOptions, velocity_stop
from hw_bridge.safety.watches import GO, JOINT_LABELS, UNIT_TOLERANCE, Verdict, damp
from hw_bridge.wire.layout import SERVO
from robots.robot import Robot

Array = NDArray[np.float64]

WAY = 0.02  # [rad] by which the speed says the joint has moved; the encoder's step is 4e-5
TORQUE_SWING = 4.0  # [N m] of the motor's torque, no friction in the gear holds a joint against
LEG_WAY = 0.3  # [rad] that each other joint of the leg has travelled
LEG_FACTOR = 5.0  # times as long must a position stand still beside a moving leg
SAMPLES = 10  # a position or speed must have been repeated in, however long frames were lost
LONGEST_STEP_S = 0.005  # for which one sample of a speed speaks, when frames are lost
WINDOW_FACTOR = 10.0  # times as long are words for a motion added up, then anew
NEAR_STOP = 0.03  # [rad] from the end of the range a joint may press on its stop without moving
LEAP = 0.2  # [rad] more than the fastest joint travels between two samples
OK, STUCK, LEAPT, STUCK_SPEED, JAMMED = range(5)

# Columns of the record of one motor. Encoder: position, since when and for how many samples it has
# not changed, what speed, torques and the leg's joints said meanwhile, and its own way.
_Q, _SINCE, _SAMPLES, _TRAVEL, _LEAST, _MOST, _PATH, _PATH_A, _PATH_B = range(9)
# Drive: the last sample, how long its speed has not changed and what the position has travelled
# beyond it, and since when it has pushed where.
_LAST_Q, _DQ, _DQ_SINCE, _DQ_SAMPLES, _DQ_WAY, _PUSHED_SINCE, _PUSHED_AT = range(9, 16)
_COLUMNS = 16


@njit(cache=True)
def _restart(record: Array, motor: int, q: float, torque: float, time: float) -> None:
    """Begin to watch position `q` of a motor."""
    leg, row = 3 * (motor // 3), record[motor]
    row[_Q], row[_SINCE], row[_SAMPLES], row[_TRAVEL] = q, time, 0.0, 0.0
    row[_LEAST], row[_MOST] = torque, torque
    row[_PATH_A] = record[leg + (motor + 1 - leg) % 3, _PATH]
    row[_PATH_B] = record[leg + (motor + 2 - leg) % 3, _PATH]


@njit(cache=True)
def _must_move(
    record: Array, motor: int, loaded: bool, still_s: float, stuck_s: float, ranges: Array
) -> bool:
    """Whether something says that a motor moves whose position stands still."""
    leg, row = 3 * (motor // 3), record[motor]
    if abs(row[_TRAVEL]) > WAY:
        return True
    if not loaded or still_s < stuck_s:
        return False
    inside = ranges[0, motor] + NEAR_STOP < row[_Q] < ranges[1, motor] - NEAR_STOP
    if inside and row[_MOST] - row[_LEAST] > TORQUE_SWING:
        return True
    way_a = record[leg + (motor + 1 - leg) % 3, _PATH] - row[_PATH_A]
    way_b = record[leg + (motor + 2 - leg) % 3, _PATH] - row[_PATH_B]
    return still_s > LEG_FACTOR * stuck_s and min(way_a, way_b) > LEG_WAY


@njit(cache=True)
def _watch_encoders(
    record: Array, q: Array, dq: Array, torque: Array, loaded: bool, time: float, step_s: float,
    stuck_s: float, fastest: float, ranges: Array,
) -> tuple[int, int]:  # fmt: skip
    """Take in a sample `step_s` [s] after the one before; what is wrong, and the motor."""
    fault, found = OK, -1
    for i in range(12):
        way = abs(q[i] - record[i, _Q])
        record[i, _PATH] += way
        if loaded and way > fastest * step_s + LEAP:
            fault, found = LEAPT, i
        if way != 0.0:
            _restart(record, i, q[i], torque[i], time)
    for i in range(12):
        row = record[i]
        if row[_SINCE] == time:
            continue
        row[_SAMPLES] += 1.0
        row[_TRAVEL] += dq[i] * min(step_s, LONGEST_STEP_S)
        row[_LEAST], row[_MOST] = min(row[_LEAST], torque[i]), max(row[_MOST], torque[i])
        still_s = time - row[_SINCE]
        if still_s < stuck_s or row[_SAMPLES] < SAMPLES:
            continue
        if fault == OK and _must_move(record, i, loaded, still_s, stuck_s, ranges):
            fault, found = STUCK, i
        elif still_s > WINDOW_FACTOR * stuck_s:
            _restart(record, i, q[i], torque[i], time)
    return fault, found


@njit(cache=True)
def _watch_drives(
    record: Array, numbers: Array, time: float, step_s: float, stuck_s: float, jam_torque: float,
    jam_way: float, jam_s: float,
) -> tuple[int, int]:  # fmt: skip
    """Take in a sample `step_s` [s] after the one before; what is wrong, and the motor."""
    fault, found = OK, -1
    positions, speeds, torques = numbers[Q], numbers[DQ], numbers[TORQUE]
    for i in range(12):
        row, q, dq = record[i], positions[i], speeds[i]
        row[_DQ_SAMPLES] += 1.0
        row[_DQ_WAY] += q - row[_LAST_Q] - dq * step_s
        still_s = time - row[_DQ_SINCE]
        if dq != row[_DQ] or step_s > LONGEST_STEP_S or still_s > WINDOW_FACTOR * stuck_s:
            row[_DQ], row[_DQ_SINCE], row[_DQ_SAMPLES], row[_DQ_WAY] = dq, time, 0.0, 0.0
        elif still_s >= stuck_s and row[_DQ_SAMPLES] >= SAMPLES and abs(row[_DQ_WAY]) > WAY:
            fault, found = STUCK_SPEED, i
        row[_LAST_Q] = q
        if not (abs(torques[i]) >= jam_torque and abs(q - row[_PUSHED_AT]) <= jam_way):
            row[_PUSHED_SINCE], row[_PUSHED_AT] = time, q
        elif fault == OK and time - row[_PUSHED_SINCE] >= jam_s:
            fault, found = JAMMED, i
    return fault, found


@njit(cache=True)
def is_calm(numbers: Array, serving: bool, bounds: Array, ranges: Array) -> bool:
    """Whether no watch but encoders' and drives' finds anything; what is not finite is not calm.

    Args:
        numbers: (75) of a sample, see `take_in`.
        serving: the motors are to follow positions: only then do ranges and modes count.
        bounds, ranges: of `MotorWatch`.
    """
    tilt_max, excursion_max, fastest = bounds[0], bounds[1], bounds[2]
    most_power, warm = bounds[3], bounds[4]
    if not abs(numbers[SQUARE] - 1.0) <= UNIT_TOLERANCE:
        return False
    cosine = 1.0 - 2.0 * (numbers[0] ** 2 + numbers[1] ** 2)
    if not math.acos(min(1.0, max(-1.0, cosine))) <= tilt_max:
        return False
    q, dq, torque, power = numbers[Q], numbers[DQ], numbers[TORQUE], 0.0
    mode, temperature = numbers[MODE], numbers[TEMPERATURE]
    for i in range(12):
        power += abs(torque[i] * dq[i])
        if not abs(dq[i]) <= fastest or temperature[i] >= warm:
            return False
        outside = max(ranges[0, i] - q[i], q[i] - ranges[1, i])
        if serving and (not outside <= excursion_max or mode[i] != SERVO):
            return False
    return power <= most_power


@njit(cache=True)
def watch_motors(
    numbers: Array, serving: bool, time: float, times: Array, record: Array, bounds: Array,
    ranges: Array,
) -> tuple[bool, int, int, int, int]:  # fmt: skip
    """Take in a sample; return whether it is calm, then fault and motor of encoders and of drives.

    Args:
        numbers: (75) of the sample, see `take_in`.
        serving: the motors are to follow positions.
        time: of the sample [s].
        times: (2) of the sample before, as encoders and as drives count it [s]; NaN: none.
        record: (12, 16), see above.
        bounds, ranges: of `MotorWatch`.
    """
    q, dq, torque, speed_max = numbers[Q], numbers[DQ], numbers[TORQUE], bounds[2]
    encoder_fault, encoder, drive_fault, drive = OK, -1, OK, -1
    before, times[0] = times[0], time
    if time > before:
        encoder_fault, encoder = _watch_encoders(
            record, q, dq, torque, serving, time, time - before, bounds[5], speed_max, ranges
        )
    else:
        for motor in range(12):
            _restart(record, motor, q[motor], torque[motor], time)
    before, times[1] = times[1], time if serving else np.nan
    if serving and time > before:
        drive_fault, drive = _watch_drives(
            record, numbers, time, time - before, bounds[6], bounds[7], bounds[8], bounds[9]
        )
    elif serving:
        for motor in range(12):
            row = record[motor]
            row[_LAST_Q] = row[_PUSHED_AT] = q[motor]
            row[_DQ], row[_DQ_SAMPLES], row[_DQ_WAY] = dq[motor], 0.0, 0.0
            row[_DQ_SINCE] = row[_PUSHED_SINCE] = time
    return is_calm(numbers, serving, bounds, ranges), encoder_fault, encoder, drive_fault, drive


class MotorFindings(NamedTuple):
    """What was found in one sample."""

    is_calm: bool  # no other watch finds anything
    encoders: Verdict
    drives: Verdict


class MotorWatch:
    """Judges positions, speeds and torques of the 12 motors against each other.

    Of limp legs only positions are watched, and torque, leaps and the leg's motion do not count:
    legs may be folded by hand, and a robot that boots may read zero.
    """

    def __init__(self, options: HardwareSafetyOptions, robot: Robot) -> None:
        """Compile what is compiled; nothing seen."""
        o = self._options = options
        self._bounds = np.array([
            o.tilt_max, o.excursion_max, velocity_stop(o, robot), o.power_stop, o.temperature_warn,
            o.encoder_stuck_s, o.velocity_stuck_s, o.jam_torque, o.jam_way, o.jam_s,
        ])  # fmt: skip
        self._ranges = np.array([robot.legs.lower, robot.legs.upper])
        self.reset()
        self.judge(np.zeros(NUMBERS), False, 0.0)
        self.reset()

    def reset(self) -> None:
        """Forget all motors."""
        self._record, self._times = np.zeros((12, _COLUMNS)), np.full(2, np.nan)

    def judge(self, numbers: Array, serving: bool, time: float) -> MotorFindings:
        """Take in a sample.

        Args:
            numbers: (75), see `take_in`.
            serving: the motors are to follow positions.
            time: of the sample [s]; one that is not later than the last sample's begins anew.
        """
        calm, encoder_fault, encoder, drive_fault, drive = watch_motors(
            numbers, serving, time, self._times, self._record, self._bounds, self._ranges
        )
        if encoder_fault == OK and drive_fault == OK:
            return _CALM if calm else _FAULTLESS
        return MotorFindings(
            calm, self._say(encoder_fault, encoder, numbers, time),
            self._say(drive_fault, drive, numbers, time),
        )  # fmt: skip

    def _say(self, fault: int, motor: int, numbers: Array, time: float) -> Verdict:
        """The verdict on a fault of a motor."""
        if fault == OK:
            return GO
        o, row, name = self._options, self._record[motor], JOINT_LABELS[motor]
        if fault == LEAPT:
            return damp(f"{name}: the encoder leapt to {numbers[Q][motor]:.2f} rad")
        if fault == STUCK:
            return damp(
                f"{name}: the encoder is stuck at {numbers[Q][motor]:.2f} rad (unchanged for "
                f"{1e3 * (time - row[_SINCE]):.0f} ms while the motor moves)"
            )
        if fault == STUCK_SPEED:
            return damp(
                f"{name}: the speed is stuck at {row[_DQ]:.2f} rad/s (unchanged for "
                f"{1e3 * (time - row[_DQ_SINCE]):.0f} ms while the joint went "
                f"{abs(row[_DQ_WAY]):.2f} rad elsewhere)"
            )
        return damp(
            f"{name} is jammed: {numbers[TORQUE][motor]:.0f} N m for {1e3 * o.jam_s:.0f} ms "
            f"without a motion (limit {o.jam_torque:.0f})"
        )


_CALM, _FAULTLESS = MotorFindings(True, GO, GO), MotorFindings(False, GO, GO)
