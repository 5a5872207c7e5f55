"""The motors' modes: whether the robot's own protection has taken a motor away."""

import numpy as np
from numpy.typing import NDArray

from hw_bridge.safety.debounce import Debounce
from hw_bridge.safety.options import HardwareSafetyOptions
from hw_bridge.safety.verdict import GO, JOINT_LABELS, Verdict, damp
from hw_bridge.wire.layout import BRAKE, OVERHEATED, SERVO

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

    def reset(self) -> None:
        """Begin anew, as when the motors do not serve."""
        self._lost.reset()
        self._refused.reset()
        self._served[:] = False

    def judge(self, mode: NDArray[np.int64], serving: bool, time: float) -> Verdict:
        """The verdict on modes (12) of the sample at `time` [s]."""
        if not serving:
            self.reset()
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
