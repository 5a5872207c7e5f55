"""The monitor: whether the robot's newest state lets it go on."""

import math

import numpy as np

from hw_bridge.intake import DQ, MODE, NUMBERS, QUATERNION, SQUARE, TEMPERATURE, TORQUE, Q, Sample
from hw_bridge.options import HardwareSafetyOptions
from hw_bridge.safety import watch as w
from hw_bridge.safety.watches import GO, JOINT_LABELS, Verdict, damp
from hw_bridge.wire.layout import BRAKE, OVERHEATED
from robots.robot import Robot
from robots.rotations import tilt_of

# Seen in unitree_legged_sdk thread 54: 0x08 of an overheated motor, 0x00 after lost commands.
MEANINGS = {BRAKE: ", braked, as after lost commands", OVERHEATED: ", overheated"}
_HOT = "{name} at {temperature:.0f} degC (limit {hot:.0f})"
CAUSES = {
    w.TOO_HOT: _HOT,
    w.HOT: _HOT,
    w.BROKEN: "the IMU's quaternion has length {length:.2f} (expected 1)",
    w.TILTED: "the trunk is tilted by {lean:.0f} deg (limit {leant:.0f})",
    w.OUTSIDE: "{name} at {q:.2f} rad (range {low:.2f} to {high:.2f}, "
    "limit {o.excursion_max:.2f} beyond)",
    w.FAST: "{name} at {speed:.1f} rad/s (limit {o.velocity_stop:.0f})",
    w.POWER: "the motors take {power:.0f} W (limit {o.power_stop:.0f})",
    w.LEFT_SERVO: "{name} has left servo mode: the robot's own protection "
    "(mode 0x{mode:02X}{meaning})",
    w.NO_SERVO: "{name} does not enter servo mode (mode 0x{mode:02X}{meaning})",
    w.LEAPT: "{name}: the encoder leapt to {q:.2f} rad",
    w.STUCK: "{name}: the encoder is stuck at {q:.2f} rad (unchanged for {still_ms:.0f} ms while "
    "the motor moves)",
    w.STUCK_SPEED: "{name}: the speed is stuck at {stuck:.2f} rad/s (unchanged for "
    "{stuck_ms:.0f} ms while the joint went {way:.2f} rad elsewhere)",
    w.JAMMED: "{name} is jammed: {torque:.0f} N m for {jam_ms:.0f} ms without a motion "
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
        self.options, self._bounds = options, w.bounds_of(options, robot)
        self.late, self.holding = 0, False
        self.warnings: list[str] = []
        self._seen = w.WatchMemory.make()
        self._warned: set[int] = set()
        self._sample: Sample | None = None
        self._verdict = GO
        w.watch(np.zeros(NUMBERS), False, 0.0, 0.0, *w.WatchMemory.make(), self._bounds)
        # pyrefly: ignore[missing-attribute]
        w.watch.disable_compile()  # a control loop has no time to wait for a compiler

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
            found, motor, is_warm = w.watch(
                sample.numbers, serving, sample.time, tilt, *self._seen, self._bounds
            )
            self._verdict = GO if found == w.OK else self._say(found, motor, sample, tilt)
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
        o, numbers, time = self._bounds[0], sample.numbers, sample.time
        mode, hot = int(numbers[MODE][motor]), w.DAMP_MARGIN if found == w.TOO_HOT else 0.0
        speed, since, way = self._seen.stuck_speed(motor)
        cause = CAUSES[found].format(
            o=o, name=JOINT_LABELS[motor], q=numbers[Q][motor], speed=abs(numbers[DQ][motor]),
            torque=numbers[TORQUE][motor], temperature=numbers[TEMPERATURE][motor],
            hot=o.temperature_stop + hot, mode=mode, meaning=MEANINGS.get(mode, ""),
            low=o.ranges[0, motor], high=o.ranges[1, motor], length=math.sqrt(numbers[SQUARE]),
            lean=math.degrees(tilt_of(numbers[QUATERNION])),
            leant=math.degrees(o.tilt_max + tilt),
            power=np.abs(numbers[TORQUE] * numbers[DQ]).sum(), jam_ms=1e3 * o.jam_s,
            still_ms=1e3 * (time - self._seen.still_since(motor)),
            stuck=speed, stuck_ms=1e3 * (time - since), way=way,
        )  # fmt: skip
        return Verdict("sit_down", cause) if found == w.HOT else damp(cause)
