"""All outcomes of simultaneous impacts with friction.

Each impact's set is sampled by Algorithms 1 and 2, until no contact closes any more.
within_printed_steps is the share that ends within the N steps of Tables 4-8. bound_lcps is that of
Theorem 8: a sample takes k LCPs more with a probability of at most exp(-k / (m + 1)^2). Named
outcomes are all simultaneous ones of Anitescu and Potra's law, and two sequential ones, in the
order of the contacts and reversed. One is found where a sample is nearer than 2 % of the set's
size, the distance of two outcomes far apart. Distances are in the kinetic metric, over |v|_M. Where
the friction cone is not pointed (24), the end of the impact is observed here, not guaranteed. Times
are without compilation.

The authors' program draws Sobol points, and for three of the systems has other settings than the
tables, which are used here.
"""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from saltation.impacts.contact_problem import ContactProblem
from saltation.impacts.pointedness import pointed_direction
from saltation.impacts.sampling import ImpactSet, SamplingOptions, sample_impacts, sample_paths
from saltation.systems import Array
from studies.figures import Panel, Styled, dots, draw
from studies.halm_posa.systems import (
    box_and_wall,
    compass_gait,
    disk_stacking,
    ramone,
    rocking_block,
)
from studies.halm_posa.systems.named_outcomes import named_outcomes, nearest, set_size
from studies.study import Row, StudyOptions, StudyResult, study

SAMPLES = 2**18  # of each system, where the user gives no number; M where that is more
PATHS, DOTS = 1000, 20_000  # that are drawn


class Subject(NamedTuple):
    """One impact and how it is sampled."""

    name: str
    problem: ContactProblem
    velocity: Array  # before the impact (n,)
    step: float  # h [N s]
    steps: int  # N, which Algorithm 2 cuts a sample at
    most: int  # M is two to this power
    figure: int


# The systems of section 5.4 with the settings of Tables 4-8.
SUBJECTS = [
    Subject(name, module.problem(), module.VELOCITY, step, steps, most, number)
    for name, module, step, steps, most, number in (
        ("rocking block", rocking_block, 0.3, 10, 14, 9),
        ("compass gait", compass_gait, 0.25, 5, 20, 10),
        ("box and wall", box_and_wall, 2.0, 5, 18, 11),
        ("RAMone", ramone, 1.0, 10, 20, 13),
        ("disk stacking", disk_stacking, 1.0, 10, 20, 14)
    )
]  # fmt: skip


@study("Halm and Posa, table 3", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows ``system, samples, lcps_per_sample, microseconds_per_sample, outcomes_found``, more."""
    made, figures = [], {}
    for subject in options.track(SUBJECTS):
        samples = options.count(SAMPLES, max(2**subject.most, SAMPLES))
        problem, v = subject.problem, subject.velocity
        sample_impacts(problem, v, SamplingOptions(2, subject.step))  # compiles
        settings = SamplingOptions(samples, subject.step, seed=options.seed)
        started = perf_counter()
        sampled = sample_impacts(problem, v, settings)
        seconds = perf_counter() - started
        made.append(row(subject, sampled, seconds))
        figures[f"figure-{subject.figure}"] = figure_of(subject, sampled.outcomes, options.seed)
    columns = (
        "system, samples, lcps_per_sample, printed_lcps_per_sample, microseconds_per_sample,"
        " outcomes_found, outcomes, terminated, energy_growth, pointed"
    )
    return StudyResult(made, figures, columns)


def row(subject: Subject, sampled: ImpactSet, seconds: float) -> Row:
    """One row; distances and sizes are in the kinetic metric, over |v|_M."""
    problem, v, samples = subject.problem, subject.velocity, len(sampled.v_plus)
    near = nearest(problem, v, sampled.outcomes)
    far, found = zip(*near.values(), strict=True)
    return {
        "system": subject.name,
        "samples": samples,
        "lcps_per_sample": sampled.lcps.mean(),
        "microseconds_per_sample": 1e6 * seconds / samples,
        "outcomes_found": sum(found),
        "outcomes": len(near),
        "terminated": sampled.terminated.mean(),
        "within_printed_steps": (sampled.lcps <= subject.steps).mean(),
        "energy_growth": sampled.energy_growth,
        "largest_lcps": sampled.lcps.max(),
        "bound_lcps": step_bound(problem, v, subject.step),
        "unsolved_lcps": sum(sampled.failures.values()),
        "pointed": pointed_direction(problem) is not None,
        "set_size": set_size(problem, sampled.outcomes) / problem.kinetic_norm(v),
        "farthest_outcome": max(far),
        "message": sampled.message,
        "distances": {name: each for name, (each, _) in near.items() if np.isfinite(each)},
    }


def net_force_direction(problem: ContactProblem) -> Array | None:
    """r (n,) of (77): r' M^-1 f >= |lambda_n|_1 for contact forces f; None: no pointed cone."""
    d = pointed_direction(problem)
    if d is None:
        return None
    k = problem.directions
    forces = np.repeat(problem.J_n, k, axis=0) + np.repeat(problem.mu, k)[:, None] * problem.J_D
    return problem.M @ d / np.min(forces @ d)


def step_bound(problem: ContactProblem, v: Array, step: float) -> float | None:
    """c of (78) times |v|_M, rounded up; None where the friction cone is not pointed."""
    r = net_force_direction(problem)
    if r is None:
        return None
    sigma = np.linalg.eigvalsh(problem.M)[0]
    c = 4.0 * np.ceil((problem.count + 1) * np.linalg.norm(r) / (step * np.sqrt(sigma)))
    return c * np.ceil(problem.kinetic_norm(v))


def figure_of(subject: Subject, outcomes: Array, seed: int) -> Figure:
    """One impact: sampled paths, the set after it, and the simultaneous and sequential paths."""
    problem, v = subject.problem, subject.velocity
    paths = sample_paths(problem, v, SamplingOptions(PATHS, subject.step, seed=seed))
    *together, forward, reverse = [each.path for each in named_outcomes(problem, v).values()]
    drawn = []
    for (x, row_x), (y, row_y) in planes(problem):
        plane = np.stack((row_x, row_y), axis=-1)  # (n, 2)
        drawn.append(Panel({
            "_sampled": Styled([path @ plane for path in paths],
                               {"color": "0.75", "linewidth": 0.4}),
            "after the impact": dots(outcomes[:DOTS] @ plane, color="0.25"),
            "simultaneous": Styled([path @ plane for path in together], {"marker": "o"}),
            "sequential, in order": Styled(forward @ plane, {"marker": "s"}),
            "sequential, reversed": Styled(reverse @ plane, {"marker": "s", "linestyle": "--"}),
            "before": dots((v @ plane)[None], color="black", markersize=8)
        }, x, y))  # fmt: skip
    return draw(*drawn)


def planes(problem: ContactProblem) -> list[list[tuple[str, Array]]]:
    """Pairs of contacts' velocities that are drawn: label, and row (n,) that gives it.

    Each contact by itself and their normals for two contacts; pairs of normals for more.
    """
    kinds = {"normal": problem.J_n, "tangential": problem.J_D[:: problem.directions]}
    sides = [
        (f"{kind} velocity of {contact} [m/s]", row)
        for kind, J in kinds.items()
        for contact, row in zip(problem.contacts, J, strict=True)
    ]
    if problem.count == 2:
        return [[sides[2], sides[0]], [sides[0], sides[1]], [sides[3], sides[1]]]
    return [sides[i : i + 2] for i in range(0, problem.count - 1, 2)]
