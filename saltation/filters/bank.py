"""A bank of salted Kalman filters, for distributions that a guard splits (beyond 7.2).

The salted filter takes its whole Gaussian through a guard at once. The bank takes the part that has
crossed, and keeps the rest: one Gaussian a mode, weighed by the measurements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from saltation.compiled.limits import OK
from saltation.filters.consistency import ConsistencyOptions
from saltation.filters.interface import (
    NO_LIKELIHOOD,
    WRONG_SIZE,
    Belief,
    Coordinates,
    HybridFilter,
    Status,
    status_of,
)
from saltation.filters.kernels import kalman, mixture
from saltation.filters.kernels.kalman import Gaussian, gaussian_of
from saltation.filters.kernels.mixture import Mixture, Split
from saltation.filters.model import FilterModel
from saltation.filters.tables import model_tables
from saltation.systems import Array

# ruff: noqa: N803, N806 (the letters are the thesis's)


@dataclass(frozen=True)
class BankOptions:
    """Bounds at which a Gaussian is cut in two, or dropped.

    Raises:
        ValueError: a probability is not within its bounds, or no hypothesis is allowed.
    """

    certain: float = 1e-3  # below this, or within it of 1, a probability of crossing is certain
    minimum_weight: float = 1e-4  # below which a hypothesis is dropped
    max_hypotheses: int = 8

    def __post_init__(self) -> None:
        """Check the numbers."""
        weight = 0.0 <= self.minimum_weight < 0.5
        if not (0.0 < self.certain < 0.5 and weight and self.max_hypotheses >= 1):
            raise ValueError(
                f"{self}: certain lies between 0 and 0.5, minimum_weight is at least 0 and below"
                " 0.5, and there is at least one hypothesis"
            )

    def split(self) -> Split:
        """The options as kernels take them."""
        return Split(float(self.certain), float(self.minimum_weight), int(self.max_hypotheses))


class Hypothesis(NamedTuple):
    """One of the Gaussians, and how probable it is."""

    weight: float
    belief: Belief


class SaltedBank(HybridFilter):
    """Salted Kalman filters side by side.

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
        consistency: ConsistencyOptions | None = None,
    ) -> None:
        """Start from one Gaussian; arguments and errors are ``SaltedKalmanFilter``'s."""
        super().__init__(model, mode, mean, Sigma, time, consistency)
        self._tables = model_tables(model)
        self._split = (options or BankOptions()).split()
        self._mixture, self._other = Mixture.empty(self._tables), Mixture.empty(self._tables)
        self._start: Gaussian | None  # until there is an input
        self._start = gaussian_of(self._belief, self._modes)
        mixture.make_one(self._tables.tables, self._mixture, self._start)
        self._time = self._belief.time
        self._problem: tuple[Status, str] = ("ok", "")

    @property
    def belief(self) -> Belief:
        """Belief of the most probable hypothesis."""
        return max(self.hypotheses, key=lambda one: one.weight).belief

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """All of them; the sum of their weights is 1."""
        weights = enumerate(self._mixture.weights.tolist())
        return tuple(Hypothesis(w, self._belief_of(i)) for i, w in weights if w > 0.0)

    @property
    def mode_probabilities(self) -> dict[int, float]:
        """Weight of each mode; the sum is 1."""
        return dict(zip(self._modes, self._mixture.weights.tolist(), strict=True))

    def mean_of(self, coordinates: Coordinates) -> Array:
        """Mean (d,) over all hypotheses, in coordinates that the modes share."""
        every = self.hypotheses
        return np.sum(
            [one.weight * coordinates(one.belief.mode, one.belief.mean) for one in every], 0
        )

    def predict(self, u: Array, duration: float) -> Belief:
        """Predict every hypothesis, cut those that a guard splits, and merge what meets again."""
        self._problem = ("ok", "")
        if not 0.0 <= duration < np.inf:
            self._problem = ("simulation_failed", f"duration {duration} s: give a finite one")
            return self.belief
        u, message = self._input(u)
        end = self._time + float(duration)
        self._use_start(u)
        mixture.predict_mixture(
            self._tables.tables, self._mixture, self._time, u, end, self._split, self._other
        )
        self._mixture, self._other, self._time = self._other, self._mixture, end
        if message := message or self._tables.errors():
            self._problem = ("simulation_failed", message)
        return self.belief

    def correct(self, u: Array, y: Array) -> Belief:
        """Correct every hypothesis with y (p,), and weigh it by the measurement's likelihood.

        Where none can be corrected all keep their weights, and the status says why.
        """
        y = np.ascontiguousarray(y, float)
        u, message = self._input(u)
        if y.ndim != 1:
            self._problem = status_of(WRONG_SIZE)
            return self.belief
        self._use_start(u)
        code, squared = mixture.correct_mixture(
            self._tables.tables, self._mixture, self._time, u, y, self._split, self._other
        )
        if code == OK:
            self._mixture, self._other = self._other, self._mixture
            self._test.add(squared, len(y))
        else:
            status, text = status_of(code)
            text = "; ".join(filter(None, (message, self._tables.errors(), text)))
            self._problem = (status, text)
        return self.belief

    def sense(self, log_likelihoods: Mapping[int, float]) -> Belief:
        """Weigh the modes by ln p(what a contact sensor says | mode); 0 for one that is left out.

        The status is "rejected", and nothing is changed, where no hypothesis has a likelihood.
        """
        with np.errstate(divide="ignore"):
            logs = np.log(self._mixture.weights)
        logs = logs + np.array([log_likelihoods.get(mode, 0.0) for mode in self._modes])
        if not np.isfinite(logs.max()):
            status, message = status_of(NO_LIKELIHOOD)
            return self.belief._replace(status=status, message=message)
        self._mixture.weights[:] = np.exp(logs - logs.max())
        mixture.normalise(self._mixture, self._split)
        return self.belief

    def _use_start(self, u: Array) -> None:
        """Take the transitions that the start is in the guards of."""
        if self._start is not None:
            result = kalman.force(self._tables.tables, self._start, u, -1)
            mixture.make_one(self._tables.tables, self._mixture, result.g)
        self._start = None

    def _belief_of(self, i: int) -> Belief:
        """The Gaussian of a mode by index, and how the last step went."""
        part, n = self._mixture, self.model.system.modes[self._modes[i]].state_dim
        k, (status, message) = self.model.tangent_dim(self._modes[i]), self._problem
        if status == "ok":
            status, message = status_of(int(part.codes[i]))
        if status == "ok" and self._test.result.verdict == "optimistic":
            status, message = "inconsistent", self._test.result.message
        mean, Sigma = part.means[i, :n].copy(), part.Sigmas[i, :k, :k].copy()
        return Belief(self._time, self._modes[i], mean, Sigma, int(part.transitions[i]), status,
                      message)  # fmt: skip
