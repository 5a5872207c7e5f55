"""Derivatives of the planner's model: rigid, of soft contact, by differences.

`rigid`: sticking feet and saltation matrices, as in the thesis; `rollout`: MuJoCo's soft step,
differentiated analytically; `differences`: the same by finite differences. Each with saltation
matrices at touchdowns (Xi) or the reset's Jacobian alone (DxR), where it has them.

error: relative error of A or B against centred differences with contacts solved to tolerance 0, in
knots where these agree with those of a tenth of the step to 1e-4; reference_step is theirs, where
truncation and rounding balance. descent: solves of the planner, seeded by its earlier plans; costs
are geometric means, ratio is the median of actual over expected change (5.19). gain: of a joint by
its own angle [N m/rad] and velocity [N m s/rad]. time: of a knot on one thread, and its ratio to
rigid Xi, on this computer.

Rollout Xi changes A at touchdowns, because it is the derivative of a mean over landing times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from timeit import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.hilqr_planner import solver_options
from controller.rigid_derivatives import RigidDerivatives
from controller.robot_model import Derivatives, RobotModel
from saltation.hilqr import Hilqr, Trajectory, compose
from saltation.hilqr.riccati import Variant
from saltation.systems import Array
from sim_bridge.rollouts.derivatives import DifferenceDerivatives, RolloutDerivatives
from sim_bridge.rollouts.threaded import ThreadedRollout
from studies.a1.derivatives_problems import (
    A1,
    PLANNER,
    SITUATIONS,
    Problem,
    record,
    situations,
    spread,
)
from studies.study import Row, StudyOptions, StudyResult, study

KINDS = "rigid_xi", "rigid_dxr", "rollout_dxr", "rollout_xi", "differences"
ANALYTIC = "rollout_dxr"  # of the step itself, whose derivatives differences are, too
PUSHES = 2  # of each gait
TRAJECTORIES = 14  # of which differences are taken with every step
TIMED, REPEATS = 12, 3  # trajectories, and how often each is timed
QUANTILES = {"median": 50.0, "99 %": 99.0}
STEP = PLANNER.period, PLANNER.search.substeps  # of a knot [s], and in how many
THREADS = 2
STEPS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)  # of the differences, in SI units
SOLVER_ITERATIONS = 20  # at tolerance 0, where all are done; more change only the last digits
AGREEMENT = 1e-4  # of differences with two steps, relative
BETWEEN = "between steps"
ITERATIONS = 2  # of a solve


class Kind(NamedTuple):
    """One kind of derivatives, as the planner uses it."""

    derivatives: Derivatives
    variant: Variant = "xi"

    def linearise(self, trajectory: Trajectory) -> tuple[Array, Array]:
        """A (N, 36, 36) and B (N, 36, 12) of whole knots, touchdowns included."""
        return compose(self.derivatives.linearise(trajectory), self.variant)


@study("the A1's planner", "trials")
def run(options: StudyOptions) -> StudyResult:
    """Rows of all parts; ``trials`` is the number of pushes of each gait.

    Raises:
        BadRequest: the suite has not so many pushes.
    """
    return compare(record(options.count(PUSHES), options), options)


def compare(problems: Sequence[Problem], options: StudyOptions) -> StudyResult:
    """Compare all kinds, each on one thread, on these problems."""
    rigid = RigidDerivatives(A1, PLANNER.period, touchdown_order=PLANNER.touchdown_order)
    kinds = {
        "rigid_xi": Kind(rigid),
        "rigid_dxr": Kind(rigid, "dxr"),
        ANALYTIC: Kind(RolloutDerivatives(A1, *STEP, 1, saltation=False)),
        "rollout_xi": Kind(RolloutDerivatives(A1, *STEP, 1, saltation=True)),
        "differences": Kind(DifferenceDerivatives(A1, *STEP, 1)),
    }
    errors = error_rows(spread(problems, TRAJECTORIES), kinds, options)
    gains, descents = descend(problems, kinds, options)
    # Each joint's gains by its own angle and velocity, in the first iteration.
    joints, gain_rows = np.arange(12), list[Row]()
    for case, first in (("angle", 6), ("velocity", 24)):
        own = {key: np.abs(K[..., joints, first + joints]).ravel() for key, K in gains.items()}
        gain_rows += quantiles("gain", case, own)
    rows = [*errors, *descents, *gain_rows, *time_rows(spread(problems, TIMED), kinds, options)]
    return StudyResult(rows, columns=", ".join(("part", "case", "measure", "count=n", *KINDS)))


def cells(part: str, case: str, measure: str, count: int, values: Row, **more: Any) -> Row:
    """One measure of all kinds of derivatives; None where a kind has no value."""
    head = {"part": part, "case": case, "measure": measure, "count": count}
    return head | {key: values.get(key) for key in KINDS} | more


def quantiles(part: str, case: str, values: Row, prefix: str = "", **more: Any) -> Iterable[Row]:
    """Median and 99 % of each kind's values (n,)."""
    count = len(next(iter(values.values())))
    for name, q in QUANTILES.items():
        found = {key: np.percentile(each, q) for key, each in values.items()}
        yield cells(part, case, prefix + name, count, found, **more)


