"""Variational integrator: a pendulum that swings, and one that strikes a wall.

The discrete Lagrangian (3) is that of the midpoint; a step solves (4) for the next angle. At the
wall the step is cut, the momentum F+ is mapped by (9), elastically, and F- = p_+ leads on. In equal
steps the energy stays within a bound that shrinks with the square of the timestep. Steps cut at
the wall end that: the energy then drifts, which the source does not say. It prints no numbers.
"""

# Seghete and Murphey, sections I-A and II.

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from saltation.systems import Array
from studies.figures import Panel, dots, draw
from studies.seghete_murphey.systems.momenta import map_factor
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

GRAVITY = 9.8  # over the length of 1 m, with a mass of 1 kg [1/s^2]
START, WALL = 1.2, -0.5  # angles [rad]; the pendulum is released at rest
TIMESTEPS = (0.2, 0.1, 0.05)  # [s]
DURATION = 200.0  # [s]
ORDER, DRIFT = 1.9, 1.01  # of the energy's error: least order, and most of its growth


def momenta(a: float, b: float, h: float) -> tuple[float, float]:
    """-F-(a, b) and F+(a, b): momenta at both ends of a step from angle a to b, by (3)."""
    torque, rate = -GRAVITY * np.sin(0.5 * (a + b)), (b - a) / h
    return rate - 0.5 * h * torque, rate + 0.5 * h * torque


def next_angle(a: float, p: float, h: float) -> float:
    """Angle after a step of h [s] from angle a with momentum p, (4)."""
    guess, wide = a + h * p, 2.0 * h * h * GRAVITY
    found: Any = brentq(lambda b: momenta(a, b, h)[0] - p, guess - wide, guess + wide, xtol=1e-14)
    return found


def arrival(a: float, p: float, h: float) -> float:
    """Length [s] of the step, of at most h, from angle a with momentum p that ends on the wall."""
    found: Any = brentq(
        lambda s: (next_angle(a, p, s) if s > 1e-6 else a + s * p) - WALL, 0.0, h
    )  # fmt: skip
    return found


def swing(h: float, wall: bool) -> Array:
    """Time, angle and energy (K, 3) after every step."""
    t, a, p, rows = 0.0, START, 0.0, []
    while t < DURATION:
        b, length = next_angle(a, p, h), h
        lands = wall and b < WALL
        if lands:
            b, length = WALL, arrival(a, p, h)
        p = momenta(a, b, length)[1]
        if lands:
            p -= map_factor(1.0) * p
        t, a = t + length, b
        rows.append((t, a, 0.5 * p * p - GRAVITY * np.cos(a)))
    return np.array(rows)


@study("Seghete and Murphey, equations (1)-(4)")
def run(options: StudyOptions) -> StudyResult:
    """Rows with and without the wall: largest errors of the energy in both halves of the time."""
    rows, panels, criteria = list[Row](), [], []
    for wall in options.track((False, True), "swings"):
        curves: Row = {}
        for h in TIMESTEPS:
            t, angle, energy = swing(h, wall).T
            error = np.abs(energy + GRAVITY * np.cos(START))
            first, second = (np.max(error[half]) for half in (t < DURATION / 2, t > DURATION / 2))
            rows.append({"wall": wall, "timestep": h, "impacts": int(np.sum(angle == WALL)),
                         "first_half": first, "second_half": second})  # fmt: skip
            curves[f"{h:g} s"] = dots(np.stack((t, error), axis=1), markersize=1)
            if not wall:
                what = f"{h} s: energy's error, second half over first"
                criteria.append(Criterion(what, second / first, "<=", DRIFT))
        panels.append(Panel(curves, "time [s]", "error of the energy [J]",
                            settings={"title": "with a wall" if wall else "free"}))  # fmt: skip
    errors = [row["second_half"] for row in rows[: len(TIMESTEPS)]]
    order = np.log2(errors[0] / errors[-1]) / np.log2(TIMESTEPS[0] / TIMESTEPS[-1])
    criteria.append(Criterion("order of the energy's error", order, ">=", ORDER))
    return StudyResult(rows, {"variational-integrator": draw(*panels)}, criteria=criteria)
