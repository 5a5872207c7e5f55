"""Test of a filter by its own innovations: do they vary as much as it says?

The normalised innovation squared (NIS) of a consistent filter is chi-squared with p degrees of
freedom, and independent from step to step; so is its sum over a window, with their sum (Bar-Shalom,
Li and Kirubarajan, Estimation with Applications to Tracking and Navigation, 2001, 5.4). Unlike the
NEES of the error it needs no truth.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import chi2

from hybrid.systems import Array

Verdict = Literal["ok", "optimistic", "pessimistic", "unknown"]


@dataclass(frozen=True)
class ConsistencyOptions:
    """Window of the test, and how often a consistent filter fails it.

    Raises:
        ValueError: the window is empty, or the probability not between 0 and 0.5.
    """

    window: int = 50  # innovations
    probability: float = 1e-6  # that a consistent filter lies beyond one of the bounds, a step

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.window < 1 or not 0.0 < self.probability < 0.5:
            raise ValueError(
                f"{self}: give a window of at least 1 and a probability between 0 and 0.5"
            )


class Consistency(NamedTuple):
    """Sum of the NIS over the window beside its bounds.

    "optimistic": the sum is above ``high``; errors are larger than the covariance says.
    "pessimistic": it is below ``low``. "unknown": there is no innovation yet.
    """

    verdict: Verdict
    sum: float
    low: float
    high: float
    degrees: int  # of freedom: what a consistent filter's sum is on average
    message: str = ""


class ConsistencyTest:
    """The running test of one filter."""

    def __init__(self, options: ConsistencyOptions) -> None:
        """Start without innovations."""
        self._options = options
        self._window: deque[tuple[float, int]] = deque(maxlen=options.window)

    def add(self, squared: float, p: int) -> None:
        """Take in the NIS of a measurement of p numbers."""
        if np.isfinite(squared):
            self._window.append((float(squared), p))

    @property
    def result(self) -> Consistency:
        """Of the innovations in the window."""
        if not self._window:
            return Consistency("unknown", 0.0, 0.0, np.inf, 0)
        return consistency_of(np.array(self._window).T, self._options.probability)


def consistency_of(innovations: Array, probability: float = 1e-6) -> Consistency:
    """Test of given innovations: their NIS and their numbers of components (2, N)."""
    total, degrees = float(innovations[0].sum()), int(innovations[1].sum())
    low, high = _bounds(degrees, probability)
    verdict: Verdict = "optimistic" if total > high else "pessimistic" if total < low else "ok"
    message = (
        f"innovations are {total / degrees:.3g} times as large as the filter says (squared, over"
        f" {innovations.shape[1]} measurements; {high / degrees:.3g} is still consistent): raise"
        " the process noise, or use a SaltedBank where guards split the Gaussian"
    )
    return Consistency(verdict, total, low, high, degrees, message * (verdict == "optimistic"))


@lru_cache(maxsize=4096)
def _bounds(degrees: int, probability: float) -> tuple[float, float]:
    return float(chi2.ppf(probability, degrees)), float(chi2.isf(probability, degrees))
