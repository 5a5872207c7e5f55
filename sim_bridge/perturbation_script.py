"""Plays a list of perturbations into the simulation, tick by tick."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sim_bridge.perturbations import (
    BaseForce,
    BaseVelocity,
    GaitClock,
    MotorBlock,
    Perturbation,
    start_time,
)

if TYPE_CHECKING:
    from sim_bridge.simulated_robot import SimulatedRobot

TICK = 0.001  # [s], the stack's tick


class _Window(NamedTuple):
    """Ticks [first, last) of one event, which comes again `every` ticks; never where that is 0."""

    first: int
    last: int
    every: int
    event: Perturbation

    def since(self, tick: int) -> int:
        """Ticks since the event began last; negative before it has."""
        passed = tick - self.first
        return passed % self.every if self.every and passed > 0 else passed

    def is_active(self, tick: int) -> bool:
        """Whether the event lasts at a tick."""
        return 0 <= self.since(tick) < self.last - self.first

    def edge(self, tick: int) -> float:
        """The first tick from `tick` on at which the event begins or ends; inf without one."""
        passed, length = self.since(tick), self.last - self.first
        if passed <= length:
            return tick - passed + (length if passed > 0 else 0)
        return tick - passed + (self.every or math.inf)


def _window(event: Perturbation, gait: GaitClock | None) -> _Window:
    first, length, every = round(start_time(event, gait) / TICK), 1, 0
    if not isinstance(event, BaseVelocity):
        length = max(1, round(event.duration / TICK))
    if not isinstance(event, MotorBlock) and event.every is not None:
        every = max(length + 1, round(event.every / TICK))
    return _Window(first, first + length, every, event)


class PerturbationScript:
    """The events of one run, with their instants resolved to ticks.

    An event takes effect at the start of the tick nearest to its time: the reading of that tick is
    still free of it, the next one shows it. Forces that overlap add up."""

    def __init__(self, events: Sequence[Perturbation] = (), gait: GaitClock | None = None) -> None:
        """Resolve the events' instants, asking `gait` for phases.

        Raises:
            ValueError: an event names a gait phase and `gait` is None or lacks that phase.
        """
        self._windows = tuple(_window(event, gait) for event in events)

    def occurrences(self, end: int) -> list[tuple[int, int, Perturbation]]:
        """Events that begin before tick `end`, the first time and again, in order.

        Each comes with its first and one-past-last tick.
        """
        each = [
            (first, first + window.last - window.first, window.event)
            for window in self._windows
            for first in range(window.first, max(end, window.first + 1), window.every or end + 1)
        ]
        return sorted(each, key=lambda occurrence: occurrence[0])

    def beginnings(self, end: int) -> list[int]:
        """Ticks before `end` at which events begin, the first time and again, in order."""
        return [first for first, _, _ in self.occurrences(end)]

    def due(self, tick: int) -> float:
        """The first tick from `tick` on at which something begins or ends; inf without one."""
        return min((window.edge(tick) for window in self._windows), default=math.inf)

    def apply(self, simulation: SimulatedRobot, tick: int) -> None:
        """Do to the simulation what begins or ends at `tick`; nothing on other ticks."""
        if self.due(tick) > tick:
            return
        active = [window.event for window in self._windows if window.is_active(tick)]
        force = np.zeros(3)
        for event in active:
            if isinstance(event, BaseVelocity):
                simulation.add_base_velocity(np.array(event.value))
            elif isinstance(event, BaseForce):
                force += event.value
        simulation.push_base(force)
        simulation.block_motors(any(isinstance(event, MotorBlock) for event in active))
