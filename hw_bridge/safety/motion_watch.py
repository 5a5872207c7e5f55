"""How the robot moves: its tilt, its joints' positions and speeds, the power of its motors."""

import math

import numpy as np

from hw_bridge.safety.debounce import Debounce
from hw_bridge.safety.motor_watch import UNIT_TOLERANCE
from hw_bridge.safety.options import HardwareSafetyOptions
from hw_bridge.safety.verdict import GO, JOINT_LABELS, Verdict, damp
from hw_bridge.wire.low_state import LowState
from robots.robot import Robot


class MotionWatch:
    """Judges what IMU and encoders say. A number that is not finite counts as out of bounds."""

    def __init__(self, options: HardwareSafetyOptions, robot: Robot) -> None:
        """Begin with nothing seen."""
        self._options = options
        self._lower, self._upper = robot.legs.lower, robot.legs.upper
        self._broken, self._tilted, self._out, self._fast = (
            Debounce(options.confirm_s) for _ in range(4)
        )
        self._excess = 0  # samples above the power limit less those below, as the vendor counts

    def reset(self) -> None:
        """Begin anew."""
        for fact in (self._broken, self._tilted, self._out, self._fast):
            fact.reset()
        self._excess = 0

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
        speed, most = np.abs(state.dq[:12]), self._options.velocity_stop
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
