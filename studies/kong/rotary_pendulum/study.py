"""Swing-ups of a rotary cart pole, perturbed at every waypoint.

The thesis prints no durations, weights or results in numbers, and its figures 2.7 and 2.8 are of
hardware. What it says in words is looked for here: that the convergent swing-up comes back from
more of the perturbations of 2.6.5 than the smooth one of minimal energy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from controller.convergent.rotary.parameters import QUBE_VOLTAGE_LIMIT
from controller.convergent.rotary.perturbation import PerturbationOptions
from controller.convergent.rotary.tracking import Machine
from studies.kong.rotary_pendulum.cases import (
    BASE,
    SWINGS,
    Case,
    Solved,
    SwingRow,
    evaluate,
    family,
    smooth_again,
    solve,
)
from studies.kong.rotary_pendulum.figures import figures
from studies.study import Criterion, StudyOptions, StudyResult, study

COARSE = 0.1  # an interval's error from which a plan is not to be trusted [rad, rad/s]
TRIALS = 50  # machines that track each plan
SHOWN = {
    "trajectory": "trajectory",
    "case": "case",
    "success": "success",
    "swing_time": "swing [s]",
    "success_swinging": "success swinging",
    "average_divergence": "D_a [1/s]",
    "tracked": "tracked",
}  # keys in the table for a person, and their headings


def criteria(rows: Sequence[SwingRow]) -> list[Criterion]:
    """The convergent swing-up of the base survives more perturbations than the smooth one."""
    convergent, smooth = _pair(rows, BASE.name)
    what = "success rate of the convergent swing-up, against that of the smooth one"
    return [Criterion(what, convergent, ">", math.nan if smooth is None else smooth)]


def verdict(rows: Sequence[SwingRow]) -> str:
    """Whether the convergent swing-up of the base survives more perturbations."""
    convergent, smooth = _pair(rows, BASE.name)
    if convergent is None or smooth is None:
        why = "; ".join(f"{row.trajectory}: {row.message}" for row in rows if row.message)
        return f"Convergent against smooth swing-up: no result, because a plan is missing ({why})."
    met = "yes" if convergent > smooth else "no"
    return (
        f"Higher success rate of the convergent than of the smooth swing-up: {met}, "
        f"{convergent:.1%} against {smooth:.1%} of the perturbations."
    )


def swing_note(rows: Sequence[SwingRow]) -> list[str]:
    """Where the base's difference is from: of a whole plan, waypoints at rest count as well."""
    base = {row.trajectory: row for row in rows if row.case == BASE.name}
    smooth, convergent = base["smooth"], base["convergent"]
    if smooth.success is None or convergent.success is None:
        return []
    safer = (convergent.success_swinging or 0.0) > (smooth.success_swinging or 0.0)
    shorter = (convergent.swing_time or 0.0) < (smooth.swing_time or 0.0)
    swings = ", ".join(
        f"{name} {row.success_swinging:.1%} in {row.swing_time:.2f} s"
        for name, row in (("smooth", smooth), ("convergent", convergent))
    )
    return [
        f"Success rate of perturbations after the pole is {SWINGS:g} rad from hanging, and time "
        f"from there to the top: {swings}. So the convergent swing-up is "
        f"{'shorter' if shorter else 'not shorter'} and {'more' if safer else 'not more'} robust in"
        " this part."
    ]


def failures(rows: Sequence[SwingRow]) -> list[str]:
    """Swing-ups without a plan, and plans with large errors between their waypoints."""
    return [
        f"{row.case}, {row.trajectory}: no plan ({row.message})."
        for row in rows
        if row.status != "ok"
    ] + [
        f"{row.case}, {row.trajectory}: the error between two waypoints is "
        f"{row.interval_error:.2g} (rad, rad/s); increase the number of waypoints."
        for row in rows
        if row.status == "ok" and (row.interval_error or 0.0) > COARSE
    ]


def family_notes(rows: Sequence[SwingRow]) -> list[str]:
    """In how many of the cases the convergent one is above, and in which it is not."""
    return [_ordering(rows, "smooth"), _ordering(rows, "minimal_energy")]


