"""Order of convergence of the event-selected integrator in epsilon.

rms is the RMS distance in (x, y, z) at 501 times. Orders are fitted for epsilon in 1e-4 to 0.1; 2.1
is printed. Steps are at most epsilon/50 s, so that a projection starts at the border of
N^epsilon, as in listing 1. Long steps are shortened to end in the middle of N^epsilon; their error
jumps where a step ends elsewhere.

Every field of table 4.1 increases x and y and decreases z at all guards: the system is
event-selected with h = (x, y, -z). Both columns of (c) in table 4.1 are -1 at z = 0: the flow does
not jump at that guard.
"""

# ruff: noqa: N806 (A is the matrix of an affine flow)

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

from saltation.event_selected import EssOptions, integrate
from saltation.event_selected.system import EventSelectedSystem
from saltation.systems import Array
from studies.figures import convergence, draw
from studies.study import Criterion, StudyOptions, StudyResult, study

START = np.array([-0.4, -0.15, 0.3])
DURATION = 0.5  # [s]
RISING = np.array([1.0, 1.0, -1.0])  # h = RISING * (x, y, z)
SAMPLES = 501  # times of the trajectory at which it is compared
DECADES, PER_DECADE = 4, 4  # of epsilon from 1 m down, and values in each
LARGEST = 0.1  # epsilon that the line is fitted to
STEPS = 50  # integration steps that h takes at least, at 1 a second, to cross N^epsilon
TOLERANCE = 1e-13  # of an integration step
REQUIRED = 2.0  # of the order


def flow(x, side, p):
    """Table 4.1, (3,)."""
    f = np.empty(3)
    if side[1] < 0.0:
        f[0] = (-x[1] if side[0] < 0.0 else -2.0 * x[1]) + 1.0
        f[1] = x[0] + 1.0 if side[0] < 0.0 else 0.5 * x[0] + 2.0
    else:
        f[0] = (x[1] if side[0] < 0.0 else 10.0 * x[0]) + 1.0
        f[1] = (-x[0] if side[0] < 0.0 else x[1]) + 1.0
    f[2] = (-x[2] if side[2] < 0.0 else 3.0 * x[2]) - 1.0
    return f


def affine_corner() -> EventSelectedSystem:
    """Three affine states whose guards are the coordinate planes.

    h are the coordinates, each so that it rises, and each plane is crossed once. The z velocity is
    negative on both sides of its plane, so the event function that rises there is -z; it is
    continuous there, while the other two velocities jump.
    """
    return EventSelectedSystem(
        "affine corner", 3, 3, flow, lambda x, p: np.array([x[0], x[1], -x[2]]),
        lambda x, p: np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]])
    )  # fmt: skip


def exact_states(x: Array, times: Array) -> Array:
    """States (T, 3) at ascending times (T,) [s] from x (3,) at time 0, by matrix exponentials.

    Crossings are located to rounding.
    """
    side = np.where(RISING * x < 0.0, -1.0, 1.0)
    start, state, states, end = 0.0, np.asarray(x, dtype=np.float64), [], times[-1]
    while True:
        A = matrix(side)

        def at(t: float, A: Array = A, start: float = start, state: Array = state) -> Array:
            return (expm(A * (t - start)) @ np.append(state, 1.0))[:3]

        roots: list[tuple[Any, int]] = [
            (brentq(lambda t, k=k: at(t)[k], start, end, xtol=1e-15), k)
            for k in np.flatnonzero(side < 0.0).tolist() if RISING[k] * at(end)[k] > 0.0
        ]  # fmt: skip
        time, guard = min(roots, default=(np.inf, 0))
        states += [at(t) for t in times[(times >= start) & (times < time)]]
        if not roots:
            return np.array(states)
        start, state, side[guard] = time, at(time), 1.0


def matrix(side: Array) -> Array:
    """A (4, 4) of d/dt (x, 1) = A (x, 1) on a side (3,), read off ``flow`` at the unit vectors."""
    none = np.zeros(0)
    constant = flow(np.zeros(3), side, none)
    A = np.zeros((4, 4))
    A[:3, 3] = constant
    A[:3, :3] = np.stack([flow(e, side, none) - constant for e in np.eye(3)], axis=1)
    return A


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
