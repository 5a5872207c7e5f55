"""Trajectory optimisation on a hill (T-OPT, 2.3.4): optimally convergent and smooth paths.

The thesis starts from a straight line alone. Here a bow to either side is tried too: on one
problem in three they lead to other optima, and the solver may fail from one start alone. With a
constraint, what they lead to without it is one more start: on a hill, D_a < 0 shuts off many a
good way that a path can be brought to from the other side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from saltation.arrays import Pair
from saltation.convergent.hill import SINE_HILL, Hill
from saltation.convergent.hill_path import (
    Convergence,
    HillPath,
    HillProblem,
    check_kind,
    checked,
    no_path,
)
from saltation.convergent.hill_seeds import resampled, seeds
from saltation.convergent.hill_transcription import TrajectoryOptions, transcribe
from saltation.convergent.nlp import Nlp, NlpResult
from saltation.convergent.path_check import almost_level, violation
from saltation.systems import Array


class HillTrajectory:
    """Plans paths of one kind of convergence; built once, which takes longer than a solve."""

    def __init__(
        self,
        convergence: Convergence = "none",
        options: TrajectoryOptions | None = None,
        hill: Hill = SINE_HILL,
    ) -> None:
        """Build the programme.

        Raises:
            ValueError: no such convergence, or the hill is none or takes no CasADi expressions.
        """
        check_kind(convergence, hill)
        self.convergence, self.hill = convergence, hill
        self.options = options or TrajectoryOptions()
        self._nlp = transcribe(hill, convergence, self.options)
        constrained = convergence != "none"
        self._free = transcribe(hill, "none", self.options) if constrained else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Arguments that another process builds its own with: IPOPT's memory cannot be sent."""
        return HillTrajectory, (self.convergence, self.options, self.hill)

    def solve(self, problem: HillProblem, seed: HillPath | None = None) -> HillPath:
        """The best of the optima found from a straight line and two bows, or from a seed alone.

        Where there is a constraint, the best optimum without it is a fourth start. The seed may be
        any path, another planner's say. A path that keeps all constraints but is not an optimum is
        given back, with a message, where no start led to an optimum.

        Raises:
            ValueError: the problem's hill or convergence is not the planner's, or the seed is none.
        """
        self._check(problem)
        if seed is not None:
            if isinstance(seed, HillPath) and len(seed.powers) == 0:
                raise ValueError("the seed has no path: leave it out for a straight line")
            seed = checked(seed)
        if outside := problem.outside():
            return no_path(*outside)
        if far := self._too_far(problem):
            return no_path("infeasible", far)
        N = self.options.waypoints
        starts = list(seeds(problem, N)) if seed is None else [resampled(seed, N)]
        if self._free is not None and seed is None:
            starts.append(self._without_constraint(self._free, problem, starts))
        found = [self._from(problem, positions, powers) for positions, powers in starts]
        return min(found, key=lambda each: each[0])[1]

    def _check(self, problem: HillProblem) -> None:
        if problem.hill != self.hill:
            built = f"the planner was built for the hill {self.hill.name!r}"
            raise ValueError(f"{built}, not this one: give both the same Hill")
        if problem.convergence != self.convergence:
            raise ValueError(
                f"the planner was built for convergence {self.convergence!r}, "
                f"the problem asks {problem.convergence!r}"
            )

    def _too_far(self, problem: HillProblem) -> str:
        """Message where all steps together do not lead to the goal; "" where they do."""
        options = self.options
        away = float(np.max(np.abs(problem.goal - problem.start))) - problem.eta
        if away <= options.steps * options.max_step:
            return ""
        return (
            f"{options.steps} steps of max_step {options.max_step:g} m end before waypoint"
            f" {options.steps} is at the goal, {away:.3g} m away: raise waypoints or max_step"
        )

    def _without_constraint(self, free: Nlp, problem: HillProblem, starts: list[Pair]) -> Pair:
        """The best that the starts lead to where neither (2.22) nor (2.23) is asked."""
        bounds = self._bounds(problem)
        found = [free.solve(self._guess(*start), *bounds) for start in starts]
        best = min(found, key=lambda result: (not result.feasible, result.cost))
        return self._waypoints(np.clip(best.z, *bounds))

    def _from(
        self, problem: HillProblem, positions: Array, powers: Array
    ) -> tuple[tuple[int, float], HillPath]:
        """The path found from one start, and its rank: optima by cost, then paths, then none."""
        result = self._nlp.solve(self._guess(positions, powers), *self._bounds(problem))
        path = self._path(problem, result)
        optimal = path.ok and result.status == "ok"
        return (0 if optimal else 1 if path.ok else 2, result.cost if path.ok else 0.0), path

    def _guess(self, positions: Array, powers: Array) -> Array:
        x, y = positions[:, 0], positions[:, 1]
        return np.concatenate((x, y, np.diff(x), np.diff(y), powers, np.zeros(self.options.steps)))

    def _bounds(self, problem: HillProblem) -> Pair:
        """Lowest and highest value of every variable, (2.21)."""
        step, options = np.full(self.options.steps, self.options.max_step), self.options
        (x_low, x_high), (y_low, y_high) = (self._axis(problem, k) for k in range(2))
        p_low, p_high = (np.full(options.steps, power) for power in problem.powers)
        s_low = np.full(options.steps, -options.epsilon * options.duration)
        s_high = np.full(options.steps, np.inf) if options.nu > 0.0 else s_low  # not in the cost
        low = np.concatenate((x_low, y_low, -step, -step, p_low, s_low))
        return low, np.concatenate((x_high, y_high, step, step, p_high, s_high))

    def _axis(self, problem: HillProblem, k: int) -> Pair:
        """Bounds (N,), (N,) of one coordinate: start, map, and the goal's square on the map."""
        low, high = (self.hill.x_bounds, self.hill.y_bounds)[k]
        N = self.options.waypoints
        lows, highs = low + np.zeros(N), high + np.zeros(N)
        lows[0] = highs[0] = problem.start[k]
        lows[-1] = max(low, problem.goal[k] - problem.eta)
        highs[-1] = min(high, problem.goal[k] + problem.eta)
        return lows, highs

    def _path(self, problem: HillProblem, result: NlpResult) -> HillPath:
        """The solution as a path; "ok" where the constraints hold in it, found anew.

        Where not, the path tells better than the programme what cannot be had: on its way IPOPT
        gives up (2.20) for the sake of the others, and a path keeps (2.20) by definition.
        """
        z = np.clip(result.z, *self._bounds(problem))
        positions, powers = self._waypoints(z)
        path = HillPath("ok", positions, powers)
        missed = violation(problem, path) if np.all(np.isfinite(z)) else ""
        if result.feasible and not missed:
            hint = almost_level(self.hill, positions) if result.message else ""
            return path._replace(message=result.message + hint)
        status = result.status if result.status != "ok" else "infeasible"
        said = (missed or result.message) + almost_level(self.hill, positions)
        return HillPath(status, positions, powers, said)

    def _waypoints(self, z: Array) -> Pair:
        """Positions (N, 2) and powers (N - 1,) among the variables."""
        N, S = self.options.waypoints, self.options.steps
        return np.stack((z[:N], z[N : 2 * N]), 1), z[2 * N + 2 * S :][:S]
