"""Kalman filters with Xi or D_x R on the constant flow, 80 sets.

In the thesis the salted filter is better in 76 of the 80, and never worse. The figure of a trial
is 4.3, with particles in its first 20 trials. The last criteria are table 4.1 at a process noise of
0.01 dt^2 and a measurement noise of 1.

Where a measurement is much surer than the prediction, V far below W, both gains are near one, and
the filters differ by less than a sign test of 1000 trials can see: at timesteps of 5 and 1 s, with
little V and much W, 8 to 11 sets are undecided (seeds 0 to 3) where the thesis has 4. It is a
matter of trials: with 20 000 of them 3 of these sets are left. Two readings of the noise do not
explain it (seed 0). An omega held through the transition, in place of the fresh one of (4.12),
decides one set more. An omega of covariance W_Delta that is integrated, so that the state has
Delta^2 W_Delta, makes the JRKF better in three.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from studies.kong.skf import FLOW_MEAN, FLOW_VARIANCE, Level, compare_all, flow_problem
from studies.study import Criterion, StudyOptions, StudyResult, study

# Timesteps [s], process noise times dt^2, and measurement noise.
GRID = (5.0, 1.0, 0.1, 0.05), (0.1, 0.01, 0.001, 0.0001), (1.0, 0.1, 0.01, 0.001, 0.0001)
TRIALS = 1000  # a set
SHOWN = Level(0.05, 0.01, 1.0)  # figure 4.3
# Table 4.1: norm of Sigma at the transition, and Delta_T over the timestep.
PRINTED = {5.0: (0.16, 0.38), 1.0: (0.10, 1.5), 0.1: (0.028, 7.9), 0.05: (0.015, 12.0)}
_ONE_PERCENT = 2.3263  # deviations beyond which 1% of a normal distribution lies


@study("Kong, section 4.7.1", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row a set, figure 4.3, and how far table 4.1 is from the printed one."""
    labels = "$x_1$", "$x_2$"
    found = compare_all(options, flow_problem, GRID, TRIALS, SHOWN, labels, (0, 1))
    return dataclasses.replace(found, criteria=[*found.criteria, *table_4_1()])


def covariance_at_transition(dt: float, process: float, measurement: float) -> float:
    """||Sigma(t_i)|| of a filter that is measured what it expects, as in table 4.1.

    The mean reaches the guard at 2.5 s; where that is the end of a timestep [s], before the
    measurement there.
    """
    Sigma, left = FLOW_VARIANCE, -FLOW_MEAN[0]
    while left > dt * (1.0 + 1e-9):
        Sigma += process * dt**2
        Sigma *= measurement / (Sigma + measurement)
        left -= dt
    return Sigma + process * left**2


def table_4_1() -> list[Criterion]:
    """Differences of the numbers of table 4.1 from the printed ones, in shares of them.

    Delta_T is the time between 1% and 99% of the mass, at a speed of 1 across the guard: 4.65
    standard deviations. (The middle 99%, 5.15 of them, would make 0.42 of the printed 0.38.)
    """
    criteria = []
    for dt, printed in PRINTED.items():
        Sigma = covariance_at_transition(dt, 0.01, 1.0)
        found = Sigma, 2.0 * _ONE_PERCENT * np.sqrt(Sigma) / dt
        for what, value, wanted, bound in zip(
            ("Sigma", "Delta_T"), found, printed, (0.2, 0.05), strict=True
        ):
            error = abs(value / wanted - 1.0)
            criteria.append(Criterion(f"table 4.1, {dt:g} s: error of {what}", error, "<=", bound))
    return criteria
