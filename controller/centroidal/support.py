"""Where the body should stand over its feet: the predictive support centre.

After G. Bledt et al., "MIT Cheetah 3: design and control of a robust, dynamic quadruped robot"
(IROS 2018): a foot that is about to lift counts less and less, one that has just landed more and
more, so that the body moves over its next support before it needs it. A controller without a
horizon would otherwise learn of a lift-off when it is too late.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from controller.gaits import Gait

Array = NDArray[np.float64]


def support_weights(gait: Gait, time: float, fade: float) -> Array:
    """How much each foot counts at `time` [s]: (4,), 0 in swing, 1 far from both ends of a stance.

    Args:
        gait: the schedule.
        time: on its clock [s].
        fade: time over which a foot's share grows after landing and shrinks before lift-off [s].
    """
    if gait.duty >= 1.0:
        return np.ones(4)
    weights = np.empty(4)
    for foot in range(4):
        cycle = gait.cycle(foot, time)
        since = time - gait.lift_off(foot, cycle) - gait.swing_duration if cycle >= 0 else fade
        until = gait.lift_off(foot, cycle + 1) - time
        weights[foot] = min(1.0, max(0.0, since) / fade, max(0.0, until) / fade)
    return weights


def support_centre(gait: Gait, time: float, fade: float, feet: Array) -> Array:
    """Weighted centre of the feet (4, 3) at `time` [s]: (2,) [m]."""
    weights = support_weights(gait, time, fade) + 1e-6
    return weights @ feet[:, :2] / weights.sum()
