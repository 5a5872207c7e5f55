"""Options of simulation, and names of methods. Beside the numerics, which load the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Method = Literal["explicit", "implicit"]
LineSearch = Literal["exhaustive", "two_stage", "backtracking"]  # see ``HilqrOptions``


@dataclass(frozen=True)
class SimulationOptions:
    """Accuracy of event-driven simulation, and its limits.

    ``max_steps`` and ``max_events`` count within one timestep or, where a simulation has none,
    within each second.
    """

    rtol: float = 1e-10  # error that an integration step may make, relative to the state
    atol: float = 1e-12  # and added to that [units of x]
    max_step: float = float("inf")  # [s]
    min_step: float = 1e-12  # [s]; a step this short is taken whatever its error
    max_steps: int = 10_000  # a flow that needs more is too stiff to follow
    event_time_tolerance: float = 1e-13  # [s]
    guard_tolerance: float = 1e-9  # deeper inside a guard than this, its transition fires at once;
    # a guard that turns this close to zero is grazed
    max_events: int = 20  # more are taken for Zeno behaviour
    minimum_rate: float = 1e-9  # slowest fall of a guard that is transverse [units of g per s]
    method: Method = "explicit"  # "implicit" for stiff flows
