"""The impacts that the study of their sets takes: the paper's five, and one touchdown of the A1."""

from __future__ import annotations

import logging
from typing import NamedTuple

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.systems import Array
from robots.conventions import FOOT_NAMES
from robots.impact_problem import contact_problem
from robots.robot import load_robot
from saltus.configuration.launch import AT_ORIGIN, load_launch
from saltus.launch.lock_step import LockStep
from studies.halm_posa.systems.catalogue import CASES

LAUNCH, LANDING_AFTER, LANDS = "trot", 0.75, ("FR", "RL")  # its second landing of this pair [s]
LATEST = 1.0  # [s]
A1_STEP = 0.4  # h [N s], more than a foot needs, so that one foot's impact may end in one step
A1_SAMPLES, A1_SAMPLES_FULL = 2**13, 2**16


class Subject(NamedTuple):
    """One impact and how it is sampled."""

    name: str
    problem: ContactProblem
    velocity: Array  # before the impact (n,)
    step: float  # h [N s]
    steps: int | None  # the paper's N, which Algorithm 2 cuts a sample at; None without one
    samples: int
    samples_full: int
    printed_lcps: float | None  # LCPs per sample, Table 3


def paper_subjects(samples: int) -> list[Subject]:
    """The systems of section 5.4, with ``samples`` each, or M of the tables where that is more."""
    return [
        Subject(name, case.problem(), case.velocity(), case.step, case.steps,
                samples, max(case.samples, samples), case.printed_lcps)
        for name, case in CASES.items()
    ]  # fmt: skip


def a1_subject() -> Subject:
    """The A1 trots in lock step; front right and rear left foot land, the other two stand.

    Raises:
        RuntimeError: the pair did not land.
    """
    logging.getLogger("controller").addHandler(logging.NullHandler())  # that it starts is no news
    run = LockStep(load_launch(LAUNCH, (AT_ORIGIN,), duration=LATEST))
    feet = [*map(FOOT_NAMES.index, LANDS)]
    before = run.step().truth
    while before.time < LATEST:
        truth = run.step().truth
        if before.time > LANDING_AFTER and (truth.contact > before.contact)[feet].any():
            problem = contact_problem(load_robot("a1"), before.q, FOOT_NAMES)
            return Subject("A1 trotting", problem, before.v, A1_STEP, None,
                           A1_SAMPLES, A1_SAMPLES_FULL, None)  # fmt: skip
        before = truth
    raise RuntimeError(f"{' and '.join(LANDS)} of the trotting A1 did not land by {LATEST} s")
