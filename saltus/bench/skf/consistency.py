"""Do filters know how wrong they are? NEES of Van der Pol's oscillator, which strikes a wall.

The normalised estimation error squared e' Sigma^-1 e is on average the number of states, here 2, of
a filter whose covariance is right. Where a guard splits the Gaussian one covariance cannot be, and
the salted filter says so in its status: beliefs whose status is "ok" are counted apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hybrid.filters.bank import SaltedBank
from hybrid.filters.interface import HybridFilter
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.salted import SaltedKalmanFilter
from hybrid.systems import Array, Mode, System, Transition
from saltus.bench.hybrid.van_der_pol import START, bounce, flow, gap
from saltus.studies.kong.filters.truths import Truths, simulate_truths

SWING = 0
SPREAD = 0.01 * np.eye(2)  # covariance at the start
TIMESTEP, STEPS = 0.05, 200  # 23 impacts
TRIALS, SEED = 25, 0
NOTHING = np.zeros(0)


class Consistency(NamedTuple):
    """NEES of one filter over all timesteps of all trials."""

    system: str
    filter: str
    trials: int
    nees: float
    nees_ok: float  # of the beliefs whose status is "ok"
    ok: float  # their share
    rms: float  # error of place and velocity together


@njit
def place(t: float, x: Array, u: Array) -> Array:
    """What is measured."""
    return x[:1].copy()


# Filters compile what numba has compiled, and call the rest in Python.
FLOW, GAP, BOUNCE = njit(flow), njit(gap), njit(bounce)


def model(wall: bool) -> FilterModel:
    """The oscillator, with its wall or without."""
    hit = Transition(SWING, SWING, GAP, BOUNCE, name="wall", time_invariant=True)
    system = System({SWING: Mode("swing", 2, 0, FLOW)}, (hit,) if wall else ())
    noise, measured = ProcessNoise(0.01 * np.eye(2)), Measurement(place, np.array([[0.01]]))
    return FilterModel(system, {SWING: noise}, {SWING: measured})


def rows(trials: int = TRIALS) -> list[dict[str, Any]]:
    """A row for each system and filter."""
    return [
        consistency(wall, kind, trials)._asdict()
        for wall in (True, False)
        for kind in (SaltedKalmanFilter, SaltedBank)
    ]


def consistency(wall: bool, kind: type, trials: int) -> Consistency:
    """NEES of a filter over noisy trials."""
    known = model(wall)
    deviations = np.random.default_rng(SEED).standard_normal((trials, 2))
    states = START + deviations @ np.sqrt(SPREAD)
    truths = simulate_truths(known, SWING, states, TIMESTEP, STEPS, SEED)
    each = [_trial(kind(known, SWING, START, SPREAD), truths, b) for b in range(trials)]
    nees, ok, squared = np.concatenate(each, axis=1)
    name = "Van der Pol" + (" with a wall" if wall else "")
    only = nees[ok == 1.0]
    return Consistency(
        name, kind.__name__, trials, float(nees.mean()), float(only.mean()), float(ok.mean()),
        float(np.sqrt(squared.mean())),
    )  # fmt: skip


def note(rows: list[dict[str, Any]]) -> str:
    """A sentence for each row."""
    return " ".join(
        f"{row['system']}, {row['filter']}: NEES {row['nees']:.3g}, {row['nees_ok']:.3g} where its"
        f" status is ok ({row['ok']:.0%}); 2 is consistent."
        for row in rows
    )


def _trial(one: HybridFilter, truths: Truths, b: int) -> Array:
    """NEES, whether the status was "ok", and the squared error, at each timestep (3, STEPS)."""
    result = np.empty((3, STEPS))
    for k in range(STEPS):
        belief = one.step(NOTHING, truths.measurements[b, k], TIMESTEP)
        e = truths.states[b, k + 1] - belief.mean
        nees = e @ np.linalg.solve(belief.Sigma, e)
        result[:, k] = nees, belief.status == "ok", e @ e
    return result
