"""All outcomes of simultaneous impacts with friction.

Each impact's set is sampled by Algorithms 1 and 2, and compared with what the law of Anitescu and
Potra says for all contacts at once and for one after another.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np

from hybrid.impacts.contact_problem import COLLIDING
from hybrid.impacts.pointedness import pointed_direction
from hybrid.impacts.sampling import ImpactSet, SamplingOptions, sample_impacts
from studies.halm_posa.impact_sets.cases import Subject, a1_subject, paper_subjects
from studies.halm_posa.impact_sets.figures import FIGURES, draw
from studies.halm_posa.systems.named_outcomes import NEAR, SAME, Nearest, nearest, set_size
from studies.study import StudyOptions, StudyResult, study

SAMPLES = 2**18  # of each system of the paper unless its own number is asked for
REPEATS, ENOUGH = 3, 0.5  # of the timing, until that many seconds
ROUNDING = 1e-12  # growth of the energy in a step, over that before, that is none
SHOWN = ("system", "samples", "lcps_per_sample", "printed_lcps", "microseconds_per_sample",
         "outcomes_found", "outcomes")  # fmt: skip


class Measured(NamedTuple):
    """One sampled set and what it cost."""

    subject: Subject
    sampled: ImpactSet
    seconds: float
    nearest: list[Nearest]


@study("Halm and Posa, table 3", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows ``system, samples, lcps_per_sample, microseconds_per_sample, outcomes_found``, more."""
    options.progress(0, 1, "the A1 trots")
    return sample_sets([*paper_subjects(SAMPLES), a1_subject()], options)


def sample_sets(subjects: Sequence[Subject], options: StudyOptions) -> StudyResult:
    """The study of these impacts."""
    measured, figures = [], {}
    for subject in options.track(subjects, lambda subject: subject.name):
        measured.append(measure(subject, options))
        drawing = draw(subject, measured[-1].sampled.outcomes, options.seed)
        figures[FIGURES[subject.name]] = drawing
    return StudyResult([row(each) for each in measured], figures, notes(measured), SHOWN)


def measure(subject: Subject, options: StudyOptions) -> Measured:
    """Sample one impact's outcomes until no contact closes any more."""
    samples = options.count(subject.samples, subject.samples_full)
    problem, v = subject.problem, subject.velocity
    sampled = sample_impacts(problem, v, SamplingOptions(2, subject.step))  # compiles
    settings, seconds = SamplingOptions(samples, subject.step, seed=options.seed), []
    while sum(seconds) < ENOUGH and len(seconds) < REPEATS:  # what is short is timed again
        started = perf_counter()
        sampled = sample_impacts(problem, v, settings)
        seconds.append(perf_counter() - started)
    near = nearest(problem, v, sampled.outcomes)
    return Measured(subject, sampled, float(np.median(seconds)), near)


@dataclass(frozen=True)
class ImpactRow:
    """One sampled set; distances and sizes are in the kinetic metric, over |v|_M."""

    system: str
    samples: int
    lcps_per_sample: float
    printed_lcps: float | None
    microseconds_per_sample: float
    outcomes_found: int
    outcomes: int
    terminated: float
    within_printed_steps: float | None
    energy_growth: float
    unsolved_lcps: int
    pointed: bool
    set_size: float
    farthest_outcome: float | None
    distances: dict[str, float]


def row(measured: Measured) -> ImpactRow:
    """One row; distances and sizes are in the kinetic metric, over |v|_M."""
    subject, sampled, seconds, near = measured
    unit = subject.problem.kinetic_norm(subject.velocity)
    size = set_size(subject.problem, sampled.outcomes) / unit
    farthest = max(each.distance for each in near)
    within = None if subject.steps is None else float((sampled.lcps <= subject.steps).mean())
    return ImpactRow(
        system=subject.name,
        samples=len(sampled.v_plus),
        lcps_per_sample=float(sampled.lcps.mean()),
        printed_lcps=subject.printed_lcps,
        microseconds_per_sample=1e6 * seconds / len(sampled.v_plus),
        outcomes_found=sum(each.found for each in near),
        outcomes=len(near),
        terminated=float(sampled.terminated.mean()),
        within_printed_steps=within,
        energy_growth=sampled.energy_growth,
        unsolved_lcps=sum(sampled.failures.values()),
        pointed=pointed_direction(subject.problem) is not None,
        set_size=size,
        farthest_outcome=farthest if np.isfinite(farthest) else None,
        distances={each.name: each.distance for each in near if np.isfinite(each.distance)},
    )


