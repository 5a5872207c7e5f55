"""How unpredictable a touchdown of the A1 is: what rigid impacts in any order may lead to.

The outcomes are samples of Halm and Posa's set-valued law (39). A sample lets each foot take up to
h of normal impulse at a time, h being what the hardest foot would need to stop if it were alone:
with it a foot may stop at once, or little by little beside the others. The samples are drawn, so
the largest distance between two is the set's own or less.
"""

# ruff: noqa: N806 (the letters are the papers')

from __future__ import annotations

from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.impacts.resolution import sequential
from hybrid.impacts.sampling import SamplingOptions, sample_impacts
from hybrid.impacts.surface_cosines import surface_cosines
from robots.conventions import FOOT_NAMES
from robots.impact_problem import contact_problem
from robots.robot import Robot
from saltus.metrics.touchdowns import Array, Touchdowns, feet_of

_PAIRS: dict[tuple[str, ...], str] = {
    ("FR", "FL"): "front pair", ("RR", "RL"): "rear pair", ("FR", "RL"): "diagonal pair",
    ("FL", "RR"): "diagonal pair", ("FR", "RR"): "side pair", ("FL", "RL"): "side pair",
}  # fmt: skip


def kind_of(landing: Array) -> str:
    """What a row of ``landing`` (4) is called: one foot, front pair, diagonal pair, three feet."""
    feet = feet_of(landing)
    return _PAIRS.get(feet) or ("no foot", "one foot", "", "three feet", "four feet")[len(feet)]


class Outcomes(NamedTuple):
    """Sampled outcomes of one touchdown."""

    problem: ContactProblem
    v_plus: Array  # (S, 18) of the samples whose impact ended
    ended: float  # share of the samples whose impact ended
    energy_growth: float  # largest growth of the kinetic energy in a step, over that before


class Spread(NamedTuple):
    """How far outcomes of one touchdown lie from one another, and why."""

    base: float  # largest distance between two of the base's linear velocities [m/s]
    rms: float  # root mean square distance of those from their mean [m/s]
    kinetic: float  # largest distance between two velocities, |v+ - v+'|_M / |v-|_M
    jump: float  # from the base's linear velocity before to the mean of those after [m/s]
    approach: float  # normal velocity of the foot that lands hardest [m/s], positive downward
    cosine: float  # s of largest magnitude, of a foot that lands and any other; NaN: there is none
    pairs: dict[tuple[str, ...], float]  # s of every pair of feet on the ground


NOTHING = Spread(0.0, 0.0, 0.0, 0.0, 0.0, float("nan"), {})


def outcomes_of(
    robot: Robot, touchdowns: Touchdowns, row: int, samples: int, seed: int = 0
) -> Outcomes:
    """Sample what a touchdown may lead to, the feet that stand taking part.

    Args:
        robot: that touched down.
        touchdowns: of a run.
        row: which of them.
        samples: how many; none is drawn where no foot closes, and the velocity stays.
        seed: of the draws.

    Raises:
        ValueError: the configuration allows no impact, see `robots.impact_problem`.
    """
    feet = feet_of(touchdowns.landing[row] + touchdowns.standing[row])
    v = touchdowns.v[row]
    problem = contact_problem(robot, touchdowns.q[row], feet)
    if not problem.is_colliding(v):
        return Outcomes(problem, v[None], 1.0, 0.0)
    found = sample_impacts(problem, v, SamplingOptions(samples, stopping_impulse(problem, v),
                                                       seed=seed))  # fmt: skip
    share = float(found.terminated.mean())
    return Outcomes(problem, found.outcomes, share, found.energy_growth)


def stopping_impulse(problem: ContactProblem, v: Array) -> float:
    """Largest normal impulse [N s] that one of the contacts alone needs to stop, v (n,)."""
    inverse_mass = np.einsum("ij,ji->i", problem.J_n, np.linalg.solve(problem.M, problem.J_n.T))
    return float(np.max(-(problem.J_n @ v) / inverse_mass))


def spread_of(found: Outcomes, v: Array, landing: Array) -> Spread:
    """Measure the outcomes of a touchdown.

    Args:
        found: its outcomes, one or more.
        v: velocity before (18).
        landing: (4), above 0.5 for feet that come down.
    """
    problem, base = found.problem, found.v_plus[:, :3]
    whitened = found.v_plus @ np.linalg.cholesky(problem.M)
    down = -problem.J_n @ v
    hits = [foot in feet_of(landing) for foot in problem.contacts]
    pairs = cosines_of(problem)
    touched = [s for (a, b), s in pairs.items() if {a, b} & set(feet_of(landing))]
    return Spread(
        base=largest_distance(base),
        rms=float(np.sqrt(base.var(axis=0).sum())),
        kinetic=largest_distance(whitened) / max(problem.kinetic_norm(v), 1e-12),
        jump=float(np.linalg.norm(base.mean(axis=0) - v[:3])),
        approach=float(down[hits].max(initial=0.0)),
        cosine=max(touched, key=abs, default=float("nan")),
        pairs=pairs,
    )


def cosines_of(problem: ContactProblem) -> dict[tuple[str, ...], float]:
    """Seghete and Murphey's s (22) of every pair of contacts, as they are named in order."""
    s = surface_cosines(problem.M, problem.J_n, problem.contacts, problem.name)
    order = sorted(range(problem.count), key=lambda i: FOOT_NAMES.index(problem.contacts[i]))
    return {(problem.contacts[i], problem.contacts[j]): float(s[i, j])
            for i, j in combinations(order, 2)}  # fmt: skip


def ordered_outcomes(problem: ContactProblem, v: Array) -> Array:
    """Velocities (., n) after impacts one foot after another, in every order of the feet.

    An order whose impacts do not end is left out.
    """
    found = [sequential(problem, v, order) for order in permutations(range(problem.count))]
    return np.array([each.v_plus for each in found if each.ok]).reshape(-1, problem.dim)


def largest_distance(points: Array) -> float:
    """Largest distance between two rows of ``points`` (S, d)."""
    furthest = 0.0
    for begin in range(0, len(points), 256):  # so that a large set needs little memory
        apart = points[begin : begin + 256, None] - points[None]
        furthest = max(furthest, float(np.einsum("ijk,ijk->ij", apart, apart).max()))
    return float(np.sqrt(furthest))
