"""Options of simulation, and names of methods. Beside the numerics, which load the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

Method = Literal["explicit", "implicit"]
LineSearch = Literal["exhaustive", "two_stage", "backtracking"]  # see ``HilqrOptions``


def check(owner: Any, positive: str = "", whole: str = "", from_zero: str = "") -> None:
    """Refuse options, by their names, that are not finite and above zero, whole, or 0 or more.

    Raises:
        ValueError: with the first such name; whole numbers are 1 or more.
    """
    for names, least, asked in (
        (positive, 5e-324, "a finite number above zero"),
        (whole, 1, "a whole number, 1 or more"),
        (from_zero, 0, "a finite number, 0 or more"),
    ):
        for name in names.split():
            value = getattr(owner, name)
            is_number = value is not None and least <= value < float("inf")
            if not is_number or (names is whole and value != int(value)):
                raise ValueError(f"{name} {value}: give {asked}")
            if names is whole:
                vars(owner)[name] = int(value)


def check_choice(name: str, value: str, choices: Any) -> None:
    """Refuse a value that is not one of a ``Literal``'s.

    Raises:
        ValueError: names the choices.
    """
    if value not in get_args(choices):
        raise ValueError(f"no {name} {value!r}; accepted: {', '.join(get_args(choices))}")


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
        check(self, "guard_tolerance", "max_steps zeno_events", "rtol atol max_events")
        if not self.max_step > 0:
            raise ValueError(f"max_step {self.max_step}: give a number above zero")
        if self.rtol == self.atol == 0:
            raise ValueError("rtol and atol are both zero: give one above it")
        check_choice("method", self.method, Method)
