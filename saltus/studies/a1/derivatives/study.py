"""The planner's three kinds of derivatives, along its own solves of pushed walks and trots.

`rigid`: sticking feet and saltation matrices, as in the thesis; `rollout`: MuJoCo's soft step,
differentiated analytically; `differences`: the same by finite differences. Each with saltation
matrices at touchdowns (Xi) or the reset's Jacobian alone (DxR), where it has them. Compared are
errors of A and B, predictions under feedback, descent of the cost, gains, their loop, and time.
"""

from __future__ import annotations

from collections.abc import Sequence

from controller.planner_options import PlannerOptions
from saltus.studies.a1.derivatives.descent import descend, measure_times
from saltus.studies.a1.derivatives.errors import ANALYTIC, kinds_of, measure_errors
from saltus.studies.a1.derivatives.figure import draw
from saltus.studies.a1.derivatives.loop import measure_loops
from saltus.studies.a1.derivatives.notes import notes
from saltus.studies.a1.derivatives.prediction import predict
from saltus.studies.a1.derivatives.problems import Problem, record, spread
from saltus.studies.a1.derivatives.rows import (
    SHOWN,
    descent_rows,
    error_rows,
    gain_rows,
    loop_rows,
    prediction_rows,
    step_rows,
    time_rows,
)
from saltus.studies.engine import StudyOptions, StudyResult

PUSHES, FULL_PUSHES = 2, 8  # of each gait
TRAJECTORIES, FULL_TRAJECTORIES = 14, 60  # of which differences are taken with every step
TIMED = 12  # trajectories


def run(options: StudyOptions) -> StudyResult:
    """Rows of all parts; ``trials`` is the number of pushes of each gait.

    Raises:
        BadRequest: the suite has not so many pushes.
    """
    pushes = options.trials or (FULL_PUSHES if options.full else PUSHES)
    return compare(record(pushes, options.progress), options)


def compare(problems: Sequence[Problem], options: StudyOptions) -> StudyResult:
    """Compare all kinds on these problems."""
    planner, progress = PlannerOptions(), options.progress
    kinds = kinds_of(planner)
    some = spread(problems, FULL_TRAJECTORIES if options.full else TRAJECTORIES)
    errors = measure_errors(some, kinds, planner, progress)
    descents = {kind.key: descend(problems, kind, planner, progress) for kind in kinds}
    gains = descents[ANALYTIC].gains  # close the loop of predictions
    prediction = predict(problems, gains, kinds, planner, options.seed, progress)
    loops = measure_loops(problems, {k: d.gains for k, d in descents.items()}, progress)
    times = measure_times(spread(problems, TIMED), kinds, planner, progress)
    rows = [
        *error_rows(errors), *step_rows(errors), *prediction_rows(prediction),
        *descent_rows(descents), *gain_rows(descents), *loop_rows(loops), *time_rows(times),
    ]  # fmt: skip
    figures = {"derivatives": draw(rows)}
    return StudyResult(rows, figures, notes(rows, errors.step), SHOWN, digits=2)
