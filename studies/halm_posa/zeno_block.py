"""Accumulation of a rocking block's impacts against its closed form.

The block turns about one corner as the pendulum (56), held by the contact force (61)-(62), until
the other comes down in the sticking impact (66). In s = t + Lambda_n,A + Lambda_n,B (63) time and
normal impulse add up. The simulation uses neither the pendulum nor the ratio (68), but to refuse a
block that does not rock. The errors of a row are those of its half cycle; those of the last row, of
the accumulation, include what the impacts still to come would add. Figure 8 shows about 2.67 s and
s = 28.4.
"""

# Halm and Posa, section 4.3; errors of the print: docs/errata.md. The bounds (69), (70) are upper
# bounds; the sums here are exact.

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.special import ellipkinc

from saltation.options import SimulationOptions
from saltation.simulation import Run, simulate
from saltation.systems import Array, Mode, System, Transition
from studies.figures import Panel, draw, over
from studies.halm_posa.systems.rocking_block import (
    ALPHA,
    GRAVITY,
    INERTIA,
    MASS,
    MASS_MATRIX,
    RADIUS,
    STANDING,
    WIDTH,
    arms,
    corners,
    normal_jacobian,
    tangential_jacobian,
)
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

RATE = 1.0  # theta'_0 [rad/s], 4.3
IMPACTS = 40
REQUIRED = 1e-3  # of the accumulation, relative
A, B = 0, 1  # corners, and the modes that turn about them
_OPTIONS = SimulationOptions(
    rtol=1e-11, atol=1e-13, guard_tolerance=1e-13, max_events=10**6, zeno_events=10**6
)


_PIVOTED = MASS * RADIUS**2  # inertia of the mass about a corner [kg m^2]
FREQUENCY_SQUARED = MASS * GRAVITY * RADIUS / (INERTIA + _PIVOTED)  # of (56) [1/s^2]
# Angular rate after an impact over that before it, (68): 0.7 of a block of 1 m by 2 m. Of a uniform
# block it is (h^2 - w^2 / 2) / (w^2 + h^2).
RATE_RATIO = (INERTIA - _PIVOTED * math.cos(2.0 * ALPHA)) / (INERTIA + _PIVOTED)


def half_cycle_time(rate: float) -> float:
    """Time t_1 [s] from an impact that leaves an angular rate [rad/s] to the next.

    (56) is a hanging pendulum seen from below, at gamma = theta + alpha + pi / 2: it leaves gamma_0
    towards its amplitude and returns, T = 2 (K(k) - F(phi_0, k)) / f with sin(phi_0) =
    sin(gamma_0 / 2) / k. The difference of the elliptic integrals is one integral F(psi, k), where
    tan(psi) tan(phi_0) = 1 / k', which loses no digits as the rate vanishes.

    Raises:
        ValueError: the block tips over.
    """
    f = math.sqrt(FREQUENCY_SQUARED)
    half = 0.5 * (ALPHA + 0.5 * math.pi)  # gamma_0 / 2
    turned = 0.5 * rate / f  # k^2 = sin^2(gamma_0 / 2) + turned^2
    k_complement = math.sqrt(math.cos(half) ** 2 - turned**2)
    psi = math.atan2(turned, k_complement * math.sin(half))
    return 2.0 * ellipkinc(psi, 1.0 - k_complement**2) / f


def half_cycle_s(rate: float) -> float:
    """Length in s [s + N s] of a half cycle and the impact that ends it, by (63) and (66).

    The vertical momentum goes from m (w / 2) theta' to the fraction (68) of it, so the impulses
    of the ground add up to m g T less what is lost.
    """
    T = half_cycle_time(rate)
    lost = MASS * 0.5 * WIDTH * (1.0 - RATE_RATIO) * rate
    return T + MASS * GRAVITY * T - lost


def accumulation(rate: float) -> tuple[float, float]:
    """t(s*) [s] and s* [s + N s]: the sums of 200 half cycles, in place of the bounds (69), (70).

    What is left after them is smaller than their last term times ratio / (1 - ratio). In s the
    lost momentum telescopes: s* = (1 + m g) t* - m (w / 2) theta'_0.
    """
    starts = [rate * RATE_RATIO**i for i in range(200)]
    return (math.fsum(half_cycle_time(w) for w in starts),
            math.fsum(half_cycle_s(w) for w in starts))  # fmt: skip


