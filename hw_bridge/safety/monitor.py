"""The monitor: whether the robot's newest state lets it go on. One compiled look at each sample.

What must last before it is believed is timed by the samples' own time: time that goes back begins
anew; time that leaps ahead counts, because nothing was seen to be otherwise.

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
from typing import Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.intake import DQ, MODE, NUMBERS, QUATERNION, SQUARE, TEMPERATURE, TORQUE, Q, Sample
from hw_bridge.options import HardwareSafetyOptions
from hw_bridge.safety.limits import Bounds, bounds_of
from hw_bridge.wire.layout import BRAKE, OVERHEATED, SERVO
from robots.conventions import JOINT_LABELS
from robots.record import Record
from robots.robot import Robot
from robots.rotations import tilt_of

Array = NDArray[np.float64]

WAY = 0.02  # [rad] by which the speed says the joint has moved; the encoder's step is 4e-5
TORQUE_SWING = 4.0  # [N m] of the motor's torque, no friction in the gear holds a joint against
LEG_WAY = 0.3  # [rad] that each other joint of the leg has travelled
LEG_FACTOR = 5.0  # times as long must a position stand still beside a moving leg
SAMPLES = 10  # a position or speed must have been repeated in, however long frames were lost
CONFIRM_S = 0.01  # for which what is wrong must last to be believed
POWER_SAMPLES = 12.0  # more above than below the limit stop the robot; the vendor's are 6 of 2 ms
MODE_LOST_S, MODE_START_S = 0.02, 0.25  # out of servo mode; that a motor may take to enter it
STUCK_S = 0.05  # for which a position or a speed may not change in a bit while the other does
JAM_WAY, JAM_S = 0.02, 0.3  # [rad], [s] a motor pushes so long, and moves its joint no further
LONGEST_STEP_S = 0.005  # for which one sample of a speed speaks, when frames are lost
WINDOW_FACTOR = 10.0  # times as long are words for a motion added up, then anew
NEAR_STOP = 0.03  # [rad] from the end of the range a joint may press on its stop without moving
LEAP = 0.2  # [rad] more than the fastest joint travels between two samples
UNIT_TOLERANCE = 0.02  # of a quaternion's squared length
DAMP_MARGIN = 5.0  # [deg C] above temperature_stop at which there is no time to sit down

# What is found, the gravest first.
OK, BROKEN, TILTED, OUTSIDE, FAST, POWER, LEFT_SERVO, NO_SERVO = range(8)
STUCK, LEAPT, STUCK_SPEED, JAMMED, TOO_HOT, HOT = range(8, 14)

# What is remembered beside the motors' record: since when each has lasted, NaN for not at all [s];
# samples above the power limit less those below, as the vendor counts; times of the last sample, as
# encoders and as drives count it, NaN for none [s].
_BROKEN, _TILTED, _OUT, _FAST, _LOST, _REFUSED, _HOT, _TOO_HOT, _EXCESS, _TIME, _DRIVE_TIME = range(
    11
)

# Columns of the record of one motor. Encoder: position, since when and for how many samples it has
# not changed, what speed, torques and the leg's joints said meanwhile, and its own way.
_Q, _SINCE, _SAMPLES, _TRAVEL, _LEAST, _MOST, _PATH, _PATH_A, _PATH_B = range(9)
# Drive: the last sample, how long its speed has not changed and what the position has travelled
# beyond it, and since when it has pushed where.
_LAST_Q, _DQ, _DQ_SINCE, _DQ_SAMPLES, _DQ_WAY, _PUSHED_SINCE, _PUSHED_AT = range(9, 16)
_SERVED = 16  # whether it was in servo mode since it is to serve
_COLUMNS = 17


@njit(cache=True)
def _restart(record: Array, motor: int, q: float, torque: float, time: float) -> None:
    """Begin to watch position `q` of a motor."""
    leg, row = 3 * (motor // 3), record[motor]
    row[_Q], row[_SINCE], row[_SAMPLES], row[_TRAVEL] = q, time, 0.0, 0.0
    row[_LEAST], row[_MOST] = torque, torque
    row[_PATH_A] = record[leg + (motor + 1 - leg) % 3, _PATH]
    row[_PATH_B] = record[leg + (motor + 2 - leg) % 3, _PATH]


@njit(cache=True)
def _must_move(record: Array, motor: int, loaded: bool, still_s: float, b: Bounds) -> bool:
    """Whether something says that a motor moves whose position stands still."""
    leg, row = 3 * (motor // 3), record[motor]
    if abs(row[_TRAVEL]) > WAY:
        return True
    if not loaded or still_s < STUCK_S:
        return False
    inside = b.lower + NEAR_STOP < row[_Q] < b.upper - NEAR_STOP
    if inside and row[_MOST] - row[_LEAST] > TORQUE_SWING:
        return True
    way_a = record[leg + (motor + 1 - leg) % 3, _PATH] - row[_PATH_A]
    way_b = record[leg + (motor + 2 - leg) % 3, _PATH] - row[_PATH_B]
    return still_s > LEG_FACTOR * STUCK_S and min(way_a, way_b) > LEG_WAY


@njit(cache=True)
def _watch_encoders(
    record: Array, q: Array, dq: Array, torque: Array, loaded: bool, time: float, step_s: float,
    bounds: Record,
) -> tuple[int, int]:  # fmt: skip
    """Take in a sample `step_s` [s] after the one before; what is wrong, and the motor."""
    fault, found, fastest = OK, -1, bounds[0].velocity_stop
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
        if still_s < STUCK_S or row[_SAMPLES] < SAMPLES:
            continue
        if fault == OK and _must_move(record, i, loaded, still_s, bounds[i]):
            fault, found = STUCK, i
        elif still_s > WINDOW_FACTOR * STUCK_S:
            _restart(record, i, q[i], torque[i], time)
    return fault, found


@njit(cache=True)
def _watch_drives(
    record: Array, numbers: Array, time: float, step_s: float, o: Bounds
) -> tuple[int, int]:
    """Take in a sample `step_s` [s] after the one before; what is wrong, and the motor."""
    fault, found = OK, -1
    positions, speeds, torques = numbers[Q], numbers[DQ], numbers[TORQUE]
    for i in range(12):
        row, q, dq = record[i], positions[i], speeds[i]
        row[_DQ_SAMPLES] += 1.0
        row[_DQ_WAY] += q - row[_LAST_Q] - dq * step_s
        still_s = time - row[_DQ_SINCE]
        if dq != row[_DQ] or step_s > LONGEST_STEP_S or still_s > WINDOW_FACTOR * STUCK_S:
            row[_DQ], row[_DQ_SINCE], row[_DQ_SAMPLES], row[_DQ_WAY] = dq, time, 0.0, 0.0
        elif still_s >= STUCK_S and row[_DQ_SAMPLES] >= SAMPLES and abs(row[_DQ_WAY]) > WAY:
            fault, found = STUCK_SPEED, i
        row[_LAST_Q] = q
        if not (abs(torques[i]) >= o.jam_torque and abs(q - row[_PUSHED_AT]) <= JAM_WAY):
            row[_PUSHED_SINCE], row[_PUSHED_AT] = time, q
        elif fault == OK and time - row[_PUSHED_SINCE] >= JAM_S:
            fault, found = JAMMED, i
    return fault, found


@njit(cache=True)
def _watch_motors(
    numbers: Array, serving: bool, time: float, memory: Array, record: Array, bounds: Record
) -> tuple[int, int]:
    """Judge positions, speeds and torques of the motors against each other.

    Of limp legs only positions are watched, and torque, leaps and the leg's motion do not count:
    legs may be folded by hand, and a robot that boots may read zero.
    """
    q, dq, torque = numbers[Q], numbers[DQ], numbers[TORQUE]
    fault, motor, drive_fault, drive = OK, -1, OK, -1
    before, memory[_TIME] = memory[_TIME], time
    if time > before:
        fault, motor = _watch_encoders(record, q, dq, torque, serving, time, time - before, bounds)
    else:
        for i in range(12):
            _restart(record, i, q[i], torque[i], time)
    before, memory[_DRIVE_TIME] = memory[_DRIVE_TIME], time if serving else np.nan
    if serving and time > before:
        drive_fault, drive = _watch_drives(record, numbers, time, time - before, bounds[0])
    elif serving:
        for i in range(12):
            row = record[i]
            row[_LAST_Q] = row[_PUSHED_AT] = q[i]
            row[_DQ], row[_DQ_SAMPLES], row[_DQ_WAY] = dq[i], 0.0, 0.0
            row[_DQ_SINCE] = row[_PUSHED_SINCE] = time
    return (fault, motor) if fault != OK else (drive_fault, drive)


@njit(cache=True)
def _lasts(memory: Array, which: int, is_so: bool, time: float, needed_s: float) -> bool:
    """Whether something has lasted for so long, in two samples at least, with this one."""
    if not is_so:
        memory[which] = np.nan
        return False
    if np.isnan(memory[which]) or time < memory[which]:
        memory[which] = time
        return False
    return time - memory[which] >= needed_s


@njit(cache=True)
def _watch_motion(
    numbers: Array, serving: bool, time: float, allowance: float, memory: Array, bounds: Record
) -> tuple[int, int]:
    """Judge what IMU and encoders say. A number that is not finite counts as out of bounds.

    A joint's range counts only while the motors serve: folded legs rest at its end.
    """
    q, dq, torque, o = numbers[Q], numbers[DQ], numbers[TORQUE], bounds[0]
    unit = abs(numbers[SQUARE] - 1.0) <= UNIT_TOLERANCE
    broken = _lasts(memory, _BROKEN, not unit, time, CONFIRM_S)
    tilted = False
    if not broken:
        most = o.tilt_max + allowance  # NaN allows nothing
        is_level = not unit or tilt_of(numbers[QUATERNION]) <= most
        tilted = _lasts(memory, _TILTED, not is_level, time, CONFIRM_S)
    is_out, is_fast, power = False, False, 0.0
    beyond, speed = np.empty(12), np.abs(dq)
    for i in range(12):
        beyond[i] = max(bounds[i].lower - q[i], q[i] - bounds[i].upper)
        is_out |= not beyond[i] <= o.excursion_max
        is_fast |= not speed[i] <= o.velocity_stop
        power += abs(torque[i] * dq[i])
    is_out = _lasts(memory, _OUT, serving and is_out, time, CONFIRM_S)
    is_fast = _lasts(memory, _FAST, is_fast, time, CONFIRM_S)
    excess = memory[_EXCESS] + (-1.0 if power <= o.power_stop else 1.0)
    memory[_EXCESS] = min(POWER_SAMPLES, max(0.0, excess))
    if broken:
        return BROKEN, -1
    if tilted:
        return TILTED, -1
    if is_out:
        return OUTSIDE, int(np.argmax(beyond))
    if is_fast:
        return FAST, int(np.argmax(speed))
    return (POWER, -1) if memory[_EXCESS] >= POWER_SAMPLES else (OK, -1)


@njit(cache=True)
def _watch_modes(
    mode: Array, serving: bool, time: float, memory: Array, record: Array
) -> tuple[int, int]:
    """Judge the modes of the motors while they are to serve."""
    if not serving:
        memory[_LOST] = memory[_REFUSED] = np.nan
        record[:, _SERVED] = 0.0
        return OK, -1
    lost, off = -1, -1
    for i in range(11, -1, -1):
        if mode[i] == SERVO:
            record[i, _SERVED] = 1.0
            continue
        off = i
        if record[i, _SERVED] != 0.0:
            lost = i
    if _lasts(memory, _LOST, lost >= 0, time, MODE_LOST_S):
        return LEFT_SERVO, lost
    if _lasts(memory, _REFUSED, off >= 0, time, MODE_START_S):
        return NO_SERVO, off
    return OK, -1


@njit(cache=True)
def watch(
    numbers: Array, serving: bool, time: float, allowance: float, memory: Array, motors: Array,
    bounds: Record,
) -> tuple[int, int, bool]:  # fmt: skip
    """Take in a sample; return the gravest of what it says, the motor, and if one is warm.

    Args:
        numbers: (75) of the sample, see `take_in`.
        serving: the motors are to follow positions.
        time: of the sample [s].
        allowance: by which the motion that is followed may tilt the trunk beyond the limit [rad].
        memory, motors: what is remembered, see above.
        bounds: (12) see `bounds_of`.
    """
    o = bounds[0]
    found, motor = _watch_motion(numbers, serving, time, allowance, memory, bounds)
    other, at = _watch_modes(numbers[MODE], serving, time, memory, motors)
    found, motor = (found, motor) if found != OK else (other, at)
    other, at = _watch_motors(numbers, serving, time, memory, motors, bounds)
    found, motor = (found, motor) if found != OK else (other, at)
    hottest = int(np.argmax(numbers[TEMPERATURE]))
    highest = numbers[TEMPERATURE][hottest]
    hot = _lasts(memory, _HOT, highest >= o.temperature_stop, time, CONFIRM_S)
    limit = o.temperature_stop + DAMP_MARGIN
    too_hot = _lasts(memory, _TOO_HOT, highest >= limit, time, CONFIRM_S)
    if found == OK and hot:
        found, motor = TOO_HOT if too_hot else HOT, hottest
    return found, motor, highest >= o.temperature_warn


class Verdict(NamedTuple):
    """Decision about the robot, and its reason.

    Attributes:
        action: ``go`` on, ``sit_down`` in order, or ``damp`` at once.
        cause: one line of text, with the joint, the value and the limit; "" for ``go``.
    """

    action: Literal["go", "sit_down", "damp"]
    cause: str


GO = Verdict("go", "")


def damp(cause: str) -> Verdict:
    """The verdict to damp at once."""
    return Verdict("damp", cause)


# Seen in unitree_legged_sdk thread 54: 0x08 of an overheated motor, 0x00 after lost commands.
MEANINGS = {BRAKE: ", braked, as after lost commands", OVERHEATED: ", overheated"}
_WARM = "{name} at {temperature:.0f} degC (limit {hot:.0f})"
CAUSES = {
    TOO_HOT: _WARM,
    HOT: _WARM,
    BROKEN: "the IMU's quaternion has length {length:.2f} (expected 1)",
    TILTED: "the trunk is tilted by {lean:.0f} deg (limit {leant:.0f})",
    OUTSIDE: "{name} at {q:.2f} rad (range {o.lower:.2f} to {o.upper:.2f}, "
    "limit {o.excursion_max:.2f} beyond)",
    FAST: "{name} at {speed:.1f} rad/s (limit {o.velocity_stop:.0f})",
    POWER: "the motors take {power:.0f} W (limit {o.power_stop:.0f})",
    LEFT_SERVO: "{name} has left servo mode: the robot's own protection "
    "(mode 0x{mode:02X}{meaning})",
    NO_SERVO: "{name} does not enter servo mode (mode 0x{mode:02X}{meaning})",
    LEAPT: "{name}: the encoder leapt to {q:.2f} rad",
    STUCK: "{name}: the encoder is stuck at {q:.2f} rad (unchanged for {still_ms:.0f} ms while "
    "the motor moves)",
    STUCK_SPEED: "{name}: the speed is stuck at {stuck:.2f} rad/s (unchanged for "
    "{stuck_ms:.0f} ms while the joint went {way:.2f} rad elsewhere)",
    JAMMED: "{name} is jammed: {torque:.0f} N m for {jam_ms:.0f} ms without a motion "
    "(limit {o.jam_torque:.0f})",
}


class Monitor:
    """Judges the state once a tick. Deterministic; latches nothing.

    Attributes:
        options: the limits.
        holding: the newest state is late, but not yet too old.
        late: how often that began; the first time is a warning.
        warnings: lines of text, for its user to take.
    """

    def __init__(self, options: HardwareSafetyOptions, robot: Robot) -> None:
        """Compile what is compiled; no state seen."""
        self.options, self._bounds = options, bounds_of(options, robot)
        self.late, self.holding = 0, False
        self.warnings: list[str] = []
        self._memory, self._motors = np.full(_DRIVE_TIME + 1, np.nan), np.zeros((12, _COLUMNS))
        self._memory[_EXCESS] = 0.0
        self._warned: set[int] = set()
        self._sample: Sample | None = None
        self._verdict = GO
        memory = self._memory.copy(), self._motors.copy()
        watch(np.zeros(NUMBERS), False, 0.0, 0.0, *memory, self._bounds)
        # pyrefly: ignore[missing-attribute]
        watch.disable_compile()  # a control loop has no time to wait for a compiler

    def judge(self, sample: Sample | None, now: float, serving: bool, tilt: float = 0.0) -> Verdict:
        """Return what is to become of the robot.

        Args:
            sample: the newest one, or None where none has come since the last call; the same one
                may be passed again, it is looked at once.
            now: time [s] on the monotonic clock.
            serving: the motors are to follow positions (from stand-up to sit-down). Before, joints
                may lie at the ends of their range and motors be in any mode.
            tilt: by which the motion that is followed may tilt the trunk beyond the limit [rad].
        """
        before = self._sample
        sample = sample or before
        if sample is None:
            return damp("no state from the robot yet") if serving else GO
        if sample is not before:
            found, motor, is_warm = watch(
                sample.numbers, serving, sample.time, tilt, self._memory, self._motors,
                self._bounds,
            )  # fmt: skip
            self._verdict = GO if found == OK else self._say(found, motor, sample, tilt)
            if is_warm:
                self._warn(sample)
            self._sample = sample
        age, o = now - sample.time, self.options
        if abs(age) <= o.state_age_hold_s:
            self.holding = False
            return self._verdict
        if not abs(age) <= o.state_age_max_s:  # below zero the clock has gone back
            limit = 1e3 * o.state_age_max_s
            return damp(f"the robot's state is {1e3 * age:.0f} ms old (limit {limit:.0f})")
        if age > 0.0 and not self.holding:
            self.late += 1
            if self.late == 1:  # a bad cable would fill the log
                self.warnings.append(
                    f"the robot's state is {1e3 * age:.0f} ms old: damping until a newer one "
                    "comes; more of these are only counted"
                )
        self.holding = age > 0.0
        return self._verdict

    def _warn(self, sample: Sample) -> None:
        """Warn of each motor that is warm, once."""
        temperature, warn = sample.numbers[TEMPERATURE], self.options.temperature_warn
        for motor in np.flatnonzero(temperature >= warn).tolist():
            if motor not in self._warned:
                self._warned.add(motor)
                self.warnings.append(
                    f"{JOINT_LABELS[motor]} at {temperature[motor]:.0f} degC "
                    f"(warning from {warn:.0f})"
                )

    def _say(self, found: int, motor: int, sample: Sample, tilt: float) -> Verdict:
        """The verdict on what was found."""
        o, numbers, time = self._bounds[motor], sample.numbers, sample.time
        mode, hot = int(numbers[MODE][motor]), DAMP_MARGIN if found == TOO_HOT else 0.0
        seen = self._motors[motor]
        cause = CAUSES[found].format(
            o=o, name=JOINT_LABELS[motor], q=numbers[Q][motor], speed=abs(numbers[DQ][motor]),
            torque=numbers[TORQUE][motor], temperature=numbers[TEMPERATURE][motor],
            hot=o.temperature_stop + hot, mode=mode, meaning=MEANINGS.get(mode, ""),
            length=math.sqrt(numbers[SQUARE]),
            lean=math.degrees(tilt_of(numbers[QUATERNION])),
            leant=math.degrees(o.tilt_max + tilt),
            power=np.abs(numbers[TORQUE] * numbers[DQ]).sum(), jam_ms=1e3 * JAM_S,
            still_ms=1e3 * (time - seen[_SINCE]),
            stuck=seen[_DQ], stuck_ms=1e3 * (time - seen[_DQ_SINCE]), way=abs(seen[_DQ_WAY]),
        )  # fmt: skip
        return Verdict("sit_down", cause) if found == HOT else damp(cause)
