"""Trajectory optimisation on a hill (T-OPT, 2.3.4): optimally convergent and smooth paths.

The thesis starts from a straight line alone. A local solver may fail from there and not from
elsewhere, so a bow to either side is tried next.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from controller.convergent.hill import SINE_HILL, Hill
from controller.convergent.hill_path import Convergence, HillPath, HillProblem, no_path
from controller.convergent.hill_seeds import resampled, seeds
from controller.convergent.hill_transcription import TrajectoryOptions, pack, transcribe
from controller.convergent.nlp import NlpResult
from controller.convergent.path_check import violation
from hybrid.systems import Array


class HillTrajectory:
    """Plans paths of one kind of convergence; built once, which takes longer than a solve."""

    def __init__(
        self,
        convergence: Convergence = "none",
        options: TrajectoryOptions | None = None,
        hill: Hill = SINE_HILL,
    ) -> None:
        """Build the programme."""
        self.convergence, self.hill = convergence, hill
        self.options = options or TrajectoryOptions()
        self._nlp = transcribe(hill, convergence, self.options)

    def solve(self, problem: HillProblem, seed: HillPath | None = None) -> HillPath:
        """An optimal path, from a seed (a planner's path, say) or from a straight line.

        A path that keeps all constraints but is not an optimum is given back, with a message,
        where no start led to an optimum.

        Raises:
            ValueError: the problem's hill or convergence is not the planner's, or the seed is none.
        """
        self._check(problem, seed)
        if outside := problem.outside():
            return no_path(*outside)
        kept: HillPath | None = None
        failed: HillPath | None = None
        for positions, powers in self._starts(problem, seed):
            result = self._nlp.solve(self._guess(positions, powers), *self._bounds(problem))
            path = self._path(problem, result)
            if path.ok and result.status == "ok":
                return path
            kept = kept or (path if path.ok else None)
            failed = failed or (None if path.ok else path)
        return kept or failed or no_path("solver_failed", "no seed")

    def _check(self, problem: HillProblem, seed: HillPath | None) -> None:
        if problem.hill is not self.hill:
            raise ValueError(f"the planner was built for the hill {self.hill.name!r}, not this one")
        if problem.convergence != self.convergence:
            raise ValueError(
                f"the planner was built for convergence {self.convergence!r}, "
                f"the problem asks {problem.convergence!r}"
            )
        if seed is not None and len(seed.powers) == 0:
            raise ValueError("the seed has no path: leave it out for a straight line")

    def _starts(self, problem: HillProblem, seed: HillPath | None) -> Iterator[tuple[Array, Array]]:
        if seed is not None:
            yield resampled(seed, self.options.waypoints)
        yield from seeds(problem, self.options.waypoints)

    def _guess(self, positions: Array, powers: Array) -> Array:
        steps = np.diff(positions, axis=0)
        return pack(*positions.T, *steps.T, powers, np.zeros(self.options.steps))

    def _bounds(self, problem: HillProblem) -> tuple[Array, Array]:
        """Lowest and highest value of every variable: (2.21)."""
        return self._bound(problem, 0), self._bound(problem, 1)

    def _bound(self, problem: HillProblem, side: int) -> Array:
        N, S, options = self.options.waypoints, self.options.steps, self.options
        sign = (-1.0, 1.0)[side]
        nearer = (max, min)[side]
        axes = []
        for k, bounds in enumerate((self.hill.x_bounds, self.hill.y_bounds)):
            axis = np.full(N, bounds[side])
            axis[0] = problem.start[k]
            axis[-1] = nearer(bounds[side], problem.goal[k] + sign * problem.eta)
            axes.append(axis)
        step = np.full(S, sign * options.max_step)
        s = np.full(S, (-options.epsilon * options.duration, np.inf)[side])
        return pack(*axes, step, step, np.full(S, problem.powers[side]), s)

    def _path(self, problem: HillProblem, result: NlpResult) -> HillPath:
        """The solution as a path; "ok" where the constraints hold in it, found anew."""
        N, S = self.options.waypoints, self.options.steps
        positions, powers = result.z[: 2 * N].reshape(2, N).T, result.z[2 * N + 2 * S :][:S]
        positions, powers = np.ascontiguousarray(positions), np.clip(powers, *problem.powers)
        path = HillPath("ok", positions, powers)
        missed = "" if not result.feasible else violation(problem, path)
        if result.feasible and not missed:
            return path._replace(message=result.message)
        status = result.status if result.status != "ok" else "infeasible"
        return HillPath(status, positions, powers, missed or result.message)
