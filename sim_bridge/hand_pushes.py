"""Pushes of the simulated robot by hand, from a viewer."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from robots.conventions import FOOT_NAMES
from runtime.messages import Push
from runtime.topics import PUSH
from sim_bridge.simulated_robot import SimulatedRobot

if TYPE_CHECKING:
    from runtime.bus import Subscriber

MOST = 20.0  # velocity that a push may add [m/s]


class HandPushes:
    """Gives the robot each push once; refuses what is not finite or too much.

    A push that comes again with the same number, and of about the same time, is the same push; a
    sender that begins anew counts from the start.

    Attributes:
        counts: pushes applied and refused.
    """

    def __init__(self, pushes: Subscriber[Push]) -> None:
        """Take `pushes` from now on."""
        self._pushes = pushes
        self._last: Push | None = None
        self.counts: Counter[str] = Counter()

    def apply(self, robot: SimulatedRobot) -> None:
        """Push the robot as has been asked for since the last call."""
        for push in self._pushes.all():
            if self._is_known(push):
                continue
            self._last = push
            speed = math.hypot(*push.velocity)
            if not speed <= MOST:
                self.counts["refused"] += 1
                continue
            self.counts["applied"] += 1
            if push.body == "base":
                robot.add_base_velocity(push.velocity)
            else:
                robot.add_foot_velocity(FOOT_NAMES.index(push.body), push.velocity)

    def _is_known(self, push: Push) -> bool:
        last = self._last
        if last is None or push.sequence != last.sequence:
            return False
        return not abs(push.time - last.time) > PUSH.max_age_s
