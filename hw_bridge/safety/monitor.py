"""The monitor: whether the robot's newest state lets it go on."""

import logging

from hw_bridge.intake import Sample
from hw_bridge.options import HardwareSafetyOptions
from hw_bridge.safety.motor_watch import MotorWatch
from hw_bridge.safety.watches import GO, ModeWatch, MotionWatch, ThermalWatch, Verdict, damp
from robots.robot import Robot

LOG = logging.getLogger(__name__)
_SEVERITY = {"go": 0, "sit_down": 1, "damp": 2}


class Monitor:
    """Judges the state once a tick. Deterministic; raises nothing; latches nothing.

    Attributes:
        options: the limits.
        holding: the newest state is late, but not yet too old.
        late: how often that began; the first time is a warning.
        errors: exceptions that were caught; each is a verdict to damp.
    """

    def __init__(self, options: HardwareSafetyOptions, robot: Robot) -> None:
        """Compile what is compiled; no state seen."""
        self.options = options
        self.errors = self.late = 0
        self._thermal = ThermalWatch(self.options)
        self._watches = MotionWatch(options, robot), ModeWatch(self.options)
        self._motors = MotorWatch(options, robot)
        self._warnings: list[str] = []
        self.holding = False
        self._sample: Sample | None = None
        self._verdict = GO
        self._at_rest: bool | None = None  # `serving` for which the watches keep count of nothing

    def judge(
        self, sample: Sample | None, now: float, serving: bool, tilt: float = 0.0
    ) -> Verdict:
        """Return what is to become of the robot.

        Args:
            sample: the newest one, or None where none has come since the last call; the same one
                may be passed again, it is looked at once.
            now: time [s] on the monotonic clock.
            serving: the motors are to follow positions (from stand-up to sit-down). Before, joints
                may lie at the ends of their range and motors be in any mode.
            tilt: by which the motion that is followed may tilt the trunk beyond the limit [rad].
        """
        try:
            return self._judge(sample, now, serving, tilt)
        except Exception as error:
            self.errors += 1
            if self.errors == 1:
                LOG.exception("monitor: an error; damping")
            return damp(f"the monitor failed: {error}")

    def take_warnings(self) -> list[str]:
        """Warnings since the last call, each a line of text."""
        lines = self._warnings + self._thermal.warnings
        self._warnings, self._thermal.warnings = [], []
        return lines

    def _judge(self, sample: Sample | None, now: float, serving: bool, tilt: float) -> Verdict:
        before = self._sample
        sample = sample or before
        if sample is None:
            return damp("no state from the robot yet") if serving else GO
        if sample is not before:
            self._verdict = self._look(sample, serving, tilt)
            self._sample = sample  # only now: one that could not be looked at stays new
        too_old = self._judge_age(now - sample.time)
        return too_old if too_old is not GO else self._verdict

    def _judge_age(self, age: float) -> Verdict:
        """The verdict on the state's age [s]; below zero the clock has gone back."""
        o = self.options
        if not abs(age) <= o.state_age_max_s:
            limit = 1e3 * o.state_age_max_s
            return damp(f"the robot's state is {1e3 * age:.0f} ms old (limit {limit:.0f})")
        late = age > o.state_age_hold_s
        if late and not self.holding:
            self.late += 1
            if self.late == 1:  # a bad cable would fill the log
                self._warnings.append(
                    f"the robot's state is {1e3 * age:.0f} ms old: damping until a newer one "
                    "comes; more of these are only counted"
                )
        self.holding = late
        return GO

    def _look(self, sample: Sample, serving: bool, tilt: float) -> Verdict:
        """The gravest verdict on a new sample.

        The watches of encoders and drives see every sample; the others those that are not calm, and
        the calm ones until all that they keep count of has come to rest.
        """
        time = sample.time
        calm, encoders, drives = self._motors.judge(sample.numbers, serving, time)
        if calm and self._at_rest is serving:
            return drives if encoders is GO else encoders
        state, (motion, mode) = sample.state, self._watches
        verdicts = (
            motion.judge(state, serving, time, tilt),
            mode.judge(state.mode[:12], serving, time),
            encoders,
            drives,
            self._thermal.judge(state.temperature[:12], time),
        )
        self._at_rest = serving if calm and motion.at_rest else None
        return max(verdicts, key=lambda verdict: _SEVERITY[verdict.action])