def notes(measured: Sequence[Measured]) -> list[str]:
    """What a reader must know, from what was measured."""
    rows = [row(each) for each in measured]
    return [
        f"Named outcomes: every simultaneous outcome of Anitescu and Potra's law, and the two"
        f" sequential orders of the contacts. An outcome counts as found if a sample is nearer than"
        f" {NEAR:.0%} of the set's size (distance of two outcomes far apart). Distances are in the"
        " kinetic metric, over |v|_M.",
        *_required(rows, measured),
        _printed(rows),
        *_cut(rows),
        *_farthest(measured),
        *_alone(measured),
        f"Times are with {os.cpu_count()} processors, without compilation.",
    ]


def _required(rows: Sequence[ImpactRow], measured: Sequence[Measured]) -> list[str]:
    """Whether energy, termination and outcomes are as they must be, and where not."""
    growth = max(each.energy_growth for each in rows)
    missing = [f"{each.subject.name}: {n.name}" for each in measured for n in each.nearest
               if not n.found]  # fmt: skip
    going = [each.system for each in rows if each.terminated < 1.0]
    blunt = [each.system for each in rows if not each.pointed]
    energy = "never grew" if growth <= ROUNDING else f"grew by up to {growth:.1e} of it in a step"
    ended = f"some samples of {', '.join(going)} did not end" if going else "every sample ended"
    outcomes = f"not found: {'; '.join(missing)}" if missing else "every named outcome was found"
    failed = sum(each.unsolved_lcps for each in rows)
    lines = [f"Kinetic energy {energy}; {ended}; {outcomes}; {failed} LCPs were not solved."]
    lines += [each.sampled.message for each in measured if each.sampled.message]
    if blunt:
        lines.append(f"The friction cone of {', '.join(blunt)} is not pointed (24): the end of its"
                    " impact is observed here, not guaranteed.")  # fmt: skip
    return lines


def _farthest(measured: Sequence[Measured]) -> list[str]:
    """The outcome that samples come least near to, of all systems."""
    worst = None
    for each in measured:
        unit = each.subject.problem.kinetic_norm(each.subject.velocity)
        size = set_size(each.subject.problem, each.sampled.outcomes) / unit
        for one in each.nearest:
            if one.found and size > SAME and (worst is None or one.distance / size > worst[0]):
                worst = one.distance / size, f"{each.subject.name}, {one.name}"
    if worst is None:
        return []
    return [f"Largest distance of a found outcome from the samples: {worst[1]}, {worst[0]:.1%} of"
            " the set's size. Every outcome of (31) is in the set: it is a step (75) whose bounds"
            " exceed its impulses."]  # fmt: skip


def _alone(measured: Sequence[Measured]) -> list[str]:
    """Systems of whose contacts one alone closes at first."""
    subjects = [each.subject for each in measured]
    names = [s.name for s in subjects if (s.problem.J_n @ s.velocity < -COLLIDING).sum() == 1]
    return [f"Before the impact, only one contact closes in {', '.join(names)}: every order of"
            " impacts begins with it."] if names else []  # fmt: skip


def _printed(rows: Sequence[ImpactRow]) -> str:
    """Table 3 beside the rows."""
    ratios = [each.lcps_per_sample / each.printed_lcps for each in rows
              if each.printed_lcps]  # fmt: skip
    if not ratios:
        return "None of these impacts is in Table 3."
    return (
        f"LCPs per sample are {min(ratios):.2f} to {max(ratios):.2f} times those of Table 3, with h"
        " of Tables 4-8; the authors' program draws Sobol points, and has other settings than the"
        " tables for three of the systems."
    )


def _cut(rows: Sequence[ImpactRow]) -> list[str]:
    over = [f"{each.system} {1.0 - each.within_printed_steps:.1e}" for each in rows
            if each.within_printed_steps is not None
            and each.within_printed_steps < 1.0]  # fmt: skip
    text = "Samples run until they end, beyond the N steps of Tables 4-8 where needed"
    return [f"{text}; share that needs more: {', '.join(over)}."] if over else [f"{text}."]
