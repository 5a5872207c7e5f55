"""Where the feet are over the horizon of a plan: standing, on their way, or landed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from controller.centroidal.force_law import Situation
from controller.centroidal.stepping import Step
from controller.contact_schedule import Swing
from robots.rotations import exp3

Array = NDArray[np.float64]


def foothold_table(now: Situation) -> Array:
    """Where each foot shall land that swings now or within the plan (4, 3) [m].

    A foot that will not step stays where it is.
    """
    holds = now.body.feet.copy()
    for foot in range(4):
        swing = swing_to_land(now, foot)
        if swing is not None:
            holds[foot] = now.stepper.foothold(foot, now.body, _step(now, swing))
    return holds


def _step(now: Situation, swing: Swing) -> Step:
    """The step with which a swing ends, along the path."""
    half = 0.5 * swing.stance
    times = np.array([now.time, swing.landing, swing.landing + half])
    begin, land, later = now.path.states(now.time, now.body.com, times)
    turn = float(land[2] - begin[2])
    back = exp3(np.array([0.0, 0.0, -turn])) if turn else np.eye(3)
    return Step(
        swing.landing - now.time, swing.stance, begin[9:], back @ land[9:] - begin[9:], turn,
        float(land[8]), back @ (later - land)[9:] / half,
    )  # fmt: skip


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
