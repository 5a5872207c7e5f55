"""Unpredictability of the A1's touchdowns in walk, trot and bound.

Each gait is walked in lock step, undisturbed. At every touchdown the velocity before it, the feet
that land within 10 ms, with the state before the first of them, and those that stand go to Halm and
Posa's set-valued impact. If only one foot closes, and its impact closes no other, there is one
outcome. ended is the share of sampled impacts that terminated.

jump_m_s: change of the base velocity to the mean of the outcomes. spread_m_s: largest distance of
the base velocity between two outcomes, median over the touchdowns (spread_max_m_s: the largest); of
random samples, a lower bound of the set's. spread_kinetic: spread of all velocities in the kinetic
metric, over the length of the velocity before the impact. s: cosine of largest magnitude between
the contact normals of a landing foot and any other foot on the ground, Seghete and Murphey's (22);
0 means independent contacts.

The outcomes are samples of Halm and Posa's set-valued law (39). A sample lets each foot take up to
h of normal impulse at a time, h being what the hardest foot would need to stop if it were alone:
with it a foot may stop at once, or little by little beside the others.
"""

# ruff: noqa: N806 (the letters are the papers')

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from controller.gaits import GAITS
from robots.conventions import FOOT_NAMES
from robots.impact_problem import contact_problem
from robots.robot import Robot, load_robot
from saltation.impacts.contact_problem import ContactProblem
from saltation.impacts.sampling import SamplingOptions, sample_impacts
from saltation.impacts.surface_cosines import surface_cosines
from saltation.systems import Array
from saltus.configuration.launch import make_config
from saltus.launch.lock_step import LockStep, Tick
from studies.study import Row, StudyOptions, StudyResult, study

SPEED = 0.2  # commanded [m/s]
DURATION_S = 4.0  # of each run
SAMPLES = 256  # of each touchdown
KINDS = {
    "FR FL": "front pair", "RR RL": "rear pair", "FR RL": "diagonal pair", "FL RR": "diagonal pair",
    "FR RR": "side pair", "FL RL": "side pair",
}  # fmt: skip
GAIT_NAMES = ("walk", "trot", "bound")
TOGETHER_S = 0.01 - 1e-9  # feet that land within one of the planner's knots land together
IN_THE_AIR_S = 0.02  # a foot that left the ground for less has bounced, and does not land anew


def largest(values: Sequence[float]) -> float | None:
    """The number of largest magnitude; None where all are NaN."""
    return max((value for value in values if np.isfinite(value)), key=abs, default=None)


MEASURES: dict[str, Callable[..., Any]] = {
    "jump_m_s": np.median, "spread_m_s": np.median, "spread_max_m_s": max,
    "spread_kinetic": np.median, "s": largest, "ended": min, "energy_growth": max
}  # of a touchdown, and of a row those of its touchdowns  # fmt: skip


class Outcomes(NamedTuple):
    """Sampled outcomes of one touchdown."""

    problem: ContactProblem
    v_plus: Array  # (S, 18) of the samples whose impact ended
    ended: float  # share of the samples whose impact ended
    energy_growth: float  # largest growth of the kinetic energy in a step, over that before


