"""Encoders that stick or leap: positions that cannot be true.

An encoder that has stuck repeats its position bit for bit. So does one of a motor that rests, hence
something must say that the motor moves: its measured speed, which integrates to a way that the
position does not show; or its torque, which under the joint's stiffness moves it; or the leg's
other joints, both of which have come a long way. After some time without such a word it begins
anew, so that a bias of the speed cannot add up at rest.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.safety.options import HardwareSafetyOptions
from hw_bridge.safety.verdict import GO, JOINT_LABELS, Verdict, damp
from robots.a1.constants import JOINT_LOWER, JOINT_UPPER

Array = NDArray[np.float64]

WAY = 0.02  # [rad] by which the speed says the joint has moved; the encoder's step is 4e-5
TORQUE_SWING = 4.0  # [N m] of the motor's torque, no friction in the gear holds a joint against
LEG_WAY = 0.3  # [rad] that each other joint of the leg has travelled
LEG_FACTOR = 5.0  # times as long must a position stand still beside a moving leg
SAMPLES = 10  # a position must have been repeated in, however long frames were lost
LONGEST_STEP_S = 0.005  # for which one sample of a speed speaks, when frames are lost
WINDOW_FACTOR = 10.0  # times as long are words for a motion added up, then anew
NEAR_STOP = 0.03  # [rad] from the end of the range a joint may press on its stop without moving
LEAP = 0.2  # [rad] more than the fastest joint travels between two samples
OK, STUCK, LEAPT = 0, 1, 2

# Columns of the record of one motor.
_Q, _SINCE, _SAMPLES, _TRAVEL, _LEAST, _MOST, _PATH, _PATH_A, _PATH_B = range(9)


@njit(cache=True)
def _restart(record: Array, motor: int, q: float, torque: float, time: float) -> None:
    """Begin to watch position `q` of a motor."""
    leg, row = 3 * (motor // 3), record[motor]
    row[_Q], row[_SINCE], row[_SAMPLES], row[_TRAVEL] = q, time, 0.0, 0.0
    row[_LEAST], row[_MOST] = torque, torque
    row[_PATH_A] = record[leg + (motor + 1 - leg) % 3, _PATH]
    row[_PATH_B] = record[leg + (motor + 2 - leg) % 3, _PATH]


@njit(cache=True)
def _must_move(record: Array, motor: int, loaded: bool, still_s: float, stuck_s: float) -> bool:
    """Whether something says that a motor moves whose position stands still."""
    leg, row = 3 * (motor // 3), record[motor]
    if abs(row[_TRAVEL]) > WAY:
        return True
    if not loaded or still_s < stuck_s:
        return False
    inside = JOINT_LOWER[motor] + NEAR_STOP < row[_Q] < JOINT_UPPER[motor] - NEAR_STOP
    if inside and row[_MOST] - row[_LEAST] > TORQUE_SWING:
        return True
    way_a = record[leg + (motor + 1 - leg) % 3, _PATH] - row[_PATH_A]
    way_b = record[leg + (motor + 2 - leg) % 3, _PATH] - row[_PATH_B]
    return still_s > LEG_FACTOR * stuck_s and min(way_a, way_b) > LEG_WAY


@njit(cache=True)
def _watch(
    record: Array, q: Array, dq: Array, torque: Array, loaded: bool, time: float, step_s: float,
    stuck_s: float, fastest: float,
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
        if fault == OK and _must_move(record, i, loaded, still_s, stuck_s):
            fault, found = STUCK, i
        elif still_s > WINDOW_FACTOR * stuck_s:
            _restart(record, i, q[i], torque[i], time)
    return fault, found


class EncoderWatch:
    """Judges the positions of the 12 motors against everything else that is measured."""

    def __init__(self, options: HardwareSafetyOptions) -> None:
        """Compile what is compiled; nothing seen."""
        self._options = options
        self.reset()
        zero = np.zeros(12)
        for time in (0.0, 1.0):  # the first sample and the others are compiled apart
            self.judge(zero, zero, zero, False, time)
        self.reset()

    def reset(self) -> None:
        """Forget all positions."""
        self._record = np.zeros((12, 9))
        self._time: float | None = None

    def judge(self, q: Array, dq: Array, torque: Array, serving: bool, time: float) -> Verdict:
        """The verdict on a sample.

        Args:
            q, dq: (12) measured joints [rad], [rad/s].
            torque: (12) estimated torque of the motors [N m].
            serving: the motors hold the joints; only then do torque and the leg's motion speak, and
                leaps count: limp legs may be moved by hand, and a robot that boots may read zero.
            time: of the sample [s]; one that is not later than the last sample's begins anew.
        """
        before, self._time = self._time, time
        if before is None or time <= before:
            for motor in range(12):
                _restart(self._record, motor, q[motor], torque[motor], time)
            return GO
        fault, motor = self._update(q, dq, torque, serving, time, time - before)
        if fault == LEAPT:
            return damp(f"{JOINT_LABELS[motor]}: the encoder leapt to {q[motor]:.2f} rad")
        if fault == STUCK:
            still = time - self._record[motor, _SINCE]
            return damp(
                f"{JOINT_LABELS[motor]}: the encoder is stuck at {q[motor]:.2f} rad "
                f"(unchanged for {1e3 * still:.0f} ms while the motor moves)"
            )
        return GO

    def _update(
        self, q: Array, dq: Array, torque: Array, serving: bool, time: float, step_s: float
    ) -> tuple[int, int]:
        o = self._options
        return _watch(
            self._record, np.ascontiguousarray(q), np.ascontiguousarray(dq),
            np.ascontiguousarray(torque), serving, time, step_s, o.encoder_stuck_s, o.velocity_stop,
        )  # fmt: skip
