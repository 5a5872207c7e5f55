"""Whether joints have come to rest where they should be."""

import numpy as np
from numpy.typing import NDArray

from hw_bridge.motion_options import MotionOptions
from robots.a1.constants import JOINT_NAMES

Array = NDArray[np.float64]


class Settling:
    """Near the goal and still, for long enough."""

    def __init__(self, options: MotionOptions) -> None:
        """Nothing has been seen yet."""
        self._options = options
        self._since: float | None = None

    def is_settled(self, now: float, q: Array, dq: Array, goal: Array) -> bool:
        """Whether joints q (12) [rad], dq (12) [rad/s] have been at the goal (12) for settle_s."""
        o = self._options
        if float(np.abs(q - goal).max()) > o.tolerance or not is_still(dq, o.still_speed):
            self._since = None
            return False
        self._since = now if self._since is None else self._since
        return now - self._since >= o.settle_s


def is_still(dq: Array, speed: float) -> bool:
    """Whether every joint is slower than `speed` [rad/s]."""
    return float(np.abs(dq).max()) < speed


def furthest(q: Array, target: Array) -> str:
    """The joint that is furthest from its target, for a person."""
    off = q - target
    worst = int(np.abs(off).argmax())
    name = JOINT_NAMES[worst].removesuffix("_joint").replace("_", " ")
    return f"{name} is {off[worst]:+.2f} rad off its target"
