"""Footholds by Raibert's law and the capture point, and the way that a foot takes to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.centroidal.body_state import BodyState
from controller.centroidal.options import SteppingOptions
from controller.gaits import Gait
from robots.a1.constants import FOOT_RADIUS, GRAVITY, LEG_SIDE, STAND_HEIGHT, STAND_JOINTS
from robots.a1.kinematics import foot_positions_in_base

Array = NDArray[np.float64]


class FootMotion(NamedTuple):
    """Position (3) [m], velocity (3) [m/s] and acceleration (3) [m/s^2] of a foot in the world."""

    position: Array
    velocity: Array
    acceleration: Array


class Stepper:
    """Knows for every foot where it left the ground and where it shall land.

    The foothold of a foot lies below its neutral place at touchdown, moved by

        v T_stance / 2 + capture sqrt(h / g) (v - v_des):

    the symmetric stance of Raibert 1986, and the capture point of Pratt et al. 2006. It is chosen
    anew with every plan while the foot swings.
    """

    def __init__(self, options: SteppingOptions, gait: Gait) -> None:
        """All feet stand."""
        self.options, self.gait = options, gait
        self._neutral = foot_positions_in_base(STAND_JOINTS)[:, :2]
        self._left: Array | None = None  # where each foot stood last (4, 3)
        self._early = np.zeros(4, dtype=bool)  # feet that found the ground before their time
        self._swings = np.zeros(4, dtype=bool)

    def observe(self, time: float, feet: Array, touching: Array) -> Array:
        """Take in the feet's places, and say which ones stand now (4,), 1 or 0.

        Args:
            time: on the gait's clock [s].
            feet: (4, 3) [m]; touching: probability of contact (4,).
        """
        scheduled = np.array([self.gait.in_swing(foot, time) for foot in range(4)])
        self._left = feet.copy() if self._left is None else self._left
        for foot in range(4):
            late = scheduled[foot] and self.progress(foot, time) >= self.options.early
            self._early[foot] = scheduled[foot] and (
                self._early[foot] or (late and touching[foot] > 0.5)
            )
        self._swings = scheduled & ~self._early
        self._left[~self._swings] = feet[~self._swings]
        return (~self._swings).astype(np.float64)

    def stands(self, foot: int, time: float, now: float) -> bool:
        """Whether a foot stands at `time` [s], as seen from `now`: the schedule, and early ones."""
        if not self.gait.in_swing(foot, time):
            return True
        return bool(self._early[foot]) and self.gait.cycle(foot, time) == self.gait.cycle(foot, now)

    def progress(self, foot: int, time: float) -> float:
        """Share of the swing under way that has gone at `time` [s]."""
        start = self.gait.lift_off(foot, self.gait.cycle(foot, time))
        return (time - start) / self.gait.swing_duration

    def foothold(self, foot: int, body: BodyState, velocity_desired: Array, wait: float) -> Array:
        """Where a foot shall land `wait` seconds from now: its centre in the world (3,) [m]."""
        o, velocity = self.options, body.com_velocity[:2]
        stance = self.gait.duty * self.gait.period
        heading = np.arctan2(body.rotation[1, 0], body.rotation[0, 0])
        cosine, sine = np.cos(heading), np.sin(heading)
        turn = np.array([[cosine, -sine], [sine, cosine]])
        capture = o.capture * np.sqrt(STAND_HEIGHT / GRAVITY) * (velocity - velocity_desired[:2])
        offset = turn.T @ (0.5 * stance * velocity_desired[:2] + capture)
        limit_x, limit_y = o.reach
        offset[0] = np.clip(offset[0], -limit_x, limit_x)
        outward = LEG_SIDE[foot] * offset[1]
        offset[1] = LEG_SIDE[foot] * np.clip(outward, -o.inward, limit_y)
        place = body.base[:2] + velocity * wait + turn @ (self._neutral[foot] + offset)
        return np.array([place[0], place[1], FOOT_RADIUS - o.press])

    def swing(self, foot: int, time: float, foothold: Array) -> FootMotion:
        """Motion at `time` [s] of a swinging foot on its way to `foothold` (3,) [m].

        Minimum jerk between the ends, and a bump with the gait's height on top.
        """
        assert self._left is not None
        rate = 1.0 / self.gait.swing_duration
        s = min(1.0, max(0.0, self.progress(foot, time)))
        start, way = self._left[foot], foothold - self._left[foot]
        blend, bump = minimum_jerk(s), bump_motion(s)
        position = start + blend[0] * way
        velocity = rate * blend[1] * way
        acceleration = rate * rate * blend[2] * way
        height = self.gait.swing_height
        position[2] += height * bump[0]
        velocity[2] += height * rate * bump[1]
        acceleration[2] += height * rate * rate * bump[2]
        return FootMotion(position, velocity, acceleration)


def minimum_jerk(s: float) -> tuple[float, float, float]:
    """10 s^3 - 15 s^4 + 6 s^5 and its first two derivatives by s."""
    blend = s * s * s * (10.0 + s * (6.0 * s - 15.0))
    return blend, 30.0 * s * s * (1.0 - s) ** 2, 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)


def bump_motion(s: float) -> tuple[float, float, float]:
    """64 (s (1 - s))^3, of height 1, and its first two derivatives by s."""
    r, slope = s * (1.0 - s), 1.0 - 2.0 * s
    return 64.0 * r**3, 192.0 * r * r * slope, 384.0 * r * slope * slope - 384.0 * r * r
