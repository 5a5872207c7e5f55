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
from robots.profiles import bump, minimum_jerk

Array = NDArray[np.float64]


class FootMotion(NamedTuple):
    """Position (3) [m] and velocity (3) [m/s] of a foot in the world."""

    position: Array
    velocity: Array


class Stepper:
    """Knows for every foot where it left the ground and where it shall land.

    The foothold of a foot lies below its neutral place at touchdown, moved by

        v_des T_stance / 2 + capture sqrt(h / g) (v - v_des):

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
        velocity = body.com_velocity[:2]
        heading = np.arctan2(body.rotation[1, 0], body.rotation[0, 0])
        cosine, sine = np.cos(heading), np.sin(heading)
        turn = np.array([[cosine, -sine], [sine, cosine]])
        offset = self._within_reach(foot, turn.T @ self._offset(velocity, velocity_desired[:2]))
        place = body.base[:2] + velocity * wait + turn @ (self._neutral[foot] + offset)
        return np.array([place[0], place[1], FOOT_RADIUS - self.options.press])

    def _offset(self, velocity: Array, velocity_desired: Array) -> Array:
        """Raibert's and the capture point's part of a step in the world (2,) [m]."""
        stance = self.gait.duty * self.gait.period
        capture = self.options.capture * np.sqrt(STAND_HEIGHT / GRAVITY)
        return 0.5 * stance * velocity_desired + capture * (velocity - velocity_desired)

    def _within_reach(self, foot: int, offset: Array) -> Array:
        """An offset from the neutral place in the heading's frame (2,) [m], as far as allowed."""
        most_x, most_out = self.options.reach
        outward = np.clip(LEG_SIDE[foot] * offset[1], -self.options.inward, most_out)
        return np.array([np.clip(offset[0], -most_x, most_x), LEG_SIDE[foot] * outward])

    def swing(self, foot: int, time: float, foothold: Array) -> FootMotion:
        """Motion at `time` [s] of a swinging foot on its way to `foothold` (3,) [m].

        Minimum jerk between the ends, and a bump with the gait's height on top.
        """
        assert self._left is not None
        rate = 1.0 / self.gait.swing_duration
        s = min(1.0, max(0.0, self.progress(foot, time)))
        way, blend, height = foothold - self._left[foot], minimum_jerk(s), bump(s)
        up = np.array([0.0, 0.0, self.gait.swing_height])
        return FootMotion(
            self._left[foot] + blend.value * way + height.value * up,
            rate * (blend.slope * way + height.slope * up),
        )