def error_rows(
    problems: Sequence[Problem], kinds: Mapping[str, Kind], options: StudyOptions
) -> list[Row]:
    """Errors of A and B along the problems' seeds, by situation.

    Over knots in which no difference straddles a change of the active set. The step of the
    differences is that which is closest to a tenth of it, in 99 % of the knots: truncation grows
    with the step, and rounding as it shrinks.
    """
    tracked = options.track(problems, "errors of A and B")
    parts = [_errors(problem.seed, kinds) for problem in tracked]
    errors = {key: np.concatenate([part[1][key] for part in parts]) for key in parts[0][1]}
    between = {step: each.max(axis=1) for (name, step), each in errors.items() if name == BETWEEN}
    best = min(between, key=lambda step: np.percentile(between[step], 99))
    where, rows = np.concatenate([part[0] for part in parts]), list[Row]()
    for situation in SITUATIONS:
        chosen = (where == situation) & (between[best] < AGREEMENT)
        left_out = (where == situation).sum() - chosen.sum()
        for i, matrix in enumerate("AB" if chosen.any() else ""):
            own = {key: errors[key, best][chosen, i] for key in KINDS}
            rows += quantiles("error", situation, own, f"{matrix}, ",
                              left_out=left_out, reference_step=best)  # fmt: skip
    return rows


def _errors(
    trajectory: Trajectory, kinds: Mapping[str, Kind]
) -> tuple[NDArray[np.str_], dict[tuple[str, float], Array]]:
    """Situations (K,) of the knots, and errors of A and of B (K, 2) by kind and step.

    The reference are centred differences of steps whose contacts are solved as far as numbers go.
    Also of these against those of a tenth of the step (`BETWEEN`).
    """
    by_kind = {key: kind.linearise(trajectory) for key, kind in kinds.items()}
    errors, smaller = {}, None
    for step in reversed(STEPS):
        centred = DifferenceDerivatives(A1, *STEP, THREADS, difference=step, centred=True)
        centred.model.opt.tolerance, centred.model.opt.iterations = 0.0, SOLVER_ITERATIONS
        reference = compose(centred.linearise(trajectory))
        for key, matrices in by_kind.items():
            errors[key, step] = _relative(matrices, reference)
        if smaller is not None:
            errors[BETWEEN, step] = _relative(smaller, reference)
        smaller = reference
    return situations(trajectory.states, trajectory.inputs), errors


def _relative(found: tuple[Array, Array], reference: tuple[Array, Array]) -> Array:
    """Norm of the error over the norm of the reference (N, 2), Frobenius's, of A and of B."""
    return np.stack([
        np.linalg.norm(one - other, axis=(1, 2)) / np.linalg.norm(other, axis=(1, 2))
        for one, other in zip(found, reference, strict=True)
    ], axis=1)  # fmt: skip


def descend(
    problems: Sequence[Problem], kinds: Mapping[str, Kind], options: StudyOptions
) -> tuple[dict[str, Array], list[Row]]:
    """Iterate on each problem; the reference's own policy is no candidate.

    Returns:
        Gains (P, N, 12, 36) of the first backward passes by kind, about the seeds; and rows of the
        line searches and costs. Ratio and step size are of first iterations that were accepted.
    """
    backend = ThreadedRollout(A1, PLANNER.knots, *STEP, THREADS)
    gains, table = {}, defaultdict[tuple[str, str], Row](dict)
    for key, kind in kinds.items():
        model = RobotModel(A1, backend, kind.derivatives, PLANNER.cost)
        solver = Hilqr(model, replace(solver_options(PLANNER), variant=kind.variant))
        solved = []
        for problem in options.track(problems, f"iterations, {key}"):
            model.track(problem.window)
            solver.regularisation.reset()
            trajectory, steps = problem.seed, []
            for _ in range(ITERATIONS):
                steps.append(solver.iterate(problem.x0, trajectory))
                trajectory = steps[-1].trajectory
            solved.append(steps)
        gains[key] = np.array([steps[0].backward.gains for steps in solved])
        for i, steps in enumerate(zip(*solved, strict=True)):
            costs = np.array([step.trajectory.cost / problem.seed.cost
                              for step, problem in zip(steps, problems, strict=True)])  # fmt: skip
            case = f"iteration {i + 1}"
            table[case, "cost/seed"][key] = np.exp(np.log(costs).mean())
            table[case, "rejected"][key] = np.mean([step.status == "rejected" for step in steps])
        first = [(each.ratio, each.step_size) for each, *_ in solved if each.status == "improved"]
        for i, measure in enumerate(("ratio", "step size")):
            found = table["iteration 1", measure]
            if first:
                found[key] = np.median(first, axis=0)[i]
    return gains, [cells("descent", *names, len(problems), row) for names, row in table.items()]


def time_rows(
    problems: Sequence[Problem], kinds: Mapping[str, Kind], options: StudyOptions
) -> list[Row]:
    """Median over trajectories of the time of a knot on one thread, and its ratio to rigid Xi.

    Kind after kind on each trajectory, so that what disturbs one disturbs all. The best of
    `REPEATS`: what else runs only adds.
    """
    taken = [
        [min(repeat(partial(kind.linearise, problem.seed), repeat=REPEATS, number=1))
         for kind in kinds.values()]
        for problem in options.track(problems, "time")
    ]  # fmt: skip
    medians = 1e6 * np.median(taken, axis=0) / len(problems[0].seed.inputs)  # of a knot [us]
    knot = dict(zip(kinds, medians, strict=True))
    whole = {key: round(each) for key, each in knot.items()}  # to be read with ease
    ratios = {key: each / knot["rigid_xi"] for key, each in knot.items()}
    return [cells("time", "knot", "us", len(problems), whole),
            cells("time", "knot", "ratio", len(problems), ratios)]  # fmt: skip
