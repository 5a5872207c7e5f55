"""Kalman filters with Xi or D_x R on two jumps of ASLIP, 36 sets.

In the thesis the salted filter is better in all 36, with p < 0.001. Errors are of the body's six
states and the position of the toe (states of stance by (4.28)). Process noise moves the toe with
the body in flight, and not on the ground. The figure of a trial is 4.5, with particles in its
first 20 trials.
"""

from __future__ import annotations

from studies.kong.skf import Level, aslip_problem, compare_all
from studies.kong.systems.aslip import BODY
from studies.study import StudyOptions, StudyResult, study

# Timesteps [s], process noise times dt^2, and measurement noise.
GRID = (0.03, 0.01, 0.005, 0.001), (0.01, 0.001, 0.0001), (0.005, 0.001, 0.0001)
TRIALS = 100  # a set
SHOWN = Level(0.005, 0.01, 0.005)  # figure 4.5
LABELS = ("$x_b$ [m]", "$y_b$ [m]", r"$\theta_b$ [rad]", r"$\dot{x}_b$ [m/s]",
          r"$\dot{y}_b$ [m/s]", r"$\dot{\theta}_b$ [rad/s]")  # fmt: skip


@study("Kong, section 4.7.2", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row a set, and figure 4.5."""
    return compare_all(options, aslip_problem, GRID, TRIALS, SHOWN, LABELS, BODY)
