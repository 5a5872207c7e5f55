"""Test of a filter by its own innovations: do they vary as much as it says?

The normalised innovation squared (NIS) of a consistent filter is chi-squared with p degrees of
freedom, and independent from step to step; so is its sum over a window, with their sum (Bar-Shalom,
Li and Kirubarajan, Estimation with Applications to Tracking and Navigation, 2001, 5.4). Unlike the
NEES of the error it needs no truth.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import gammainccinv, gammaincinv

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
        self._probability = options.probability
        self._window: deque[tuple[float, int]] = deque(maxlen=options.window)
        self.result = Consistency("unknown", 0.0, 0.0, np.inf, 0)

    def add(self, squared: float, p: int) -> None:
        """Take in the NIS of a measurement of p numbers."""
        if np.isfinite(squared):
            self._window.append((float(squared), p))
            total, degrees = sum(s for s, _ in self._window), sum(k for _, k in self._window)
            low = 2.0 * float(gammaincinv(0.5 * degrees, self._probability))  # of chi-squared
            high = 2.0 * float(gammainccinv(0.5 * degrees, self._probability))
            verdict: Verdict = "pessimistic" if total < low else "ok"
            self.result = Consistency(verdict, total, low, high, degrees)
            if not total <= high:
                message = (
                    f"innovations are {total / degrees:.3g} times as large as the filter says"
                    f" (squared, over {len(self._window)} measurements; {high / degrees:.3g} is"
                    " still consistent): raise the process noise, or use a SaltedBank where guards"
                    " split the Gaussian"
                )
                self.result = self.result._replace(verdict="optimistic", message=message)
