"""Kinds of derivatives, and the errors of their A and B knot by knot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.planner_options import PlannerOptions
from controller.rigid_derivatives import RigidDerivatives
from controller.robot_model import Derivatives
from hybrid.hilqr import Trajectory, compose
from hybrid.hilqr.riccati import Variant
from hybrid.systems import Array
from robots.robot import load_robot
from sim_bridge.rollouts.derivatives import DifferenceDerivatives, RolloutDerivatives
from sim_bridge.rollouts.planning_model import planning_model
from studies.a1.derivatives.problems import Problem, Progress, situations

STEPS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)  # of the differences, in SI units
SOLVER_ITERATIONS = 20  # at tolerance 0, where all are done; more change only the last digits
AGREEMENT = 1e-4  # of differences with two steps, relative
BETWEEN, ONE_SIDED = "between steps", "one-sided"
ANALYTIC = "rollout_dxr"  # of the step itself, whose derivatives differences are, too
KINDS = {
    "rigid_xi": "rigid Xi", "rigid_dxr": "rigid DxR", "rollout_dxr": "rollout DxR",
    "rollout_xi": "rollout Xi", "differences": "finite diff.",
}  # fmt: skip


class Kind(NamedTuple):
    """One kind of derivatives, as the planner uses it, and its key in the table."""

    key: str
    derivatives: Derivatives
    variant: Variant = "xi"

    def linearise(self, trajectory: Trajectory) -> tuple[Array, Array]:
        """A (N, 36, 36) and B (N, 36, 12) of whole knots, touchdowns included."""
        return compose(self.derivatives.linearise(trajectory), self.variant)


class KnotErrors(NamedTuple):
    """Errors of K knots; the last axis is of A and of B.

    Attributes:
        situation: (K,) of `SITUATIONS`.
        errors: (K, 2) by kind and step of the centred differences that are the reference. Also
            of these against those of a tenth of the step (`BETWEEN`), and of the planner's own
            differences with that step against analytic derivatives (`ONE_SIDED`).
        step: at which truncation and rounding are balanced.
    """

    situation: NDArray[np.str_]
    errors: dict[tuple[str, float], Array]
    step: float

    @property
    def away(self) -> NDArray[np.bool_]:
        """Whether no difference straddles a change of the active set (K,)."""
        return self.errors[BETWEEN, self.step].max(axis=1) < AGREEMENT


def kinds_of(options: PlannerOptions) -> list[Kind]:
    """All kinds, each on one thread."""
    horizon = options.period, options.search.substeps, 1
    rigid = RigidDerivatives(
        load_robot("a1"), options.period, touchdown_order=options.touchdown_order
    )
    return [
        Kind("rigid_xi", rigid),
        Kind("rigid_dxr", rigid, "dxr"),
        Kind("rollout_dxr", RolloutDerivatives(load_robot("a1"), *horizon, saltation=False)),
        Kind("rollout_xi", RolloutDerivatives(load_robot("a1"), *horizon, saltation=True)),
        Kind("differences", DifferenceDerivatives(load_robot("a1"), *horizon)),
    ]


def measure_errors(
    problems: Sequence[Problem], kinds: Sequence[Kind], options: PlannerOptions, progress: Progress
) -> KnotErrors:
    """Errors along the problems' seeds."""
    parts: list[tuple[NDArray[np.str_], dict[tuple[str, float], Array]]] = []
    for done, problem in enumerate(problems):
        progress(done, len(problems), "errors of A and B")
        parts.append(_measure(problem.seed, kinds, options))
    errors = {key: np.concatenate([part[1][key] for part in parts]) for key in parts[0][1]}
    return KnotErrors(np.concatenate([part[0] for part in parts]), errors, balanced_step(errors))


def balanced_step(errors: dict[tuple[str, float], Array]) -> float:
    """The step whose differences are closest to those of a tenth of it, in 99 % of the knots.

    Truncation grows with the step, and rounding as it shrinks.
    """
    steps = [step for name, step in errors if name == BETWEEN]
    return min(steps, key=lambda step: float(np.percentile(errors[BETWEEN, step].max(axis=1), 99)))


def _measure(
    trajectory: Trajectory, kinds: Sequence[Kind], options: PlannerOptions
) -> tuple[NDArray[np.str_], dict[tuple[str, float], Array]]:
    """Situations and errors along one trajectory, as in `KnotErrors`."""
    matrices_by_kind = {kind.key: kind.linearise(trajectory) for kind in kinds}
    model = planning_model(load_robot("a1"), options.period / options.search.substeps)
    errors, smaller = {}, None
    for step in reversed(STEPS):
        reference = compose(reference_derivatives(options, step).linearise(trajectory))
        for key, matrices in matrices_by_kind.items():
            errors[key, step] = relative(matrices, reference)
        if smaller is not None:
            errors[BETWEEN, step] = relative(smaller, reference)
        horizon = options.period, options.search.substeps, 2
        one_sided = compose(
            DifferenceDerivatives(load_robot("a1"), *horizon, difference=step).linearise(trajectory)
        )
        errors[ONE_SIDED, step] = relative(one_sided, matrices_by_kind[ANALYTIC])
        smaller = reference
    return situations(model, trajectory.states, trajectory.inputs, options.search.substeps), errors


def reference_derivatives(options: PlannerOptions, step: float) -> DifferenceDerivatives:
    """Centred differences of steps whose contacts are solved as far as numbers go."""
    derivatives = DifferenceDerivatives(
        load_robot("a1"), options.period, options.search.substeps, 2, difference=step, centred=True
    )
    derivatives.model.opt.tolerance = 0.0
    derivatives.model.opt.iterations = SOLVER_ITERATIONS
    return derivatives


def relative(matrices_by_kind: tuple[Array, Array], reference: tuple[Array, Array]) -> Array:
    """Norm of the error over the norm of the reference (N, 2), Frobenius's, of A and of B."""
    return np.stack([
        np.linalg.norm(one - other, axis=(1, 2)) / np.linalg.norm(other, axis=(1, 2))
        for one, other in zip(matrices_by_kind, reference, strict=True)
    ], axis=1)  # fmt: skip
