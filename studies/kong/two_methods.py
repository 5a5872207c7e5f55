"""One trajectory optimisation by both backward passes: saltation matrices, and reset Jacobians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from saltation.hilqr import Hilqr, HilqrOptions, Policies, Solution, Trajectory, backward_pass
from saltation.hilqr.cost import QuadraticCost
from saltation.hilqr.event_driven import EventDrivenModel
from saltation.hilqr.event_linearisation import Placement
from saltation.hilqr.riccati import Variant
from saltation.systems import Array, System
from studies.figures import Panel, over
from studies.study import Row, StudyOptions

METHODS: tuple[Variant, ...] = ("xi", "dxr")
STEPS = 1000  # N, 5.4
CUT_OFF = 0.05  # |dJ| at which a solve has converged: 5.4.1 prints it for the bouncing ball
MAX_ITERATIONS = 100
SHOWN = (
    "method, event_at, cost, thesis_cost, expected_reduction, converged, true_expected_reduction,"
    " iterations, contacts"
)


class Comparison(NamedTuple):
    """Both solutions of one problem, and the trajectory that they started from."""

    model: EventDrivenModel
    seed: Trajectory
    solutions: Mapping[Variant, Solution]

    def trajectories(self) -> dict[str, Trajectory]:
        """The seed and both ends, by name."""
        made: dict[str, Trajectory] = {"seed": self.seed}
        for method, found in self.solutions.items():
            assert found.trajectory is not None  # the seed rolled out, so a solve has that at least
            made[method] = found.trajectory
        return made

    def rows(self, impact: str) -> list[Row]:
        """A row a method; ``contacts`` counts the transitions that are named ``impact``.

        ``true_expected_reduction`` is |dJ| of a backward pass with saltation matrices about the
        end, whatever the method: the improvement that is still possible. ``event_at`` is where
        events are placed: at their own times ("exact"), or at the end of their timestep, with the
        next input after them ("end") or the same ("end_held", 5.3.3).
        """
        rows, ends = [], self.trajectories()
        for method, solution in self.solutions.items():
            last = ends[method]
            backward = backward_pass(self.model.linearise(last), self.model.quadratise(last))
            rows.append({
                "method": method,
                "cost": last.cost,
                "expected_reduction": magnitude(solution.expected_change),
                "converged": solution.status == "converged",
                "true_expected_reduction": magnitude(backward.expected_change())
                if backward.ok else None,
                "iterations": solution.iterations,
                "contacts": [e.event.transition.name for e in last.aux.events].count(impact),
                "final_mode": self.model.system.modes[last.aux.knots[-1]].name,
                "final_state": last.states[-1],
                "event_at": self.model.event_at
            })  # fmt: skip
        return rows


def reaching(
    system: System, mode: int, target: Array, weights: tuple[float, Sequence[float]],
    duration: float, steps: int = STEPS, event_at: Placement = "end"
) -> EventDrivenModel:  # fmt: skip
    """Be at a target (n,) after a duration [s]; weights are R / I, and the diagonal of Q_N.

    R is that of each of `STEPS` timesteps; in ``steps`` of them an input costs the same over time.
    """
    R = weights[0] * STEPS / steps * np.eye(system.input_dim)  # noqa: N806
    cost = QuadraticCost.reaching(target, R, np.diag(weights[1]))
    return EventDrivenModel(system, mode, duration / steps, cost, event_at=event_at)


def open_loop(inputs: Array, n: int) -> Policies:
    """Inputs (N, m) without feedback, for states of n numbers."""
    states, gains = np.zeros((len(inputs) + 1, n)), np.zeros((*inputs.shape, n))
    return Policies.of(states, inputs, gains)


def magnitude(change: float) -> float | None:
    """|dJ| for a row; None where the input Hessians are not positive definite, so there is none."""
    return abs(change) if np.isfinite(change) else None


def compare(options: StudyOptions, model: EventDrivenModel, x0: Array, inputs: Array) -> Comparison:
    """Solve from one seed, inputs (N, m) without feedback, by each method with the same options.

    Raises:
        ValueError: the seed's rollout fails.
    """
    seed = open_loop(inputs, len(x0))
    rolled = Hilqr(model).start(x0, seed)
    if rolled is None:
        raise ValueError("the seed's rollout fails: choose inputs or a start that can be simulated")
    solutions = {}
    for method in options.track(METHODS):
        own = HilqrOptions(tolerance=CUT_OFF, max_iterations=MAX_ITERATIONS, variant=method)
        solutions[method] = Hilqr(model, own).solve(x0, seed)
    return Comparison(model, rolled, solutions)


def inputs_panel(trajectories: Mapping[str, Trajectory], duration: float, y: str) -> Panel:
    """Held inputs (N, m) over time, all channels of a method alike."""
    curves = {
        name: over(np.linspace(0.0, duration, len(one.inputs), endpoint=False), one.inputs,
                   drawstyle="steps-post")
        for name, one in trajectories.items()
    }  # fmt: skip
    return Panel(curves, "time [s]", y)


def heights_panel(trajectories: Mapping[str, Trajectory], duration: float, target: float) -> Panel:
    """Heights over time, and where the ball is to be at the end."""
    curves: Row = {
        name: over(np.linspace(0.0, duration, len(one.states)), one.states[:, 0])
        for name, one in trajectories.items()
    }
    curves["target"] = np.array([[duration, target]])
    return Panel(curves, "time [s]", "height [m]", ((), (0.0,)))
