"""Order of convergence of the event-selected integrator in epsilon.

rms is the RMS distance in (x, y, z) at 501 times. Orders are fitted for epsilon in 1e-4 to 0.1; 2.1
is printed. Steps are at most epsilon/50 s, so that a projection starts at the border of
N^epsilon, as in listing 1. Long steps are shortened to end in the middle of N^epsilon; their error
jumps where a step ends elsewhere.

Every field of table 4.1 increases x and y and decreases z at all guards: the system is
event-selected with h = (x, y, -z). Both columns of (c) in table 4.1 are -1 at z = 0: the flow does
not jump at that guard.
"""

from __future__ import annotations

import numpy as np

from saltation.event_selected import EssOptions, integrate
from saltation.systems import Array
from studies.anderson_revzen.systems.affine_corner import (
    DURATION,
    START,
    affine_corner,
    exact_states,
)
from studies.figures import convergence, draw
from studies.study import Criterion, StudyOptions, StudyResult, study

SAMPLES = 501  # times of the trajectory at which it is compared
DECADES, PER_DECADE = 4, 4  # of epsilon from 1 m down, and values in each
LARGEST = 0.1  # epsilon that the line is fitted to
STEPS = 50  # integration steps that h takes at least, at 1 a second, to cross N^epsilon
TOLERANCE = 1e-13  # of an integration step
REQUIRED = 2.0  # of the order


@study("Anderson and Revzen, table 4.1")
def run(options: StudyOptions) -> StudyResult:
    """Rows: root mean square error of the trajectory for every epsilon, and the fitted order."""
    values = np.logspace(0, -DECADES, PER_DECADE * DECADES + 1)
    times = np.linspace(0.0, DURATION, SAMPLES)
    states = exact_states(START, times)
    short, long = np.transpose([
        [error(epsilon, step, times, states) for step in (epsilon / STEPS, np.inf)]
        for epsilon in options.track(values, "epsilon")
    ])  # fmt: skip
    order = fitted_order(values, short)
    orders = {"order": order, "order_long_steps": fitted_order(values, long)}
    rows = [
        {"epsilon": e, "rms": a, "rms_long_steps": b} | orders
        for e, a, b in zip(values, short, long, strict=True)
    ]
    errors = {"short steps": short, "long steps": long}
    panel = convergence(values, errors, order, short[0], r"$\varepsilon$ [m]", "RMS error")
    criteria = [Criterion("fitted order", order, ">=", REQUIRED)]
    return StudyResult(rows, {"figure-4.1": draw(panel)}, criteria=criteria)


def error(epsilon: float, max_step: float, times: Array, states: Array) -> float:
    """Root mean square over the times of the distance to the exact states (T, 3)."""
    accuracy = EssOptions(TOLERANCE, TOLERANCE, max_step, epsilon=epsilon, max_steps=10_000_000)
    run = integrate(affine_corner(), START, DURATION, accuracy)
    if not run.ok:
        raise RuntimeError(run.message)
    return np.sqrt(((run.at(times) - states) ** 2).sum(axis=1).mean())


def fitted_order(values: Array, errors: Array) -> float:
    """Slope of log(errors) over log(values) up to LARGEST, by least squares."""
    chosen = values < 1.01 * LARGEST
    return np.polyfit(np.log(values[chosen]), np.log(errors[chosen]), 1)[0]