class Touchdowns(NamedTuple):
    """K touchdowns, one row each, in their order.

    Feet that land together share a row: with the state before the first of them lands.
    """

    time: Array  # (K,) of that state [s]
    q: Array  # (K, 19)
    v: Array  # (K, 18)
    landing: NDArray[Any]  # (K, 4) 1 for a foot that comes down
    standing: NDArray[Any]  # (K, 4) 1 for a foot that is on the ground already

    def rows(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> Touchdowns:
        """Some of them, as numpy would take them."""
        return Touchdowns(*(column[which] for column in self))


def feet_of(mask: Array) -> tuple[str, ...]:
    """Names of the feet that a row of ``landing`` or ``standing`` (4) marks."""
    return tuple(foot for foot, on in zip(FOOT_NAMES, mask, strict=True) if on > 0.5)


def touchdowns(time: Array, q: Array, v: Array, contact: Array) -> Touchdowns:
    """Touchdowns of a run, from its states at T ticks.

    A foot that is in the air at first counts as having left just then. Where ticks are missing the
    state before is not known, and nothing lands.

    Args:
        time: (T,) [s]; q: (T, 19); v: (T, 18).
        contact: (T, 4), above 0.5 for feet on the ground.
    """
    touching = contact > 0.5
    touched = np.maximum.accumulate(np.where(touching, time[:, None], time[0]))  # last, of each
    landed = touching[1:] & (time[1:, None] - touched[:-1] > IN_THE_AIR_S - 1e-9)
    landed &= (np.diff(time) < TOGETHER_S)[:, None]
    first, landing = list[int](), list[Any]()
    for k in np.flatnonzero(landed.any(axis=1)).tolist():
        if first and time[k + 1] - time[first[-1] + 1] < TOGETHER_S:
            landing[-1] = landing[-1] | landed[k] & ~touching[first[-1]]
        else:
            first.append(k)
            landing.append(landed[k])
    together = np.reshape(landing, (-1, 4)).astype(np.float64)
    return Touchdowns(time[first], q[first], v[first], together, touching[first].astype(np.float64))


@study("the A1 in simulation", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """Rows: gait, feet that land, and medians over the touchdowns of that kind.

    ``options.trials`` is the number of samples of each touchdown.
    """
    impacts, fell = [], {}
    for gait in GAIT_NAMES:
        found, fell[gait] = walk(gait, options)
        impacts += measure(load_robot("a1"), gait, found, options.count(SAMPLES), options)
    rows = [row | {"fell": fell[row["gait"]]} for row in rows_of(impacts)]
    columns = (
        "gait, landing, touchdowns, jump_m_s, spread_m_s, spread_max_m_s, spread_kinetic, s, ended,"
        " energy_growth, fell"
    )
    return StudyResult(rows, columns=columns)


def walk(gait: str, options: StudyOptions) -> tuple[Touchdowns, bool]:
    """Let the A1 follow a gait undisturbed, under HiLQR.

    Returns:
        The touchdowns after the ramp, at full speed; whether it fell.
    """
    config = make_config(
        {"reference": gait, "duration": DURATION_S, "command": {"velocity_x": SPEED},
         "simulation": {"seed": options.seed}}, f"study of {gait}"
    )  # fmt: skip
    run, states = LockStep(config), list[Any]()

    def keep(at: Tick) -> None:
        truth = at.truth
        states.append((truth.time, truth.q, truth.v, truth.contact))
        if truth.tick % 50 == 0:
            options.progress(truth.tick, round(DURATION_S * 1e3), f"{gait}: run")

    fell = run.run(keep).fell
    found = touchdowns(*map(np.array, zip(*states, strict=True)))
    return found.rows(found.time >= GAITS[gait].start + GAITS[gait].ramp), fell


def measure(
    robot: Robot, gait: str, landed: Touchdowns, samples: int, options: StudyOptions
) -> list[Row]:
    """Sample the outcomes of each touchdown; a row has `MEASURES`."""
    impacts = []
    for i in options.track(range(len(landed.time)), f"{gait}: outcomes"):
        found, feet = outcomes_of(robot, landed, i, samples, options.seed), landed.landing[i]
        names, counts = feet_of(feet), ("no foot", "one foot", "", "three feet", "four feet")
        impacts.append(spread_of(found, landed.v[i], feet) | {
            "gait": gait, "landing": KINDS.get(" ".join(names)) or counts[len(names)],
            "ended": found.ended, "energy_growth": found.energy_growth
        })  # fmt: skip
    return impacts


def outcomes_of(
    robot: Robot, landed: Touchdowns, row: int, samples: int, seed: int = 0
) -> Outcomes:
    """Sample what a touchdown may lead to, the feet that stand taking part.

    Args:
        robot: that touched down.
        landed: touchdowns of a run.
        row: which of them.
        samples: how many; none is drawn where no foot closes, and the velocity stays.
        seed: of the draws.

    Raises:
        ValueError: the configuration allows no impact, see `robots.impact_problem`.
    """
    feet = feet_of(landed.landing[row] + landed.standing[row])
    v = landed.v[row]
    problem = contact_problem(robot, landed.q[row], feet)
    if not problem.is_colliding(v):
        return Outcomes(problem, v[None], 1.0, 0.0)
    # The largest normal impulse [N s] that one of the contacts alone needs to stop.
    inverse_mass = np.einsum("ij,ji->i", problem.J_n, np.linalg.solve(problem.M, problem.J_n.T))
    step = np.max(-(problem.J_n @ v) / inverse_mass)
    found = sample_impacts(problem, v, SamplingOptions(samples, step, seed=seed))
    return Outcomes(problem, found.outcomes, found.terminated.mean(), found.energy_growth)


def spread_of(found: Outcomes, v: Array, landing: Array) -> Row:
    """Distances between the outcomes of one touchdown, and their cause.

    ``s`` is NaN where no other foot is on the ground.

    Args:
        found: its outcomes, one or more.
        v: velocity before (18).
        landing: (4), above 0.5 for feet that come down.
    """
    problem, base, feet = found.problem, found.v_plus[:, :3], feet_of(landing)
    whitened = found.v_plus @ np.linalg.cholesky(problem.M)
    s = surface_cosines(problem.M, problem.J_n, problem.contacts, problem.name)
    others = [s[i, j] for i, j in permutations(range(problem.count), 2)
              if problem.contacts[i] in feet]  # fmt: skip
    furthest = largest_distance(base)
    return {
        "jump_m_s": np.linalg.norm(base.mean(axis=0) - v[:3]),
        "spread_m_s": furthest,
        "spread_max_m_s": furthest,
        "spread_kinetic": largest_distance(whitened) / max(problem.kinetic_norm(v), 1e-12),
        "s": max(others, key=abs, default=np.nan),
    }


def largest_distance(points: Array) -> float:
    """Largest distance between two rows of ``points`` (S, d)."""
    return pdist(points).max(initial=0.0)


def rows_of(impacts: Sequence[Row]) -> list[Row]:
    """One row for each gait and kind of touchdown."""
    rows = []
    for gait, of_gait in groupby(impacts, key=lambda each: each["gait"]):
        kinds: dict[str, list[Row]] = {}
        for each in of_gait:
            kinds.setdefault(each["landing"], []).append(each)
        for kind, own in sorted(kinds.items()):
            head = {"gait": gait, "landing": kind, "touchdowns": len(own)}
            rows.append(head | {key: reduced([each[key] for each in own])
                                for key, reduced in MEASURES.items()})  # fmt: skip
    return rows
