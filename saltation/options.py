"""Options of simulation, and names of methods. Beside the numerics, which load the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Method = Literal["explicit", "implicit"]
LineSearch = Literal["exhaustive", "two_stage", "backtracking"]  # see ``HilqrOptions``


@dataclass(frozen=True)
class SimulationOptions:
    """Accuracy of event-driven simulation, and its limits. No default depends on units.

    ``max_steps`` counts within one timestep or, without timesteps, in the whole run.

    Raises:
        ValueError: an option that no simulation can have.
    """

    rtol: float = 1e-10  # error that an integration step may make, relative to the state; where a
    # state passes zero, relative to a hundredth of the largest that it has been in the mode
    atol: float = 0.0  # and added to that [units of x]
    max_step: float = float("inf")  # [s]
    max_steps: int = 100_000  # a flow that needs more is too stiff to follow
    guard_tolerance: float = 1e-9  # of the scale of a guard: deeper inside than this, its
    # transition fires at once; a guard that turns this close to zero is grazed
    max_events: int = 10_000  # in the whole run
    zeno_events: int = 20  # more within a timestep, or a 10,000th of a run, are Zeno behaviour
    method: Method = "explicit"  # "implicit" for stiff flows

    def __post_init__(self) -> None:
        """Refuse what no simulation can have."""
        for name in ("max_step", "max_steps", "guard_tolerance", "zeno_events"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} = {getattr(self, name)}: give a number above zero")
        for name in ("rtol", "atol", "max_events"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} = {getattr(self, name)}: give zero or more")
        if self.rtol == self.atol == 0:
            raise ValueError("rtol and atol are both zero: give one above it")
        if self.method not in get_args(Method):
            raise ValueError(f"method = {self.method!r}: give one of {', '.join(get_args(Method))}")