def rock(rate: float = RATE, impacts: int = IMPACTS) -> tuple[list[Row], Run]:
    """Turn about A from the ground with an angular rate [rad/s], until the given impact.

    Returns:
        A row an impact: the corner that arrives, where it ends in t [s] and s [s + N s], the
        angular rate after it [rad/s], its normal impulse, which is its length in s [N s], and the
        largest |tangential| / normal force in it and the half cycle before; and the run.
    """
    left, arm = iter(range(impacts - 1, -1, -1)), arms(0.0)[A]
    turning = np.array([arm[1], -arm[0], 1.0])  # about A, flat, at 1 rad/s (64)
    start = np.concatenate([STANDING, rate * turning, np.zeros(2)])
    run = simulate(
        System({A: _held(A), B: _held(B)}, (_landing(A, B), _landing(B, A)), "rocking block"),
        A, start, 100.0 * np.sqrt(RADIUS / GRAVITY),
        options=_OPTIONS, until=lambda _: not next(left)
    )  # fmt: skip
    found = []
    for event, segment in zip(run.events, run.segments, strict=False):
        before, after, edge = event.state_before, event.state_after, event.transition
        pulls = [holding_force(x, edge.source) for x in segment.states]
        pulls.append(sticking_impulse(before, edge.target))
        impulse = (after - before)[6:].sum()
        found.append({
            "corner": "AB"[edge.target], "time": event.time,
            "s": event.time + before[6:].sum() + impulse, "rate": after[5], "impulse": impulse,
            "friction_used": max(abs(pull[1] / pull[0]) for pull in pulls)
        })  # fmt: skip
    return found, run


def holding_force(x: Array, corner: int) -> Array:
    """Normal and tangential force (2,) [N] that keep a corner A or B at rest, by (61)-(62).

    ``x`` is the state (8,), or its q and v (6,).
    """
    arm, rate = arms(x[2])[corner], x[5]
    J = contact_jacobian(x[2], corner)
    drift = -(rate**2) * arm[::-1]  # dJ/dt v, normal first
    return _stopping(J, J @ np.array([0.0, -GRAVITY, 0.0]) + drift)


def sticking_impulse(x: Array, corner: int) -> Array:
    """Normal and tangential impulse Lambda (2,) [N s] that stop a corner, by (66)."""
    J = contact_jacobian(x[2], corner)
    return _stopping(J, J @ x[3:6])


def _stopping(J: Array, motion: Array) -> Array:
    """Force or impulse (2,) at a corner that takes its acceleration or velocity (2,) away."""
    return np.linalg.solve(J @ np.linalg.solve(MASS_MATRIX, J.T), -motion).astype(np.float64)


def contact_jacobian(theta: float, corner: int) -> Array:
    """J (2, 3) of one corner, its normal row first."""
    return np.stack((normal_jacobian(theta)[corner],
                     tangential_jacobian(theta)[corner]))  # fmt: skip


def _held(corner: int) -> Mode:
    inverse = np.linalg.inv(MASS_MATRIX)
    weight = np.array([0.0, -GRAVITY, 0.0])

    def flow(t: float, x: Array, u: Array) -> Array:
        force = holding_force(x, corner)
        acceleration = weight + inverse @ contact_jacobian(x[2], corner).T @ force
        impulses = np.zeros(2)
        impulses[corner] = force[0]
        return np.concatenate([x[3:6], acceleration, impulses])

    return Mode("AB"[corner], 8, 0, flow)


def _landing(held: int, other: int) -> Transition:
    inverse = np.linalg.inv(MASS_MATRIX)

    def height(t: float, x: Array, u: Array) -> float:
        return corners(x[:3])[other, 1]

    def stick(t: float, x: Array, u: Array) -> Array:
        impulse = sticking_impulse(x, other)
        after = x.copy()
        after[:3] = STANDING  # both corners are down, but for what integration left
        after[0] = x[0]
        after[3:6] += inverse @ contact_jacobian(x[2], other).T @ impulse
        after[6 + other] += impulse[0]
        return after

    return Transition(held, other, height, stick, name="AB"[other], time_invariant=True)


class ZenoTrajectory(NamedTuple):
    """Samples of x(s), K of them; rates are those that end at the sample's place, by s."""

    s: Array  # (K,) [s + N s]
    t: Array  # (K,) [s]
    theta: Array  # (K,) [rad]
    rate: Array  # (K,) theta' [rad/s]
    time_rate: Array  # (K,) dt/ds, 1 / (1 + lambda_n) of (52), zero in an impact
    impulse_rates: Array  # (K, 2) d Lambda_n / ds of A and B


