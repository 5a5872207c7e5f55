"""Cost of a contact: a plate on up to 100 springs, event-selected and in MuJoCo.

Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems". Their integrator, in
NumPy, has MuJoCo's marginal cost of a contact; ours is compiled, as MuJoCo is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sim_bridge.compiled_step import stop_stage_timers
from studies.anderson_revzen.ess_contacts.calibration import (
    FALLS,
    PRINTED,
    Calibration,
    calibrate,
)
from studies.anderson_revzen.ess_contacts.figures import calibration_figure, cost_figure
from studies.anderson_revzen.ess_contacts.measurement import (
    LOOSE,
    BedRow,
    Sweep,
    collision_share,
    prepared,
    rows,
    steps_of,
    sweep,
)
from studies.anderson_revzen.ess_contacts.spring_bed import SpringBed, random_starts
from studies.study import Criterion, StudyOptions, StudyResult, study

ALLOWED_RATIO = 0.5  # of the marginal costs
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


def notes(
    rows: Sequence[BedRow],
    calibration: Calibration,
    measured: Sweep,
    stiff: Sweep,
    share: float | None,
) -> list[str]:
    """One line each."""
    return [
        *_accuracy(measured),
        *_hopper(rows, calibration, measured),
        *_other_settings(rows, measured, stiff),
        *_comparison(rows, share),
        "The springs of a bed have the hopper's stiffness in total, for any number of springs."
        " They have no dampers and push along the plate's normal, as contacts in MuJoCo do.",
        "The paper's h_1 of the hopper decreases at the landing and is zero at the start height."
        " This study uses L0 - z.",
    ]


def criteria(measured: Sweep) -> list[Criterion]:
    """As accurate as MuJoCo at some epsilon, and there a contact costs less."""
    ratio = None if measured.epsilon is None else measured.ratios["ours"]
    return [
        Criterion("largest epsilon with every start as accurate [m]", measured.epsilon, ">", 0.0),
        Criterion("marginal cost of a contact over MuJoCo's", ratio, "<=", ALLOWED_RATIO),
    ]


def _accuracy(measured: Sweep) -> list[str]:
    ratio = measured.ratios["ours"]
    return [
        f"At epsilon = {measured.epsilon:.2g} m each start on each bed is as accurate as MuJoCo."
        if measured.epsilon
        else "At every epsilon tried, MuJoCo is more accurate on some start.",
        f"There, the marginal cost of a contact (slope of the median time over the number of"
        f" contacts) is {ratio:.2f} of MuJoCo's; required: at most {ALLOWED_RATIO}.",
    ]


def _hopper(rows: Sequence[BedRow], calibration: Calibration, measured: Sweep) -> list[str]:
    errors = [(row.hopper_epsilon_rms, row.mujoco_rms) for row in rows]
    worst = max(ours / theirs if ours and theirs else float("inf") for ours, theirs in errors)
    return [
        f"The hopper gives epsilon' = {calibration.epsilon:.2g} m: RMS error"
        f" {calibration.ours_rms:.2g}, MuJoCo's {calibration.mujoco_rms:.2g}, over {FALLS} falls"
        f" from 2 m to 3 m. Table 5.1 has {PRINTED}, for a stiffness that is not printed.",
        f"With epsilon' the ratio is {measured.ratios['hopper_epsilon']:.2f}, and the plate's error"
        f" is up to {worst:.1f} times MuJoCo's: springs closer than epsilon' give one projection"
        " after the other, which is Euler's method with their distance as step.",
    ]


def _other_settings(rows: Sequence[BedRow], measured: Sweep, stiff: Sweep) -> list[str]:
    least, most = (f(bed.in_contact for bed in stiff.beds) for f in (min, max))
    precision = f"epsilon = {stiff.epsilon:.2g} m" if stiff.epsilon else "no epsilon as accurate"
    return [
        f"With steps as long as the tolerances {LOOSE} and the guards allow, the ratio is"
        f" {measured.ratios['long_steps']:.2f}, and the largest bed takes"
        f" {rows[-1].long_steps_s / rows[-1].mujoco_s:.2f} of MuJoCo's time.",
        "If every spring is as stiff as on the bed of two, the plate leaves a larger bed sooner:"
        f" tips touch for {least:.0%} to {most:.0%} of the time, MuJoCo computes fewer forces, and"
        f" the ratio is {stiff.ratios['ours']:.2f} ({precision}), with long steps"
        f" {stiff.ratios['long_steps']:.2f}.",
    ]


def _comparison(rows: Sequence[BedRow], share: float | None) -> list[str]:
    collision = ""
    if share is not None:
        collision = f" Collision detection is {share:.0%} of its time on the largest bed."
    return [
        "Times are processor times of one thread; only the final state is stored. The shaded"
        " areas of figure 5.2 hold the middle half of the starts. Both programs are compiled. Ours"
        " is written for this model; MuJoCo takes any model, detects the contacts, and solves for"
        f" all contact forces together.{collision}",
        f"MuJoCo computes forces while tips touch ({rows[-1].in_contact:.0%} of the time here);"
        " ours evaluates every tip at every step, and each crossing.",
    ]


@study("Anderson and Revzen, table 5.1", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """Rows ``contacts, ours_s, mujoco_s, ours_rms, mujoco_rms, marginal_ratio`` and more."""
    return compare_costs(options, CONTACTS)


def compare_costs(options: StudyOptions, contacts: Sequence[int]) -> StudyResult:
    """The study on beds of ``contacts`` springs, two sizes or more.

    The rows are of beds that are equally stiff; those in the notes have equally stiff springs, and
    are the stiffer the larger they are.
    """
    starts = random_starts(options.count(TRIALS), np.random.default_rng(options.seed))
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
    measured = sweep(beds, starts, calibration.epsilon, step)
    stiff = sweep(stiffer, some, calibration.epsilon, step)
    options.progress(total, total, "figures")
    made = rows(measured)
    figures = {
        "figure-5.1": calibration_figure(calibration),
        "figure-5.2": cost_figure(measured, made),
    }
    closing = notes(made, calibration, measured, stiff, share)
    return StudyResult(made, figures, closing, SHOWN, criteria=criteria(measured))
