"""Plays a list of perturbations into the simulation, tick by tick."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sim_bridge.perturbations import (
    BaseForce,
    BaseVelocity,
    GaitClock,
    MotorBlock,
    Perturbation,
    start_time,
)

TICK = 0.001  # [s], the stack's tick


class Perturbable(Protocol):
    """What a script does to a simulated robot."""

    def add_base_velocity(self, velocity_in_world: NDArray[np.float64]) -> None:
        """Add a (3) velocity [m/s] to the trunk's."""
        ...

    def push_base(self, force_in_world: NDArray[np.float64]) -> None:
        """Set the (3) force [N] on the trunk's centre of mass from now on."""
        ...

    def block_motors(self, blocked: bool) -> None:
        """Take the motors' torque away, or give it back, from now on."""
        ...


class _Window(NamedTuple):
    """Ticks [first, last) of one event."""

    first: int
    last: int
    event: Perturbation


def _window(event: Perturbation, gait: GaitClock | None) -> _Window:
    first = round(start_time(event, gait) / TICK)
    if isinstance(event, BaseVelocity):
        return _Window(first, first + 1, event)
    return _Window(first, first + max(1, round(event.duration / TICK)), event)


class PerturbationScript:
    """The events of one run, with their instants resolved to ticks.

    An event takes effect at the start of the tick nearest to its time: the reading of that tick is
    still free of it, the next one shows it. Forces that overlap add up.
    """

    def __init__(self, events: Sequence[Perturbation] = (), gait: GaitClock | None = None) -> None:
        """Resolve the events' instants, asking `gait` for phases.

        Raises:
            ValueError: an event names a gait phase and `gait` is None or lacks that phase.
        """
        self._windows = tuple(_window(event, gait) for event in events)
        self._edges = frozenset(edge for window in self._windows for edge in window[:2])

    @property
    def ticks(self) -> tuple[tuple[int, int], ...]:
        """First and one-past-last tick of each event, in the order given."""
        return tuple((window.first, window.last) for window in self._windows)

    def apply(self, simulation: Perturbable, tick: int) -> None:
        """Do to the simulation what begins or ends at `tick`; nothing on other ticks."""
        if tick not in self._edges:
            return
        active = [window.event for window in self._windows if window.first <= tick < window.last]
        force = np.zeros(3)
        for event in active:
            if isinstance(event, BaseVelocity):
                simulation.add_base_velocity(np.array(event.value))
            elif isinstance(event, BaseForce):
                force += event.value
        simulation.push_base(force)
        simulation.block_motors(any(isinstance(event, MotorBlock) for event in active))
