"""Cost of a contact: a plate on up to 100 springs, event-selected and in MuJoCo.

Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems". Their integrator, in
NumPy, has MuJoCo's marginal cost of a contact (slope of the median time over the number of
contacts); ours is compiled, as MuJoCo is. Ours is written for this model; MuJoCo takes any model,
detects the contacts, for the share collision_share of its time on the largest bed, and solves for
all contact forces together. It computes forces while tips touch, the share in_contact; ours
evaluates every tip at every step, and each crossing.

Keys named ours are at the largest epsilon at which each start on each bed is as accurate as MuJoCo,
hopper_epsilon at the epsilon' at which the hopper is: table 5.1 has 0.13 m, for a stiffness that is
not printed. Springs closer than epsilon' give one projection after the other, which is Euler's
method with their distance as step. long_steps are as long as the tolerances and the guards allow.
The springs of a bed have the hopper's stiffness in total, no dampers, and push along the plate's
normal, as contacts in MuJoCo do. stiff_ratios are marginal costs over MuJoCo's where every spring
is as stiff as on the bed of two: the plate then leaves a larger bed sooner.

Times are processor times of one thread; only the final state is stored. The shaded areas of figure
5.2 hold the middle half of the starts. The paper's h_1 of the hopper decreases at the landing and
is zero at the start height; this study uses L0 - z.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from sim_bridge.compiled_step import stop_stage_timers
from studies.anderson_revzen.ess_contacts.calibration import TIMES, Calibration, calibrate
from studies.anderson_revzen.ess_contacts.measurement import (
    Sweep,
    collision_share,
    prepared,
    rows,
    steps_of,
    sweep,
)
from studies.anderson_revzen.ess_contacts.spring_bed import SpringBed, random_starts
from studies.figures import COLOURS, error_band, figure
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
    "marginal_ratio",
    "in_contact",
)  # keys in the table for a person


def criteria(measured: Sweep) -> list[Criterion]:
    """As accurate as MuJoCo at some epsilon, and there a contact costs less."""
    ratio = None if measured.epsilon is None else measured.ratios["ours"]
    return [
        Criterion("largest epsilon with every start as accurate [m]", measured.epsilon, ">", 0.0),
        Criterion("marginal cost of a contact over MuJoCo's", ratio, "<=", ALLOWED_RATIO),
    ]


@study("Anderson and Revzen, table 5.1", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """Rows ``contacts, ours_s, mujoco_s, ours_rms, mujoco_rms, marginal_ratio`` and more."""
    return compare_costs(options, CONTACTS)


def compare_costs(options: StudyOptions, contacts: Sequence[int]) -> StudyResult:
    """The study on beds of ``contacts`` springs, two sizes or more.

    The rows are of beds that are equally stiff; beds of equally stiff springs are measured beside.
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
    beside = {
        "hopper_epsilon_m": calibration.epsilon,
        "hopper_rms": calibration.ours_rms,
        "hopper_mujoco_rms": calibration.mujoco_rms,
        "stiff_epsilon_m": stiff.epsilon,
        "stiff_ratios": stiff.ratios,
        "stiff_in_contact": [bed.in_contact for bed in stiff.beds],
        "collision_share": share,
    }
    made = [row | beside for row in rows(measured)]
    figures = {
        "figure-5.1": calibration_figure(calibration),
        "figure-5.2": cost_figure(measured, made),
    }
    return StudyResult(made, figures, columns=SHOWN, criteria=criteria(measured))


def calibration_figure(calibration: Calibration) -> Figure:
    """Figure 5.1: the hopper from 2 m, and below it what both are off by."""
    drawing, axes = figure(columns=2, rows=2, width=8.0, height=4.6, sharex=True)
    names = (("height", "m"), ("velocity", "m/s"))
    for column, (name, unit) in enumerate(names):
        above, below = axes[:, column]
        for states, label, colour, style in (
            (calibration.exact, "exact", COLOURS["seed"], ":"),
            (calibration.mujoco, "MuJoCo", COLOURS["initial"], "--"),
            (calibration.ours, "event-selected", COLOURS["dxr"], "-"),
        ):
            above.plot(TIMES, states[:, column], style, color=colour, lw=1.2, label=label)
            off = (states - calibration.exact)[:, column]
            below.plot(TIMES, off, style, color=colour, lw=1.2)
        above.set(ylabel=f"{name} [{unit}]")
        below.set(ylabel=f"error of {name} [{unit}]", xlabel="time [s]")
    drawing.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                   fontsize=8, frameon=False)  # fmt: skip
    return drawing


def cost_figure(measured: Sweep, rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Figure 5.2: median and quartiles of the run times over contacts, and errors beside them."""
    drawing, (left, right) = figure(columns=2, width=9.0, height=3.8)
    contacts = measured.contacts
    for i, (name, colour, style, label) in enumerate((
        ("ours", "dxr", "-", "event-selected, 2 ms, as accurate as MuJoCo"),
        ("hopper_epsilon", "dxr", "--", r"event-selected, 2 ms, $\epsilon'$ of the hopper"),
        ("long_steps", "dxr", ":", "event-selected, steps as tolerances allow"),
        ("mujoco", "initial", "-", "MuJoCo, 2 ms"),
    )):  # fmt: skip
        look = {"color": COLOURS[colour], "linestyle": style, "marker": "o", "ms": 3}
        error_band(left, contacts, 1e3 * measured.times[:, :, i], label=label, **look)
        right.plot(contacts, [row[f"{name}_rms"] or np.nan for row in rows], **look)
    left.set(xlabel="contacts", ylabel="processor time of 2 s [ms]", ylim=(0.0, None))
    right.set(xlabel="contacts", ylabel="RMS error [SI units]", yscale="log")
    drawing.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2,
                   fontsize=8, frameon=False)  # fmt: skip
    return drawing