def _ordering(rows: Sequence[SwingRow], other: str) -> str:
    above, rest = [], []
    for name in dict.fromkeys(row.case for row in rows):
        convergent, lower = _pair(rows, name, other)
        if convergent is None or lower is None:
            rest.append(f"{name} (a plan is missing)")
        elif convergent > lower:
            above.append(convergent - lower)
        else:
            rest.append(f"{name} ({convergent:.1%} against {lower:.1%})")
    spread = f", by {min(above):.1%} to {max(above):.1%}" if above else ""
    exceptions = f"; exceptions: {', '.join(rest)}" if rest else ""
    count = len(above) + len(rest)
    cases = f"{len(above)} of {count} cases{spread}{exceptions}"
    return f"Success rate of convergent above {other} in {cases}."


def _pair(
    rows: Sequence[SwingRow], case: str, other: str = "smooth"
) -> tuple[float | None, float | None]:
    """Success of the convergent and of another swing-up of a case."""
    success = {row.trajectory: row.success for row in rows if row.case == case}
    return success.get("convergent"), success.get(other)


def choices(base: Mapping[str, Solved]) -> list[str]:
    """What the thesis leaves open, and the values chosen here."""
    task, near, machine = BASE.task, PerturbationOptions(), Machine()
    rows = [entry.row for entry in base.values() if entry.swing.ok]
    volts = [row.max_voltage for row in rows if row.max_voltage is not None]
    largest = f" ({max(volts):.1f} V here)" if volts else ""
    errors = [row.whole_error for row in rows if row.whole_error is not None]
    return [
        "Error at the waypoints of the planned torques in an open-loop simulation: at most "
        f"{max(errors, default=float('nan')):.2g} (rad, rad/s).",
        f"Chosen, because not printed: duration {task.duration:g} s, {task.waypoints} waypoints, "
        f"torque limit {task.torque_limit:g} N m (a margin to the amplifier's "
        f"{QUBE_VOLTAGE_LIMIT:g} V{largest} and the actuator's 0.1 N m), arm within "
        f"{task.arm_limit:.2f} rad, gamma {BASE.gamma:g}, sigma {BASE.sigma:g}, Q"
        f" diag({', '.join(f'{q:g}' for q in BASE.weights.Q)}), R {BASE.weights.R:g}.",
        f"Success: {near.hold:g} s after the end, under the infinite-horizon LQR, within "
        f"{near.near[0]:g} and {near.near[1]:g} rad and {near.near[2]:g} rad/s of the plan's last "
        "state. An additional turn of the pole is a failure.",
        "Between hanging and upright, the integral of D_a depends on the path only by its damping; "
        "the rest is log det of the mass matrix. So a convergent path stays near the vertical"
        " longer.",
        "The damping is from Quanser's courseware, whose two editions differ; --full tries both.",
        "Misprints: the sign of the first term of (2.26), and J_p is missing in (2.25)-(2.26) "
        "where the pole turns with the arm. The model here is derived by Lagrange's method. The "
        "constraint is D_m > 0, which is stricter than (2.28).",
        "Figures 2.7 and 2.8 are simulated here, hardware in the thesis: controller at "
        f"{machine.rate:g} Hz, encoders of {machine.counts} counts, filtered speeds, and each "
        f"mass, inertia and damping with a standard deviation of {machine.spread:.0%}. The cable "
        "that pulled at the thesis's arm is not modelled, so its success rate of one half is not"
        " comparable.",
    ]


@study("Kong, section 2.6", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: the three swing-ups of the base; with ``full``, of a family around it as well."""
    trials = options.count(TRIALS)
    cases = [BASE, *(family() if options.full else [])]
    total, done = 3 * len(cases) + options.full, 0

    def report(what: str) -> None:
        nonlocal done
        done += 1
        options.progress(done, total, what)

    solved = {case.name: solve(case, trials, options.seed, report) for case in cases}
    rows = [entry.row for entries in solved.values() for entry in entries.values()]
    base = solved[BASE.name]
    if options.full and base["convergent"].swing.ok:
        again = _again(BASE, base["convergent"], trials, options.seed)
        report("base: smooth, seeded by the convergent one")
        rows.insert(3, again.row)
    whole = family_notes(rows) if options.full else ()
    closing = [verdict(rows), *swing_note(rows), *whole, *failures(rows), *choices(base)]
    return StudyResult(
        rows, figures(base), closing, SHOWN, digits=3, criteria=criteria(rows)
    )


def _again(case: Case, convergent: Solved, trials: int, seed: int) -> Solved:
    swing, seconds = smooth_again(case, convergent.swing)
    return evaluate(case, "smooth_from_convergent", swing, seconds, trials, seed)
