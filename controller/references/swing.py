"""Foot paths of a kinematic gait: footholds in the world and the swing between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from controller.gaits import Gait
from robots.profiles import bump, minimum_jerk


class FootPath:
    """World path of one foot of a gait along a straight walk.

    A foothold lies below its neutral point at the middle of its stance, so that the leg works
    symmetrically about the neutral posture (Raibert's neutral point).
    """

    def __init__(self, gait: Gait, foot: int, neutral: NDArray[np.float64], speed: float) -> None:
        """`neutral` is the foot's place below the standing base [m], (3,); `speed` in [m/s]."""
        self._gait, self._foot, self._speed = gait, foot, speed
        self._neutral = neutral

    def foothold(self, cycle: int) -> NDArray[np.float64]:
        """Foothold before the lift-off of stride `cycle` in the world [m], (3,)."""
        hold = self._neutral.copy()
        if cycle > 0:
            landed = self._gait.lift_off(self._foot, cycle - 1) + self._gait.swing_duration
            leaves = self._gait.lift_off(self._foot, cycle)
            hold[0] += self._gait.distance(0.5 * (landed + leaves), self._speed)
        return hold

    def position(self, time: float) -> NDArray[np.float64]:
        """Position of the foot's centre in the world at `time` [s]: [m], (3,)."""
        gait = self._gait
        cycle = gait.cycle(self._foot, time)
        if cycle < 0 or gait.duty >= 1.0:
            return self.foothold(0)
        s = (time - gait.lift_off(self._foot, cycle)) / gait.swing_duration
        if s >= 1.0:
            return self.foothold(cycle + 1)
        s = max(s, 0.0)
        start, end = self.foothold(cycle), self.foothold(cycle + 1)
        position = start + minimum_jerk(s).value * (end - start)
        position[2] += gait.swing_height * bump(s).value
        return position
