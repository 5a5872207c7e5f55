"""A rimless wheel that rolls down a slope: a point mass on stiff massless spokes.

The passive walker of the thesis's references (McGeer, 1990), with its limit cycle and Floquet
multiplier in closed form. State x = [angle of the stance spoke from the vertical, positive
downhill [rad], its rate [rad/s]], no input. The next spoke lands plastically: the rate about the
new foot is cos(2 alpha) times the old one, alpha being half the angle between spokes.
"""

from __future__ import annotations

import math

import numpy as np

from saltation.systems import Mode, System, Transition

ROLLING = 1
LENGTH = 1.0  # of a spoke [m], the project's own choice
GRAVITY = 9.8  # [m/s^2], 5.4
HALF_ANGLE = math.pi / 8  # alpha [rad]: eight spokes, the project's own choice
SLOPE = 0.08  # gamma [rad], the project's own choice


def rimless_wheel(half_angle: float = HALF_ANGLE, slope: float = SLOPE) -> System:
    """One mode, left by the spoke that lands ahead ("forward") or behind ("backward").

    Raises:
        ValueError: the spokes are too far apart to roll on, half_angle not within (0, pi / 4).
    """
    if not 0.0 < half_angle < math.pi / 4.0:
        raise ValueError(f"half_angle is {half_angle} rad: give a value between 0 and pi / 4")
    stiffness, ratio = GRAVITY / LENGTH, math.cos(2.0 * half_angle)
    ahead, behind, turn = slope + half_angle, slope - half_angle, 2.0 * half_angle
    rolling = Mode("rolling", 2, 0, flow=lambda t, x, u: np.array([x[1], stiffness * np.sin(x[0])]))
    forward = Transition(
        ROLLING,
        ROLLING,
        guard=lambda t, x, u: ahead - x[0],
        reset=lambda t, x, u: np.array([x[0] - turn, ratio * x[1]]),
        name="forward",
        time_invariant=True,
    )
    backward = Transition(
        ROLLING,
        ROLLING,
        guard=lambda t, x, u: x[0] - behind,
        reset=lambda t, x, u: np.array([x[0] + turn, ratio * x[1]]),
        name="backward",
        time_invariant=True,
    )
    return System({ROLLING: rolling}, (forward, backward), "rimless wheel")
