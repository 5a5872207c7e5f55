"""Table 3.1: covariance through hybrid transitions, particles against first-order maps (3.8.5).

The divergence (3.161) is of the prediction from the particles' own final covariance, Sigma_0.
"""

from __future__ import annotations

from saltus.common.errors import BadRequest
from saltus.studies.engine import StudyOptions, StudyResult
from saltus.studies.kong.table_3_1.cases import cases
from saltus.studies.kong.table_3_1.experiment import Experiment, Level, experiment
from saltus.studies.kong.table_3_1.figures import draw

PARTICLES = 1000  # 3.8.5
LEVELS: tuple[Level, ...] = ("low", "high")
ASLIP_NOTE = (
    "aslip: divergence of the body's six coordinates; with the printed mean and duration it ends"
    " in flight, after one touchdown and one liftoff"
)


def run(options: StudyOptions) -> StudyResult:
    """Rows for four systems at two initial covariances, and one figure a system.

    Raises:
        BadRequest: fewer particles than a covariance of six coordinates needs.
    """
    particles = PARTICLES if options.trials is None else options.trials
    every = cases()
    needed = 2 + max(len(case.mean) for case in every)
    if particles < needed:
        raise BadRequest(f"--trials {particles}: give {needed} or more, for a covariance")
    experiments: list[Experiment] = []
    for case in every:
        for level in LEVELS:
            options.progress(len(experiments), len(LEVELS) * len(every), f"{case.name} {level}")
            experiments.append(experiment(case, level, particles, options.seed))
    options.progress(len(experiments), len(experiments), "figures")
    figures = {f"figure_{key}": draw(one) for key, one in _drawn(experiments)}
    notes = [ASLIP_NOTE]
    notes += [f"{one.case.name} {one.level}: {one.lost} particles lost" for one in experiments
              if one.lost]  # fmt: skip
    return StudyResult([one.row() for one in experiments], figures, notes)


def _drawn(experiments: list[Experiment]) -> list[tuple[str, Experiment]]:
    """Those that get a figure: the wide ones, as what differs is seen there."""
    numbers = {"constant_flow": "3_9", "bouncing_ball": "3_10", "pendulum": "3_11"}
    wide = [one for one in experiments if one.level == "high"]
    return [(numbers.get(one.case.name, one.case.name), one) for one in wide]
