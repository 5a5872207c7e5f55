"""Deviations under feedback: predicted by products of A + B K, and rolled out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.planner_options import PlannerOptions
from hybrid.hilqr import Policies, Trajectory
from hybrid.systems import Array
from robots.robot import load_robot
from robots.state import difference_batch, integrate
from sim_bridge.rollouts.planning_model import planning_model
from sim_bridge.rollouts.threaded import ThreadedRollout
from studies.a1.derivatives.errors import Kind
from studies.a1.derivatives.problems import TOUCHDOWN, Problem, Progress, situations

HORIZONS = (1, 5, 10, 25)  # of predictions [knots]
SIZES = (0.01, 0.1, 1.0, 3.0)  # of perturbations, in parts of `SCALE`
STARTS = 8  # knots of a trajectory from which it is predicted
# Standard deviations of position, angles and velocities: such as an estimate is off by.
SCALE = np.repeat([0.003, 0.01, 0.1], [3, 15, 18])  # [m], [rad], [m/s and rad/s]


class Prediction(NamedTuple):
    """S perturbed motions.

    Attributes:
        size: (S,) of the perturbation, in parts of `SCALE`.
        touchdown: (S, len(HORIZONS)) whether the nominal motion has a touchdown within it.
        errors: (S, len(HORIZONS)) by kind: length of predicted minus true deviation over the
            length of the true one, numbers of the state in parts of `SCALE`.
    """

    size: Array
    touchdown: NDArray[np.bool_]
    errors: dict[str, Array]


def predict(
    problems: Sequence[Problem], gains: Array, kinds: Sequence[Kind], options: PlannerOptions,
    seed: int, progress: Progress,
) -> Prediction:  # fmt: skip
    """Predict along the problems' seeds.

    Args:
        problems: P of them; gains: (P, N, 12, 36) of the feedback, the same for all kinds.
        kinds: which predict.
        options: of the planner.
        seed: of the random perturbations.
    """
    rng, last = np.random.default_rng(seed), max(HORIZONS)
    substeps = options.search.substeps
    backend = ThreadedRollout(load_robot("a1"), last, options.period, substeps, 1)
    model = planning_model(load_robot("a1"), options.period / substeps)
    sizes, touchdowns, errors = [], [], {kind.key: [] for kind in kinds}
    for done, (problem, K) in enumerate(zip(problems, gains, strict=True)):
        progress(done, len(problems), "predictions")
        nominal = problem.seed
        lands = situations(model, nominal.states, nominal.inputs, substeps) == TOUCHDOWN
        loops = {}
        for kind in kinds:
            A, B = kind.linearise(nominal)
            loops[kind.key] = A + B @ K
        for start in rng.integers(0, len(K) - last + 1, STARTS):
            direction = SCALE * rng.normal(size=36)
            for size in SIZES:
                dx = size * direction
                true = deviations(backend, nominal, K, int(start), dx)
                if true is None:
                    continue
                sizes.append(size)
                touchdowns.append([bool(lands[start : start + n].any()) for n in HORIZONS])
                for key, loop in loops.items():
                    errors[key].append(_errors(loop[start : start + last], dx, true))
    relative_errors = {key: np.array(each) for key, each in errors.items()}
    return Prediction(np.array(sizes), np.array(touchdowns), relative_errors)


def deviations(
    backend: ThreadedRollout, nominal: Trajectory, gains: Array, start: int, dx: Array
) -> Array | None:
    """What becomes of a perturbation dx (36,) at the knot `start` of a nominal motion.

    Returns:
        Deviations (`max(HORIZONS)` + 1, 36); None where the rollout diverged.
    """
    knots = slice(start, start + max(HORIZONS))
    states = nominal.states[start : knots.stop + 1]
    x0 = np.concatenate(integrate(states[0, :19], states[0, 19:], dx))
    rolled = backend.roll_out(x0, Policies.of(states, nominal.inputs[knots], gains[knots]))
    if not rolled.finite[0]:
        return None
    x = rolled.states[0]
    return difference_batch(states[:, :19], states[:, 19:], x[:, :19], x[:, 19:])


def _errors(loop: Array, dx: Array, true: Array) -> list[float]:
    """Relative errors at `HORIZONS` of the prediction by closed-loop matrices (N, 36, 36)."""
    errors = []
    for k, matrix in enumerate(loop, start=1):
        dx = matrix @ dx
        if k in HORIZONS:
            error = np.linalg.norm((dx - true[k]) / SCALE)
            errors.append(float(error / np.linalg.norm(true[k] / SCALE)))
    return errors
