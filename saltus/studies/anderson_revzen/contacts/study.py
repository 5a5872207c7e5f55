"""What a contact costs: a plate on up to 100 springs, event-selected and in MuJoCo (section 5).

Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems". Their integrator, in
NumPy, has MuJoCo's marginal cost of a contact; ours is compiled, as MuJoCo is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saltus.studies.anderson_revzen.contacts.calibration import calibrate
from saltus.studies.anderson_revzen.contacts.figures import calibration_figure, cost_figure
from saltus.studies.anderson_revzen.contacts.measurement import collision_share, prepared
from saltus.studies.anderson_revzen.contacts.notes import criteria, notes
from saltus.studies.anderson_revzen.contacts.spring_bed import SpringBed, random_starts
from saltus.studies.anderson_revzen.contacts.sweep import rows, steps_of, sweep
from saltus.studies.engine import StudyOptions, StudyResult
from sim_bridge.compiled_step import stop_stage_timers

TRIALS = 120  # random starts, 5.2
CONTACTS = (2, 10, 25, 50, 75, 100)
STIFF_PART = 4  # of the starts, one in so many is tried on the beds that stiffen too
SHOWN = (
    "contacts",
    "ours_s",
    "mujoco_s",
    "ours_rms",
    "mujoco_rms",
    "hopper_epsilon_s",
    "hopper_epsilon_rms",
    "long_steps_s",
)  # keys in the table for a person


def run(options: StudyOptions) -> StudyResult:
    """Rows ``contacts, ours_s, mujoco_s, ours_rms, mujoco_rms, marginal_ratio`` and more."""
    return study(options, CONTACTS)


def study(options: StudyOptions, contacts: Sequence[int]) -> StudyResult:
    """The study on beds of ``contacts`` springs, two sizes or more.

    The rows are of beds that are equally stiff; those in the notes have equally stiff springs, and
    are the stiffer the larger they are.
    """
    trials = TRIALS if options.trials is None else options.trials
    starts = random_starts(trials, np.random.default_rng(options.seed))
    some = starts[::STIFF_PART]
    beds = [SpringBed(count) for count in contacts]
    each = SpringBed(2).spring_stiffness
    stiffer = [SpringBed(count, stiffness=count * each) for count in contacts]
    total = 1 + steps_of(len(beds), len(starts)) + steps_of(len(stiffer), len(some))
    done = iter(range(total))

    def step(what: str) -> None:
        options.progress(next(done), total, what)

    step("calibration on the hopper")
    calibration = calibrate()
    share = collision_share(prepared(beds[-1], starts[:1]), starts[0])
    stop_stage_timers()
    found = sweep(beds, starts, calibration.epsilon, step)
    stiff = sweep(stiffer, some, calibration.epsilon, step)
    options.progress(total, total, "figures")
    made = rows(found)
    figures = {
        "figure-5.1": calibration_figure(calibration),
        "figure-5.2": cost_figure(found, made),
    }
    closing = notes(made, calibration, found, stiff, share)
    return StudyResult(made, figures, closing, SHOWN, criteria=criteria(found))