def trajectory(run: Run, samples: int = 60) -> ZenoTrajectory:
    """Sample a run of `rock`, with as many samples, 2 or more, in each half cycle and each impact.

    After the last impact the block stands for half a second.
    """

    def part(t: Array, x: Array, pushes: Array) -> ZenoTrajectory:
        slow = 1.0 - pushes.sum(axis=1)
        return ZenoTrajectory(t + x[:, 6:].sum(axis=1), t, x[:, 2], x[:, 5], slow, pushes)

    parts, corner = [], np.eye(2)
    for segment, event in zip(run.segments, run.events, strict=False):
        times, before = np.linspace(segment.start, segment.end, samples), event.state_before
        states = np.stack([*(run.at(t)[1] for t in times[:-1]), before])
        force = np.array([holding_force(x, segment.mode)[0] for x in states])
        parts += [part(times, states, np.outer(force / (1.0 + force), corner[segment.mode]))]
        states = before + np.linspace(0.0, 1.0, samples)[:, None] * (event.state_after - before)
        pushes = np.tile(corner[event.transition.target], (samples, 1))
        parts += [part(np.full(samples, event.time), states, pushes)]  # (67)
    weight, passed = MASS * GRAVITY, np.array([0.0, 0.5])
    states = np.zeros((2, 8))
    states[:, 6:] = event.state_after[6:] + 0.5 * weight * passed[:, None]
    pushes = np.full((2, 2), 0.5 * weight / (1.0 + weight))
    parts.append(part(event.time + passed, states, pushes))
    return ZenoTrajectory(*map(np.concatenate, zip(*parts, strict=True)))


@study("Halm and Posa, figure 8")
def run(options: StudyOptions, impacts: int = IMPACTS) -> StudyResult:
    """Rows: one half cycle each, and ``accumulation``.

    A row an impact: where it ends in t [s] and s, and its half cycle against the closed form. The
    last row is the accumulation: the last impact's end, and its relative distance from the sum.
    """
    rows = list[Row]()
    (simulated, trial), limit = rock(RATE, impacts), accumulation(RATE)
    t = s = 0.0
    for number, impact in enumerate(simulated):
        rate = RATE * RATE_RATIO**number
        rows.append({
            "half_cycle": number + 1,
            **impact,
            "time_error": abs((impact["time"] - t) / half_cycle_time(rate) - 1.0),
            "s_error": abs((impact["s"] - s) / half_cycle_s(rate) - 1.0)
        })  # fmt: skip
        t, s = impact["time"], impact["s"]
    rows.append(rows[-1] | {
        "half_cycle": "accumulation",
        "corner": "",
        "time_error": abs(t / limit[0] - 1.0),
        "s_error": abs(s / limit[1] - 1.0),
        "friction_used": max(row["friction_used"] for row in rows),
        "closed_form_time": limit[0],
        "closed_form_s": limit[1]
    })  # fmt: skip
    criteria = [Criterion(f"{key} of the accumulation, relative", rows[-1][key], "<=", REQUIRED)
                for key in ("time_error", "s_error")]  # fmt: skip
    figures = {"figure-8": figure_8(trajectory(trial), *limit)}
    columns = "half_cycle, corner, time, s, rate, time_error, s_error, friction_used"
    return StudyResult(rows, figures, columns, criteria)


def figure_8(shown: ZenoTrajectory, end: float, end_s: float) -> Figure:
    """Angle and rate over t(s) and over s, and how fast time and impulses accrue."""
    angle = {r"$\theta$ [rad]": shown.theta, r"$\dot\theta$ [rad/s]": shown.rate}
    accrued = {
        r"$\dot t$": shown.time_rate,
        r"$\lambda_{n,A}$": shown.impulse_rates[:, 0],
        r"$\lambda_{n,B}$": shown.impulse_rates[:, 1],
    }
    return draw(*(
        Panel({name: over(x, values) for name, values in lines.items()}, label, y, ((end,), ()))
        for x, end, label, y, lines in (
            (shown.t, end, "t(s) [s]", "angle and rate", angle),
            (shown.s, end_s, "s [s + N s]", "angle and rate", angle),
            (shown.s, end_s, "s [s + N s]", "rate by s", accrued)
        )
    ))  # fmt: skip
