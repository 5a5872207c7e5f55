"""Watches of one thing each, and their verdicts: motion, modes, temperatures, our own sending."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hw_bridge.options import HardwareSafetyOptions, velocity_stop
from hw_bridge.wire.layout import BRAKE, OVERHEATED, SERVO
from hw_bridge.wire.low_state import LowState
from robots.conventions import JOINT_NAMES

if TYPE_CHECKING:
    from robots.robot import Robot

JOINT_LABELS = tuple(name.removesuffix("_joint").replace("_", " ") for name in JOINT_NAMES)


UNIT_TOLERANCE = 0.02  # of a quaternion's squared length


class Verdict(NamedTuple):
    """What is to become of the robot, and why.

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


class Debounce:
    """Watches one yes-or-no fact over the samples' own time."""

    def __init__(self, needed_s: float) -> None:
        """It has lasted once it has been so for `needed_s` [s], in two samples at least."""
        self._needed_s = needed_s
        self._since: float | None = None

    def reset(self) -> None:
        """Begin anew."""
        self._since = None

    def update(self, is_so: bool, time: float) -> bool:
        """Whether it has lasted, with this sample of time `time` [s].

        Time that goes back begins anew; time that leaps ahead counts, because nothing was seen to
        be otherwise.
        """
        if not is_so:
            self._since = None
            return False
        if self._since is None or time < self._since:
            self._since = time
            return False
        return time - self._since >= self._needed_s


class SendingWatch:
    """Watches the time from one command to the next."""

    def __init__(self, gap_max_s: float) -> None:
        """No command yet; motors that serve may wait `gap_max_s` [s] for the next."""
        self._gap_max_s = gap_max_s
        self._last: float | None = None

    def judge(self, serving: bool, now: float) -> Verdict:
        """The verdict on a command that is sent at `now` [s].

        Args:
            serving: the motors follow positions of the command before.
            now: on the monotonic clock.
        """
        last, self._last = self._last, now
        if not serving or last is None or now - last <= self._gap_max_s:
            return GO
        limit = 1e3 * self._gap_max_s
        return damp(f"no command was sent for {1e3 * (now - last):.0f} ms (limit {limit:.0f})")


# Seen in unitree_legged_sdk thread 54: 0x08 of an overheated motor, 0x00 after lost commands.
MEANINGS = {BRAKE: ", braked, as after lost commands", OVERHEATED: ", overheated"}


class ModeWatch:
    """Judges the modes of the 12 motors while they are to serve."""

    def __init__(self, options: HardwareSafetyOptions) -> None:
        """Begin with no motor in servo mode."""
        self._options = options
        self._lost = Debounce(options.mode_lost_s)
        self._refused = Debounce(options.mode_start_s)
        self._served = np.zeros(12, dtype=np.bool_)  # seen in servo mode since they are to serve

    def judge(self, mode: NDArray[np.int64], serving: bool, time: float) -> Verdict:
        """The verdict on modes (12) of the sample at `time` [s]."""
        if not serving:
            self._lost.reset()
            self._refused.reset()
            self._served[:] = False
            return GO
        off = mode != SERVO
        self._served |= ~off
        if self._lost.update(bool((off & self._served).any()), time):
            motor = int((off & self._served).argmax())
            what = "has left servo mode: the robot's own protection"
        elif self._refused.update(bool(off.any()), time):
            motor, what = int(off.argmax()), "does not enter servo mode"
        else:
            return GO
        seen = int(mode[motor])
        return damp(f"{JOINT_LABELS[motor]} {what} (mode 0x{seen:02X}{MEANINGS.get(seen, '')})")


DAMP_MARGIN = 5.0  # [deg C] above temperature_stop at which there is no time to sit down


