"""Where the feet are over the horizon of a plan: standing, on their way, or landed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from controller.centroidal.force_law import Situation
from controller.centroidal.stepping import Step
from controller.contact_schedule import Swing

Array = NDArray[np.float64]


def foothold_table(now: Situation) -> Array:
    """Where each foot shall land that swings now or within the plan (4, 3) [m].

    A foot that will not step stays where it is.
    """
    desired = now.path.states(now.time, now.body.com, np.array([now.time]))[0]
    holds = now.body.feet.copy()
    for foot in range(4):
        swing = swing_to_land(now, foot)
        if swing is not None:
            wait = swing.landing - now.time
            step = Step(wait, swing.stance, desired[9:12], float(desired[8]))
            holds[foot] = now.stepper.foothold(foot, now.body, step)
    return holds


def swing_to_land(now: Situation, foot: int) -> Swing | None:
    """The swing with which a foot lands next; a standing foot lifts before that."""
    schedule = now.path.schedule
    ask = schedule.next_swing if now.standing[foot] else schedule.swing
    return ask(foot, now.time)


def foot_motion(now: Situation, holds: Array, foot: int, time: float) -> Array:
    """Position [m] and velocity [m/s] of a foot at `time` [s]: (2, 3)."""
    swing = now.stepper.swing(foot, time, now.time)
    if swing is not None:
        return np.array(now.stepper.motion(foot, swing, time, holds[foot]))
    landing = swing_to_land(now, foot)
    landed = landing is not None and time >= now.time + (landing.landing - now.time)
    motion = np.zeros((2, 3))
    motion[0] = holds[foot] if landed else now.body.feet[foot]
    return motion
