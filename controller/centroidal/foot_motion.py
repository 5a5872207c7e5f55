"""Where the feet are over the horizon of a plan: standing, on their way, or landed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from controller.centroidal.force_law import Situation

Array = NDArray[np.float64]


def foothold_table(now: Situation, velocity: Array) -> Array:
    """Where each foot shall land that swings now or within the plan (4, 3) [m]."""
    waits = [touchdown_wait(now, foot) for foot in range(4)]
    if np.isinf(waits).any():  # a stand steps nowhere
        return now.body.feet
    return np.array([
        now.stepper.foothold(foot, now.body, velocity, wait) for foot, wait in enumerate(waits)
    ])  # fmt: skip


def touchdown_wait(now: Situation, foot: int) -> float:
    """Time until a foot lands next [s], by the schedule; a standing foot lifts before that.

    Infinite where the gait lifts no foot.
    """
    gait = now.stepper.gait
    if gait.duty >= 1.0:
        return float("inf")
    cycle = gait.cycle(foot, now.time) + (1 if now.standing[foot] else 0)
    return gait.lift_off(foot, cycle) + gait.swing_duration - now.time


def foot_motion(now: Situation, holds: Array, foot: int, time: float) -> Array:
    """Position [m] and velocity [m/s] of a foot at `time` [s]: (2, 3)."""
    if not now.stepper.stands(foot, time, now.time):
        return np.array(now.stepper.swing(foot, time, holds[foot]))
    landed = time >= now.time + touchdown_wait(now, foot)
    motion = np.zeros((2, 3))
    motion[0] = holds[foot] if landed else now.body.feet[foot]
    return motion