class ThermalWatch:
    """Judges the temperatures of the 12 motors.

    Attributes:
        warnings: lines since the monitor took them; one a motor.
    """

    def __init__(self, options: HardwareSafetyOptions) -> None:
        """Begin with no motor known to be warm."""
        self.warnings: list[str] = []
        self._options = options
        self._warned: set[int] = set()
        self._hot, self._too_hot = Debounce(options.confirm_s), Debounce(options.confirm_s)

    def judge(self, temperature: NDArray[np.int64], time: float) -> Verdict:
        """The verdict on temperatures (12) [deg C] of the sample at `time` [s]."""
        stop, hottest = self._options.temperature_stop, int(temperature.argmax())
        highest = float(temperature[hottest])
        if highest >= self._options.temperature_warn:
            self._warn(temperature)
        hot = self._hot.update(highest >= stop, time)
        too_hot = self._too_hot.update(highest >= stop + DAMP_MARGIN, time)
        limit = stop + DAMP_MARGIN if too_hot else stop
        cause = f"{JOINT_LABELS[hottest]} at {highest:.0f} degC (limit {limit:.0f})"
        if too_hot:
            return damp(cause)
        return Verdict("sit_down", cause) if hot else GO

    def _warn(self, temperature: NDArray[np.int64]) -> None:
        warn = self._options.temperature_warn
        for motor in np.flatnonzero(temperature >= warn).tolist():
            if motor not in self._warned:
                self._warned.add(motor)
                self.warnings.append(
                    f"{JOINT_LABELS[motor]} at {temperature[motor]} degC (warning from {warn:.0f})"
                )


class MotionWatch:
    """Judges what IMU and encoders say. A number that is not finite counts as out of bounds."""

    def __init__(self, options: HardwareSafetyOptions, robot: Robot) -> None:
        """Begin with nothing seen."""
        self._options = options
        self._lower, self._upper = robot.legs.lower, robot.legs.upper
        self._fastest = velocity_stop(options, robot)
        self._broken, self._tilted, self._out, self._fast = (
            Debounce(options.confirm_s) for _ in range(4)
        )
        self._excess = 0  # samples above the power limit less those below, as the vendor counts

    @property
    def at_rest(self) -> bool:
        """Whether, after a calm sample, it keeps count of nothing any more."""
        return self._excess == 0

    def judge(self, state: LowState, serving: bool, time: float, tilt: float = 0.0) -> Verdict:
        """The verdict on the sample at `time` [s].

        A joint's range counts only while the motors serve: folded legs rest at its end. The motion
        that is followed may tilt the trunk by `tilt` [rad] beyond the limit.
        """
        verdicts = (
            self._attitude(state, time, tilt),
            self._range(state, serving, time),
            self._speed(state, time),
            self._power(state),
        )
        return next((verdict for verdict in verdicts if verdict is not GO), GO)

    def _attitude(self, state: LowState, time: float, allowance: float) -> Verdict:
        w, x, y, z = state.quaternion_wxyz.tolist()
        square = w * w + x * x + y * y + z * z
        unit = abs(square - 1.0) <= UNIT_TOLERANCE
        if self._broken.update(not unit, time):
            length = math.sqrt(square)
            return damp(f"the IMU's quaternion has length {length:.2f} (expected 1)")
        cosine = 1.0 - 2.0 * (x * x + y * y) / square if unit else 1.0
        tilt = math.acos(min(1.0, max(-1.0, cosine)))
        most = self._options.tilt_max + allowance
        if self._tilted.update(not tilt <= most, time):  # NaN allows nothing
            limit = math.degrees(most)
            return damp(f"the trunk is tilted by {math.degrees(tilt):.0f} deg (limit {limit:.0f})")
        return GO

    def _range(self, state: LowState, serving: bool, time: float) -> Verdict:
        q, most = state.q[:12], self._options.excursion_max
        outside = np.maximum(self._lower - q, q - self._upper)
        if not self._out.update(serving and not (outside <= most).all(), time):
            return GO
        motor = int(outside.argmax())
        low, high = self._lower[motor], self._upper[motor]
        return damp(
            f"{JOINT_LABELS[motor]} at {q[motor]:.2f} rad (range {low:.2f} to {high:.2f}, "
            f"limit {most:.2f} beyond)"
        )

    def _speed(self, state: LowState, time: float) -> Verdict:
        speed, most = np.abs(state.dq[:12]), self._fastest
        if not self._fast.update(not (speed <= most).all(), time):
            return GO
        motor = int(speed.argmax())
        return damp(f"{JOINT_LABELS[motor]} at {speed[motor]:.1f} rad/s (limit {most:.0f})")

    def _power(self, state: LowState) -> Verdict:
        power = float(np.abs(state.tau_est[:12] * state.dq[:12]).sum())
        o = self._options
        self._excess = self._excess - 1 if power <= o.power_stop else self._excess + 1
        self._excess = max(0, self._excess)
        if self._excess < o.power_samples:
            return GO
        self._excess = o.power_samples
        return damp(f"the motors take {power:.0f} W (limit {o.power_stop:.0f})")
