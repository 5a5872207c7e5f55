"""What a contact costs: a plate on up to 100 springs, event-selected and in MuJoCo (section 5).

Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems". Their integrator, in
NumPy, has MuJoCo's marginal cost of a contact; ours is compiled, as MuJoCo is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hybrid.event_selected.options import EssOptions
from hybrid.examples.spring_bed import random_starts
from hybrid.systems import Array
from saltus.studies.ess_calibration import FALLS, PRINTED, Calibration, calibrate, same_steps
from saltus.studies.ess_contacts_figures import calibration_figure, cost_figure
from saltus.studies.ess_measure import (
    Bed,
    as_accurate,
    collision_share,
    our_errors,
    prepared,
    timed,
)
from saltus.studies.study import StudyOptions, StudyResult
from sim_bridge.compiled_step import stop_stage_timers

TRIALS = 120  # random starts, 5.2
CONTACTS = (2, 10, 25, 50, 75, 100)
ALLOWED_RATIO = 0.5  # of the marginal costs
FREE = 1e-6, 1e-8  # relative and absolute tolerance of the steps that are not bounded
SHOWN = (
    "contacts",
    "ours_s",
    "mujoco_s",
    "ours_rms",
    "mujoco_rms",
    "hopper_epsilon_s",
    "hopper_epsilon_rms",
    "free_steps_s",
)  # keys in the table for a person


def run(options: StudyOptions) -> StudyResult:
    """Rows ``contacts, ours_s, mujoco_s, ours_rms, mujoco_rms, marginal_ratio`` and more."""
    return study(options, CONTACTS)


def study(options: StudyOptions, contacts: Sequence[int]) -> StudyResult:
    """The study on beds of ``contacts`` springs, two sizes or more."""
    trials = TRIALS if options.trials is None else options.trials
    starts = random_starts(trials, np.random.default_rng(options.seed))
    total = len(contacts) + trials + 2
    options.progress(0, total, "calibration on the hopper")
    calibration, beds = calibrate(), []
    for done, count in enumerate(contacts):
        options.progress(1 + done, total, f"trajectories on {count} springs")
        beds.append(prepared(count, starts))
    options.progress(1 + len(contacts), total, "precision on the plate")
    epsilon = as_accurate(beds, starts, calibration.epsilon)
    ways = _ways(calibration.epsilon, epsilon or calibration.epsilon)
    share = collision_share(beds[-1], starts[0])
    times = _times(options, beds, starts, ways, total)
    rows = _rows(beds, starts, ways, times)
    figures = {
        "figure-5.1": calibration_figure(calibration),
        "figure-5.2": cost_figure(rows, np.array(contacts), times, list(ways)),
    }
    return StudyResult(rows, figures, _notes(rows, calibration, epsilon, share), SHOWN)


def _ways(hopper_epsilon: float, epsilon: float) -> dict[str, EssOptions]:
    """The ways in which the plate is integrated, by the beginning of their keys in a row."""
    return {
        "ours": same_steps(epsilon),
        "hopper_epsilon": same_steps(hopper_epsilon),
        "free_steps": EssOptions(epsilon, np.inf, *FREE),
    }


def _times(
    options: StudyOptions,
    beds: Sequence[Bed],
    starts: Array,
    ways: Mapping[str, EssOptions],
    total: int,
) -> Array:
    """Times (S, beds, ways + 1) [s]; MuJoCo's are the last."""
    stop_stage_timers()
    timed(beds, starts[0], ways)  # warms both up
    times = []
    for done, start in enumerate(starts):
        options.progress(2 + len(beds) + done, total, "run times")
        times.append(timed(beds, start, ways))
    return np.array(times)


def _rows(
    beds: Sequence[Bed], starts: Array, ways: Mapping[str, EssOptions], times: Array
) -> list[dict[str, Any]]:
    contacts = np.array([bed.bed.springs for bed in beds])
    medians = np.median(times, axis=0)  # (beds, ways + 1)
    slopes = np.polyfit(contacts, medians, 1)[0]
    rows: list[dict[str, Any]] = []
    for bed, median in zip(beds, medians, strict=True):
        row: dict[str, Any] = {"contacts": bed.bed.springs, "mujoco_s": float(median[-1])}
        row["mujoco_rms"] = _whole(bed.mujoco_rms)
        for i, (way, options) in enumerate(ways.items()):
            errors = our_errors(bed, starts, options)
            row[f"{way}_s"], row[f"{way}_rms"] = float(median[i]), _whole(errors)
            row[f"{way}_worse"] = float(np.mean(~(errors <= bed.mujoco_rms)))
            ratio = "marginal_ratio" if way == "ours" else f"{way}_marginal_ratio"
            row[ratio] = float(slopes[i] / slopes[-1])
        row["epsilon"] = float(ways["ours"].epsilon)
        row["in_contact"] = bed.in_contact
        rows.append(row)
    return rows


def _whole(errors: Array) -> float | None:
    """RMS error over all starts; None where a run broke off."""
    value = float(np.sqrt(np.mean(errors**2)))
    return value if np.isfinite(value) else None


def _notes(
    rows: Sequence[Mapping[str, Any]],
    calibration: Calibration,
    epsilon: float | None,
    share: float | None,
) -> list[str]:
    last = rows[-1]
    ratio = last["marginal_ratio"]
    behind = max(row["hopper_epsilon_rms"] / row["mujoco_rms"] for row in rows)
    found = (
        f"At epsilon = {epsilon:.2g} m no start on any bed is less accurate than in MuJoCo."
        if epsilon
        else "NOT AS ACCURATE: on some start MuJoCo is better at any epsilon that was tried."
    )
    return [
        found,
        f"The marginal cost of a contact is {ratio:.2f} of MuJoCo's there, at most {ALLOWED_RATIO}"
        f" is asked: {'met' if epsilon and ratio <= ALLOWED_RATIO else 'NOT MET'}. It is the slope"
        " of the median over the contacts.",
        f"On the hopper epsilon' = {calibration.epsilon:.2g} m: RMS {calibration.ours_rms:.2g} and"
        f" MuJoCo's {calibration.mujoco_rms:.2g}, over {FALLS} falls from 2 m to 3 m. Table 5.1 has"
        f" {PRINTED} for a stiffness that is not printed.",
        f"With epsilon' the ratio is {last['hopper_epsilon_marginal_ratio']:.2f}, and the plate's"
        f" error up to {behind:.1f} times MuJoCo's: on springs nearer than epsilon' to one another"
        " projection follows projection, Euler's method with their distance as its step.",
        f"Without a bound on the step the ratio is {last['free_steps_marginal_ratio']:.2f}.",
        "Times are processor times of one thread from start to end, which is all that is kept."
        " Both are compiled; ours knows this model alone, MuJoCo any: it finds the contacts, and"
        " solves for their forces as if they depended on one another.",
        *_collision(share),
        f"MuJoCo pays for forces while tips touch, {last['in_contact']:.0%} of the time here; we"
        " pay for every tip at every step, and for a crossing.",
        "All springs of a bed together are as stiff as the hopper's. They have no dampers, and"
        " push along the plate's normal, as contacts in MuJoCo do.",
        "The paper's h_1 for the hopper falls on landing and is zero at the start's height:"
        " L0 - z is meant.",
    ]


def _collision(share: float | None) -> list[str]:
    if share is None:
        return []
    return [f"Collision detection is {share:.0%} of MuJoCo's time on the largest bed."]
