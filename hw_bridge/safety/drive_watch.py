"""Speeds that stick and joints that jam: what a motor says of itself against its position.

A speed that has stuck repeats its value bit for bit. So may one of a motor that rests; but then the
position goes nowhere else than the speed says. After some time it begins anew, so that a rounded
speed cannot add up.

A jammed joint does not move although its motor pushes hard and long. The largest torques that a
walk, a push of 2.5 m/s, a jump, a flip or a stand on two legs holds without moving (over 20 N m)
lasted 59 ms in simulation; a stand takes 12 N m.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.safety.encoder_watch import LONGEST_STEP_S, SAMPLES, WAY, WINDOW_FACTOR
from hw_bridge.safety.options import HardwareSafetyOptions
from hw_bridge.safety.verdict import GO, JOINT_LABELS, Verdict, damp
from hw_bridge.take_in import DQ, NUMBERS, TORQUE, Q

Array = NDArray[np.float64]

OK, STUCK, JAMMED = 0, 1, 2

# Columns of the record of one motor: the last sample, how long its speed has not changed and what
# the position has travelled beyond it, and since when it has pushed where.
_Q, _DQ, _SINCE, _SAMPLES, _WAY, _PUSHED_SINCE, _PUSHED_AT = range(7)


@njit(cache=True)
def _watch(
    record: Array, numbers: Array, time: float, step_s: float, stuck_s: float, jam_torque: float,
    jam_way: float, jam_s: float,
) -> tuple[int, int]:  # fmt: skip
    """Take in a sample `step_s` [s] after the one before; what is wrong, and the motor."""
    fault, found = OK, -1
    positions, speeds, torques = numbers[Q], numbers[DQ], numbers[TORQUE]
    for i in range(12):
        row, q, dq = record[i], positions[i], speeds[i]
        row[_SAMPLES] += 1.0
        row[_WAY] += q - row[_Q] - dq * step_s
        still_s = time - row[_SINCE]
        if dq != row[_DQ] or step_s > LONGEST_STEP_S or still_s > WINDOW_FACTOR * stuck_s:
            row[_DQ], row[_SINCE], row[_SAMPLES], row[_WAY] = dq, time, 0.0, 0.0
        elif still_s >= stuck_s and row[_SAMPLES] >= SAMPLES and abs(row[_WAY]) > WAY:
            fault, found = STUCK, i
        row[_Q] = q
        if not (abs(torques[i]) >= jam_torque and abs(q - row[_PUSHED_AT]) <= jam_way):
            row[_PUSHED_SINCE], row[_PUSHED_AT] = time, q
        elif fault == OK and time - row[_PUSHED_SINCE] >= jam_s:
            fault, found = JAMMED, i
    return fault, found


class DriveWatch:
    """Judges the speeds and torques of the 12 motors while they serve.

    Limp legs are folded by hand, and a robot that boots may read zeros.
    """

    def __init__(self, options: HardwareSafetyOptions) -> None:
        """Compile what is compiled; nothing seen."""
        self._options = options
        self.reset()
        for time in (0.0, 1e-3):
            self.judge(np.zeros(NUMBERS), True, time)
        self.reset()

    def reset(self) -> None:
        """Forget all motors."""
        self._record = np.zeros((12, 7))
        self._time: float | None = None

    def judge(self, numbers: Array, serving: bool, time: float) -> Verdict:
        """The verdict on a sample.

        Args:
            numbers: (75) of the sample, see `take_in`.
            serving: the motors are to follow positions.
            time: of the sample [s]; one that is not later than the last sample's begins anew.
        """
        before, self._time = self._time, time if serving else None
        if not serving:
            return GO
        if before is None or time <= before:
            self._begin(numbers, time)
            return GO
        o = self._options
        fault, motor = _watch(
            self._record, numbers, time, time - before, o.velocity_stuck_s, o.jam_torque, o.jam_way,
            o.jam_s,
        )  # fmt: skip
        if fault == STUCK:
            return damp(self._say_stuck(motor, time))
        if fault == JAMMED:
            torque = numbers[TORQUE][motor]
            return damp(
                f"{JOINT_LABELS[motor]} is jammed: {torque:.0f} N m for {1e3 * o.jam_s:.0f} ms "
                f"without a motion (limit {o.jam_torque:.0f})"
            )
        return GO

    def _begin(self, numbers: Array, time: float) -> None:
        record = self._record
        record[:, _Q] = record[:, _PUSHED_AT] = numbers[Q]
        record[:, _DQ], record[:, _SAMPLES], record[:, _WAY] = numbers[DQ], 0.0, 0.0
        record[:, _SINCE] = record[:, _PUSHED_SINCE] = time

    def _say_stuck(self, motor: int, time: float) -> str:
        row = self._record[motor]
        return (
            f"{JOINT_LABELS[motor]}: the speed is stuck at {row[_DQ]:.2f} rad/s (unchanged for "
            f"{1e3 * (time - row[_SINCE]):.0f} ms while the joint went {abs(row[_WAY]):.2f} rad "
            "elsewhere)"
        )
