"""A bank of salted Kalman filters, for distributions that a guard splits (beyond 7.2).

The salted filter takes its whole Gaussian through a guard at once. The bank takes the part that has
crossed, and keeps the rest: one Gaussian a mode, weighed by the measurements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hybrid.filters.branches import branches, cut, without_process_noise
from hybrid.filters.correction import correction
from hybrid.filters.hypotheses import (
    Hypothesis,
    filter_of,
    heaviest,
    hypothesis,
    merged,
    reweighed,
)
from hybrid.filters.interface import Belief
from hybrid.filters.model import FilterModel
from hybrid.filters.particle import Coordinates
from hybrid.filters.salted import SaltedKalmanFilter
from hybrid.filters.tangent import moved, tangent_map, transported
from hybrid.systems import Array

# ruff: noqa: N803, N806 (the letters are the thesis's)


@dataclass(frozen=True)
class BankOptions:
    """When a Gaussian is cut in two, and which are dropped.

    Raises:
        ValueError: a probability is not within its bounds, or no hypothesis is allowed.
    """

    certain: float = 1e-3  # below this, or within it of 1, a probability of crossing is certain
    dropped: float = 1e-4  # weight below which a hypothesis is dropped
    most: int = 8  # hypotheses

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not (0.0 < self.certain < 0.5 and 0.0 <= self.dropped < 0.5 and self.most >= 1):
            raise ValueError(
                f"{self}: certain lies between 0 and 0.5, dropped is at least 0 and below 0.5, and"
                " there is at least one hypothesis"
            )


class SaltedBank:
    """Salted Kalman filters side by side; see ``HybridFilter``.

    ``belief`` is that of the most probable mode. With no guard within reach of the Gaussian it is
    one salted filter's, to the last bit.
    """

    def __init__(
        self,
        model: FilterModel,
        mode: int,
        mean: Array,
        Sigma: Array,
        time: float = 0.0,
        options: BankOptions | None = None,
    ) -> None:
        """Start from one Gaussian; arguments and errors are ``SaltedKalmanFilter``'s."""
        self._model, self._options = model, options or BankOptions()
        self._quiet = without_process_noise(model)
        self._bank = [Hypothesis(1.0, SaltedKalmanFilter(model, mode, mean, Sigma, time))]

    @property
    def belief(self) -> Belief:
        """Of the most probable hypothesis."""
        return max(self._bank, key=lambda one: one.weight).belief

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """All of them; the sum of their weights is 1."""
        return tuple(self._bank)

    @property
    def mode_probabilities(self) -> dict[int, float]:
        """Weight of each mode; the sum is 1."""
        shares = dict.fromkeys(self._model.system.modes, 0.0)
        for one in self._bank:
            shares[one.belief.mode] += one.weight
        return shares

    def mean_of(self, coordinates: Coordinates) -> Array:
        """Mean (d,) over all hypotheses, in coordinates that the modes share."""
        every = ((one.weight, one.belief) for one in self._bank)
        return np.sum([w * coordinates(b.mode, b.mean) for w, b in every], axis=0)

    def step(self, u: Array, y: Array | None, duration: float) -> Belief:
        """Predict over a duration [s] with u (m,) held, then correct with y (p,)."""
        self.predict(u, duration)
        return self.belief if y is None else self.correct(u, y)

    def predict(self, u: Array, duration: float) -> Belief:
        """Predict every hypothesis, cut those that a guard splits, and merge what meets again."""
        found = [part for one in self._bank for part in self._predicted(one, u, duration)]
        self._bank = self._kept(found)
        return self.belief

    def correct(self, u: Array, y: Array) -> Belief:
        """Correct every hypothesis with y (p,), and weigh it by the measurement's likelihood.

        Where none can be corrected all keep their weights, and the status says why.
        """
        corrected = [self._corrected(one, u, np.asarray(y, dtype=np.float64)) for one in self._bank]
        weighed = reweighed(self._bank, [likelihood for _, likelihood in corrected]) or self._bank
        self._bank = self._kept(
            [new._replace(weight=w.weight) for w, (new, _) in zip(weighed, corrected, strict=True)]
        )
        return self.belief

    def sense(self, log_likelihoods: Mapping[int, float]) -> Belief:
        """Weigh the modes by ln p(what a contact sensor says | mode); 0 for one that is left out.

        The status is "rejected", and nothing is changed, where no hypothesis has a likelihood.
        """
        weighed = reweighed(
            self._bank, [log_likelihoods.get(one.belief.mode, 0.0) for one in self._bank]
        )
        if not weighed:
            return self.belief._replace(status="rejected")
        self._bank = self._kept(weighed)
        return self.belief

    def _kept(self, bank: Sequence[Hypothesis]) -> list[Hypothesis]:
        options = self._options
        return heaviest(merged(self._model, bank), options.dropped, options.most)

    def _predicted(self, one: Hypothesis, u: Array, h: float) -> list[Hypothesis]:
        if 0.0 < h < np.inf:
            parts = branches(self._model, self._quiet, one.belief, u, h, self._options.certain)
            if parts:
                return [hypothesis(self._model, one.weight * p, belief) for p, belief in parts]
        one.filter.predict(u, h)
        return [one._replace(transitions=0)]

    def _corrected(self, one: Hypothesis, u: Array, y: Array) -> tuple[Hypothesis, float]:
        """A corrected hypothesis and the measurement's log-likelihood, -inf where it has none.

        A mean that is pulled behind a guard stays before it while the Gaussian is on both sides:
        the next prediction cuts it there.
        """
        before = one.filter.belief
        after = one.filter.correct(u, y)
        if one.filter.innovation is None:
            return one, -np.inf
        likelihood = one.filter.innovation.log_likelihood
        split = self._unmoved(before, u, y) if after.transitions > before.transitions else None
        if split is not None:
            one = Hypothesis(one.weight, split, one.transitions + before.transitions)
        return one, likelihood

    def _unmoved(self, before: Belief, u: Array, y: Array) -> SaltedKalmanFilter | None:
        """The corrected Gaussian without transitions, if it is on both sides of a guard."""
        model, (t, mode, mean, Sigma, *_) = self._model, before
        h, manifold = model.measurements[mode], model.manifolds.get(mode)
        expected = np.asarray(h.function(t, mean, u))
        found = correction(
            Sigma, tangent_map(h.state(t, mean, u), mean, manifold, expected, None), h.V,
            y - expected,
        )  # fmt: skip
        assert found is not None  # it was corrected before
        Sigma = transported(manifold, mean, found.step, found.Sigma)
        belief = before._replace(mean=moved(manifold, mean, found.step), Sigma=Sigma)
        for edge in model.system.outgoing(mode):
            if cut(model, edge, belief, u, self._options.certain) is not None:
                return filter_of(model, belief)
        return None
