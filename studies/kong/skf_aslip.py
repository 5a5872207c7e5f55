"""Kalman filters with Xi or D_x R on two jumps of ASLIP, 36 sets.

In the thesis the salted filter is better in all 36, with p < 0.001. Errors are of the body's six
states and the position of the toe (states of stance by (4.28)). Process noise moves the toe with
the body in flight, and not on the ground. The figure of a trial is 4.5 without its particles.
"""

from __future__ import annotations

from studies.kong.filters.comparison import Drawing, compare_all
from studies.kong.filters.problems import Level, aslip_problem
from studies.study import StudyOptions, StudyResult, study

TIMESTEPS = (0.03, 0.01, 0.005, 0.001)  # [s]
PROCESS = (0.01, 0.001, 0.0001)  # times dt^2
MEASUREMENT = (0.005, 0.001, 0.0001)
TRIALS = 100  # a set
SHOWN = Level(0.005, 0.01, 0.005)  # figure 4.5
_DRAWING = Drawing(
    ("$x_b$ [m]", "$y_b$ [m]", r"$\theta_b$ [rad]", r"$\dot{x}_b$ [m/s]", r"$\dot{y}_b$ [m/s]",
     r"$\dot{\theta}_b$ [rad/s]"),
    (0, 1, 2, 5, 6, 7),
)  # fmt: skip


def levels() -> list[Level]:
    """All 36 sets."""
    return [Level(dt, q, v) for dt in TIMESTEPS for q in PROCESS for v in MEASUREMENT]


@study("Kong, section 4.7.2", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row a set, figure 4.5 without its particles, and a map of the ratio of errors."""
    return compare_all(levels(), SHOWN, _DRAWING, aslip_problem, options, TRIALS)
