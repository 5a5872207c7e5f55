"""Spread of a dropped ball: samples against the saltation matrix.

Run it: `saltus study examples/my_study.py`.
"""

import numpy as np

import saltation as sa
from saltation.examples.bouncing_ball import FALLING, bouncing_ball
from studies.figures import figure
from studies.study import Criterion, StudyOptions, StudyResult, study

START, DEVIATION = np.array([1.0, -2.0]), 0.02  # [m, m/s], of both numbers
INPUT = np.zeros(1)


@study("tutorial", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """Rows: the spread of the height before and after the first bounce."""
    generator = np.random.default_rng(options.seed)
    starts = generator.normal(START, DEVIATION, (options.count(2000), 2))
    ball, rows = bouncing_ball(), []
    for time in np.linspace(0.1, 0.7, 7):
        ends = sa.simulate_batch(ball, FALLING, starts, float(time))
        mean = sa.simulate(ball, FALLING, START, float(time), INPUT)
        slope = mean.derivatives.state[0]  # of the height by the start, through all events
        predicted = DEVIATION * float(np.linalg.norm(slope))
        spread = float(ends.states[ends.ok, 0].std())  # [m]
        rows.append({"time": float(time), "samples": spread, "predicted": predicted})
    error = abs(rows[-1]["samples"] / rows[-1]["predicted"] - 1.0)
    picture, axes = figure()
    times = [row["time"] for row in rows]
    axes.plot(times, [row["samples"] for row in rows], "o", label="samples")
    axes.plot(times, [row["predicted"] for row in rows], label="saltation matrix")
    axes.set(xlabel="time [s]", ylabel="deviation of the height [m]")
    axes.legend()
    criterion = Criterion("relative error after the bounce", error, "<=", 0.1)
    return StudyResult(rows, {"spread": picture}, criteria=[criterion])
