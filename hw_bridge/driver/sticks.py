"""Sticks as commands."""

from __future__ import annotations

from typing import NamedTuple

from hw_bridge.driver.options import Gait, StickOptions
from runtime.messages import Command


class Sticks(NamedTuple):
    """How far sticks are pushed, each in [-1, 1]."""

    forward: float = 0.0
    left: float = 0.0
    turn: float = 0.0  # to the left


class StickDriver:
    """The command that sticks ask for.

    Attributes:
        has_changed: since the last `command`.
        gait: of the commands.
    """

    def __init__(self, options: StickOptions | None = None) -> None:
        """All sticks in the middle."""
        self.has_changed = False
        self._options = options or StickOptions()
        self.gait: Gait = self._options.gait
        self._sequence = 0

    @property
    def sticks(self) -> Sticks:
        """Where the sticks are; in the middle where they do not count."""
        return Sticks()

    def command(self, now: float) -> Command | None:
        """The command at `now` [s]."""
        self.has_changed, self._sequence = False, self._sequence + 1
        full, sticks = self._options, self.sticks
        return Command(
            sequence=self._sequence, time=now, gait=self.gait,
            forward=full.forward * self._beyond_middle(sticks.forward),
            left=full.left * self._beyond_middle(sticks.left),
            yaw_rate=full.yaw_rate * self._beyond_middle(sticks.turn),
        )  # fmt: skip

    def _beyond_middle(self, way: float) -> float:
        """A stick's way in [-1, 1] without its dead zone: 0 there, and 1 at the end."""
        dead = self._options.dead_zone
        way = min(1.0, max(-1.0, way))
        if abs(way) <= dead:
            return 0.0
        return (way - dead if way > 0.0 else way + dead) / (1.0 - dead)
