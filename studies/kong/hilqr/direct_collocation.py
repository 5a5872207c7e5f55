"""Direct collocation with a fixed sequence of modes: the multi-phase method (Kelly 2017).

Each mode of the sequence is a phase of free duration, cut into equal intervals. States and inputs
at the nodes are unknowns; the input is linear and the state a cubic within an interval, whose
slope is the flow at both ends and at the middle (Hermite-Simpson). A phase ends on its
transition's guard, and the reset leads into the next one. What HiLQR finds by shooting is checked
by this, which shares nothing with it but the system.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import minimize

from hybrid.systems import Array, System, Transition
from studies.kong.hilqr.collocation_terms import Layout, Phase, slopes, values

_SHORTEST = 1e-3  # of a phase, as a share of the whole duration


@dataclass(frozen=True)
class DirectProblem:
    """Minimise terminal(x(T)) + int running(t, x, u) dt over the phases of a mode sequence.

    Raises:
        ValueError: the transitions do not follow one another, or x0 has the wrong dimension.
    """

    system: System
    initial_mode: int
    edges: tuple[Transition, ...]  # the transitions that happen, in order
    x0: Array  # (n,)
    duration: float  # T [s]
    running: Callable[[float, Array, Array], float]  # (t, x, u) -> cost per second
    terminal: Callable[[Array], float]
    intervals: int = 10  # of each phase

    def __post_init__(self) -> None:
        """Check that each transition leaves the mode that the one before it entered."""
        mode, n = self.initial_mode, self.system.modes[self.initial_mode].state_dim
        if np.shape(self.x0) != (n,):
            raise ValueError(f"x0 has shape {np.shape(self.x0)}: mode {mode} needs ({n},)")
        for edge in self.edges:
            if edge.source != mode:
                raise ValueError(
                    f"{edge.label} does not leave mode {mode}: give the transitions in order"
                )
            mode = edge.target

    @property
    def modes(self) -> list[int]:
        """Mode number of each phase."""
        return [self.initial_mode, *(edge.target for edge in self.edges)]


class DirectSolution(NamedTuple):
    """Where the optimisation ended; not to be used unless the status is "ok"."""

    status: Literal["ok", "not_converged"]
    message: str
    cost: float
    phases: tuple[Phase, ...]


def solve_direct(
    problem: DirectProblem, durations: Sequence[float], u: Array, max_iterations: int = 200
) -> DirectSolution:
    """A local optimum near a guess: each phase flows for its duration [s] with the input u (m,).

    Args:
        problem: what to minimise.
        durations: of the guess's phases [s], one each; guards are ignored in it.
        u: input of the guess (m,).
        max_iterations: of the optimiser.

    Raises:
        ValueError: there is not one duration for each phase.
    """
    layout = Layout(problem)
    if len(durations) != len(problem.modes):
        raise ValueError(f"{len(durations)} durations for {len(problem.modes)} phases: give each")
    cost, equal, positive = layout.costs(), layout.equalities(), layout.inequalities()
    guess = layout.guess(durations, u)
    lower = np.full(len(guess), -np.inf)
    lower[: len(durations)] = _SHORTEST * problem.duration
    result = minimize(
        lambda z: float(np.sum(values(cost, z))),
        guess,
        jac=lambda z: np.sum(slopes(cost, z), axis=0),
        bounds=[(low, None) for low in lower],
        constraints=[
            {"type": kind, "fun": lambda z, c=c: values(c, z), "jac": lambda z, c=c: slopes(c, z)}
            for kind, c in (("eq", equal), ("ineq", positive))
            if c
        ],
        method="SLSQP",
        options={"maxiter": max_iterations, "ftol": 1e-10},
    )
    status = "ok" if result.success and np.isfinite(result.fun) else "not_converged"
    return DirectSolution(status, str(result.message), float(result.fun), layout.phases(result.x))
