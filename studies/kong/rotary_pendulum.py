"""Swing-ups of a rotary cart pole, perturbed at every waypoint.

The thesis prints no durations, weights or results in numbers, and its figures 2.7 and 2.8 are of
hardware. What it says in words is looked for here: that the convergent swing-up comes back from
more of the perturbations of 2.6.5 than the smooth one of minimal energy. success_swinging is of the
waypoints while the pole is swung up, for swing_time: of a whole plan, waypoints at rest count too.
A plan with an interval_error of 0.1 rad or rad/s is not to be trusted; whole_error is that of the
planned torques in an open-loop simulation. ``--full`` changes the numbers chosen here one by one,
and seeds the smooth swing-up by the convergent one.

Chosen, because not printed: duration, waypoints, torque limit (a margin to the amplifier's voltage
and the actuator's 0.1 N m), the arm's limit, gamma, sigma, Q and R (`rotary/swing_ups.py`). The
damping is from Quanser's courseware, whose two editions differ; --full tries both. Success: some
time after the end, under the infinite-horizon LQR, near the plan's last state; an additional turn
of the pole is a failure.

Between hanging and upright, the integral of D_a depends on the path only by its damping; the rest
is log det of the mass matrix. So a convergent path stays near the vertical longer.

Misprints: the sign of the first term of (2.26), and J_p is missing in (2.25)-(2.26) where the pole
turns with the arm. The model here is derived by Lagrange's method. The constraint is D_m > 0, which
is stricter than (2.28).

Figures 2.7 and 2.8 are simulated here: controller at a fixed rate, encoders with counts, filtered
speeds, and a spread of each mass, inertia and damping. The cable that pulled at the thesis's arm is
not modelled, so its success rate of one half is not comparable.
"""

from __future__ import annotations

import math

from studies.kong.rotary.figures import figures
from studies.kong.rotary.swing_ups import BASE, evaluate, family, smooth_again, solve
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


@study("Kong, section 2.6", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows: the three swing-ups of the base; with ``full``, of a family around it as well."""
    trials, cases = options.count(TRIALS), [BASE, *(family() if options.full else [])]
    solved = {case.name: solve(case, trials, options.seed)
              for case in options.track(cases, lambda case: case.name)}  # fmt: skip
    rows = [entry.row for entries in solved.values() for entry in entries.values()]
    base = solved[BASE.name]
    convergent, smooth = base["convergent"].row["success"], base["smooth"].row["success"]
    if options.full and base["convergent"].swing.ok:
        swing, seconds = smooth_again(BASE, base["convergent"].swing)
        name = "smooth_from_convergent"
        rows.insert(3, evaluate(BASE, name, swing, seconds, trials, options.seed).row)
    criteria = [Criterion(
        "success rate of the convergent swing-up, against that of the smooth one",
        convergent, ">", math.nan if smooth is None else smooth,
    )]  # fmt: skip
    criteria += [
        Criterion(f"{row['case']}, {row['trajectory']}: interval_error", row["interval_error"], "<",
                  COARSE)
        for row in rows[:3]
    ]  # fmt: skip
    return StudyResult(rows, figures(base), columns=SHOWN, digits=3, criteria=criteria)
