"""The motors' temperatures: a word at first, then sitting down, then damping."""

import numpy as np
from numpy.typing import NDArray

from hw_bridge.safety.debounce import Debounce
from hw_bridge.safety.options import HardwareSafetyOptions
from hw_bridge.safety.verdict import GO, JOINT_LABELS, Verdict, damp

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

    def reset(self) -> None:
        """Forget the heat; a motor that was warned of is not warned of again."""
        self._hot.reset()
        self._too_hot.reset()

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
