"""Common part of all hybrid filters: belief, status, start, arguments of a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from saltation.compiled import limits
from saltation.filters.consistency import Consistency, ConsistencyOptions, ConsistencyTest
from saltation.filters.model import FilterModel, check_covariance
from saltation.systems import Array

Status = Literal[
    "ok", "not_transverse", "inconsistent", "simulation_failed", "not_finite", "rejected"
]
Coordinates = Callable[[int, Array], Array]  # of (mode, state (n,)), the same (d,) in every mode
NOT_TRANSVERSE, RESULT_NOT_FINITE, NO_GAIN, WRONG_SIZE, NO_LIKELIHOOD = range(100, 105)
_STATUSES: dict[int, tuple[Status, str]] = {
    limits.OK: ("ok", ""),
    NOT_TRANSVERSE: (
        "not_transverse",
        "an event grazed its guard, or jumped over it: D_x R stood in for Xi",
    ),
    RESULT_NOT_FINITE: ("not_finite", "the result is not finite; the belief is the one before"),
    NO_GAIN: (
        "not_finite",
        "the measurement is not used: it is not finite, or its covariance C Sigma C' + V is not"
        " positive definite; give it noise",
    ),
    WRONG_SIZE: ("rejected", "the measurement has not as many numbers as its mode's: see V"),
    NO_LIKELIHOOD: ("rejected", "no mode explains the measurement: check its noise V"),
}


class Belief(NamedTuple):
    """Belief of a filter: a mode, and a Gaussian of the state in it.

    Status, worst last:

    - "ok".
    - "inconsistent": a guard splits the Gaussian, or recent innovations are larger than the filter
      says (see ``consistency``): errors may be much larger than the covariance.
    - "not_transverse": an event was grazed, and D_x R stood in for Xi.
    - "simulation_failed": the mean could not be followed to the end of the step.
    - "not_finite": a measurement or the result was not finite. The belief is the last sound one,
      predicted without the measurement where possible.
    - "rejected": no mode explains the measurement, or it has the wrong size.
    """

    time: float  # [s]
    mode: int
    mean: Array  # (n,) of that mode
    Sigma: Array  # (k, k) of its tangent vectors, symmetric
    transitions: int  # events in the last step, of prediction and correction together
    status: Status
    message: str = ""  # what went wrong and what to do; "" when ok


class HybridFilter(ABC):
    """A filter that is led through time step by step. `step` never raises on what it is fed."""

    def __init__(
        self, model: FilterModel, mode: int, mean: Array, Sigma: Array, time: float,
        consistency: ConsistencyOptions | None,
    ) -> None:  # fmt: skip
        """A filter that starts from a Gaussian, with options for the test of its innovations."""
        self._belief = initial_belief(model, mode, mean, Sigma, time)
        self.model = model
        self._modes = list(model.system.modes)
        self._test = ConsistencyTest(consistency or ConsistencyOptions())

    @property
    def belief(self) -> Belief:
        """Present belief: a bank's, or a particle filter's, of the most probable mode."""
        return self._belief

    @property
    def consistency(self) -> Consistency:
        """Test of the recent innovations against the covariances that the filter gave them."""
        return self._test.result

    def step(self, u: Array, y: Array | None, duration: float) -> Belief:
        """Predict over a duration [s] with the input u (m,) held, then correct with y (p,).

        Without a measurement (None) the step predicts only.
        """
        self.predict(u, duration)
        return self.belief if y is None else self.correct(u, y)

    @abstractmethod
    def predict(self, u: Array, duration: float) -> Belief:
        """Predict over a duration [s] with the input u (m,) held."""

    @abstractmethod
    def correct(self, u: Array, y: Array) -> Belief:
        """Correct with a measurement y (p,) of now."""

    def _input(self, u: Array) -> tuple[Array, str]:
        """The input (m,) for a kernel; NaN, and a message, where it has another shape."""
        u, m = np.ascontiguousarray(u, float), self.model.system.input_dim
        if u.shape == (m,):
            return u, ""
        return np.full(m, np.nan), f"the input has shape {u.shape}; the system takes ({m},)"


def status_of(code: int) -> tuple[Status, str]:
    """Status and message of a kernel's code."""
    if code in _STATUSES:
        return _STATUSES[code]
    reason = limits.STATUSES[code]
    return "simulation_failed", f"the mean could not be followed to the end of the step: {reason}"


def initial_belief(model: FilterModel, mode: int, mean: Array, Sigma: Array, time: float) -> Belief:
    """The belief that a filter starts from: mean (n,), symmetric covariance (k, k), time [s].

    Raises:
        ValueError: there is no such mode, a shape is wrong, a number is not finite, or Sigma is no
            covariance.
    """
    if mode not in model.system.modes:
        modes = sorted(model.system.modes)
        raise ValueError(f"there is no mode {mode}; the system has {modes}: give one of them")
    n, mean = model.system.modes[mode].state_dim, np.array(mean, float)
    if mean.shape != (n,):
        raise ValueError(f"mean of mode {mode} has shape {mean.shape}; give ({n},)")
    if not (np.isfinite(mean).all() and np.isfinite(time)):
        raise ValueError(
            f"mean {mean} of mode {mode}, or the time {time} s, is not finite: give numbers"
        )
    Sigma = np.array(Sigma, float)
    check_covariance(Sigma, model.tangent_dim(mode), f"Sigma of mode {mode}")
    return Belief(float(time), mode, mean, 0.5 * Sigma + 0.5 * Sigma.T, 0, "ok")
