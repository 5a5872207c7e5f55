"""Weighed Gaussians of a hybrid system: merged within a mode, weighed anew, light ones dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hybrid.filters.interface import Belief
from hybrid.filters.model import FilterModel
from hybrid.filters.salted import SaltedKalmanFilter
from hybrid.filters.tangent import moved

# ruff: noqa: N803, N806 (the letters are the thesis's)


class Hypothesis(NamedTuple):
    """One of the Gaussians, and how probable it is."""

    weight: float
    filter: SaltedKalmanFilter
    transitions: int = 0  # in this step, before the filter was made

    @property
    def belief(self) -> Belief:
        """Mode and Gaussian."""
        found = self.filter.belief
        return found._replace(transitions=found.transitions + self.transitions)


def reweighed(bank: Sequence[Hypothesis], gained: Sequence[float]) -> list[Hypothesis]:
    """Weights times exp(gained), with the sum 1; nothing where all of them vanish."""
    with np.errstate(divide="ignore"):
        logs = np.log([one.weight for one in bank]) + np.array(gained)
    if not np.isfinite(logs.max()):
        return []
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    return [one._replace(weight=float(w)) for one, w in zip(bank, weights, strict=True)]


def heaviest(bank: Sequence[Hypothesis], dropped: float, most: int) -> list[Hypothesis]:
    """The heaviest, ``most`` of them, of a weight above ``dropped``; their weights sum to 1."""
    first = sorted(bank, key=lambda one: -one.weight)[:most]
    kept = [one for one in first if one.weight > dropped] or first[:1]
    total = sum(one.weight for one in kept)
    return [one._replace(weight=one.weight / total) for one in kept]


def merged(model: FilterModel, bank: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Hypotheses of one mode as one, with the mean and covariance of their mixture."""
    by_mode: dict[int, list[Hypothesis]] = {}
    for one in bank:
        by_mode.setdefault(one.belief.mode, []).append(one)
    return [same[0] if len(same) == 1 else _one_of(model, same) for same in by_mode.values()]


def _one_of(model: FilterModel, same: list[Hypothesis]) -> Hypothesis:
    largest = max(same, key=lambda one: one.weight).belief
    manifold, total = model.manifolds.get(largest.mode), sum(one.weight for one in same)
    shares = np.array([one.weight for one in same]) / total if total > 0.0 else [1 / len(same)]
    means = [one.belief.mean for one in same]
    apart = np.array(
        [x - largest.mean if manifold is None else manifold.minus(x, largest.mean) for x in means]
    )
    middle = shares @ apart
    Sigma = sum(w * one.belief.Sigma for w, one in zip(shares, same, strict=True))
    Sigma = Sigma + ((apart - middle) * np.asarray(shares)[:, None]).T @ (apart - middle)
    mean = moved(manifold, largest.mean, middle)
    return hypothesis(model, total, largest._replace(mean=mean, Sigma=Sigma))


def hypothesis(model: FilterModel, weight: float, belief: Belief) -> Hypothesis:
    """A salted filter that starts from a belief, with a weight."""
    return Hypothesis(weight, filter_of(model, belief), belief.transitions)


def filter_of(model: FilterModel, belief: Belief) -> SaltedKalmanFilter:
    """A salted filter that starts from a belief."""
    return SaltedKalmanFilter(model, belief.mode, belief.mean, belief.Sigma, belief.time)
