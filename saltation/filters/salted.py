"""The salted Kalman filter: a Kalman filter whose covariance passes transitions by Xi (chapter 4).

Algorithm 1, on any hybrid system: as many transitions as a prediction holds, and those into which
a measurement pulls the mean. With D_x R in place of Xi it is the JRKF that the thesis compares.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from saltation.compiled.limits import OK
from saltation.filters.consistency import ConsistencyOptions
from saltation.filters.interface import (
    WRONG_SIZE,
    Belief,
    HybridFilter,
    Status,
    status_of,
)
from saltation.filters.kernels import kalman
from saltation.filters.kernels.kalman import Innovation, Result, gaussian_of
from saltation.filters.model import FilterModel
from saltation.filters.tables import model_tables
from saltation.options import check_choice
from saltation.systems import Array, Transition

# ruff: noqa: N803, N806 (the letters are the thesis's)

Sensitivity = Literal["saltation", "reset"]  # Xi, or D_x R in its place: the JRKF


class SaltedKalmanFilter(HybridFilter):
    """One Gaussian in one mode, led through time by Algorithm 1.

    Line 16 looks once for a guard set (4.2) that holds the corrected mean; here transitions follow
    each other until none does, or until they are back in a mode they came from.
    """

    def __init__(
        self,
        model: FilterModel,
        mode: int,
        mean: Array,
        Sigma: Array,
        time: float = 0.0,
        sensitivity: Sensitivity = "saltation",
        consistency: ConsistencyOptions | None = None,
        split_update: bool = False,
    ) -> None:
        """Start from a Gaussian.

        Args:
            model: the system with its noises and measurements.
            mode: number of the mode.
            mean: state (n,) of that mode.
            Sigma: covariance (k, k) of its tangent vectors, (n, n) in R^n; it may be singular.
            time: [s].
            sensitivity: "saltation" for Xi at transitions, "reset" for D_x R.
            consistency: window and probability of the test of innovations.
            split_update: correct up to a guard that a measurement moves the mean through, and with
                what is left of the measurement in the next mode (4.5.4).

        Raises:
            ValueError: there is no such mode or sensitivity, a shape is wrong, a number is not
                finite, or Sigma has a negative eigenvalue.
        """
        check_choice("sensitivity", sensitivity, Sensitivity)
        super().__init__(model, mode, mean, Sigma, time, consistency)
        self.sensitivity: Sensitivity = sensitivity
        self._tables = model_tables(model, salted=sensitivity == "saltation")
        self._split_update = bool(split_update)
        self._g = gaussian_of(self._belief, self._modes)
        self._split = -np.inf  # [s], until which a guard that was crossed splits the Gaussian
        self._at_start = True  # transitions of the start need an input
        self._innovation: Innovation | None = None

    @property
    def innovation(self) -> Innovation | None:
        """Innovation of the last correction, before its transitions; None if it was not used."""
        return self._innovation

    def predict(self, u: Array, duration: float) -> Belief:
        """Lines 2-12 of Algorithm 1, (4.15) and (4.16): over a duration [s], with u (m,) held.

        Where the mean cannot be followed to the end it stays where it came to, and W grows on.
        """
        self._belief = self._belief._replace(transitions=0, status="ok", message="")
        if not 0.0 <= duration < np.inf:
            return self._flag("simulation_failed", f"duration {duration} s: give a finite one")
        u, message = self._input(u)
        if self._at_start:
            self._update(self._tables.call(kalman.force, self._g, u, -1), u)
        self._at_start, end = False, self._g.t + float(duration)
        return self._update(self._tables.call(kalman.predict, self._g, u, end, True), u, message)

    def correct(self, u: Array, y: Array) -> Belief:
        """Lines 13-20 of Algorithm 1, (4.9)-(4.11) and (4.17), (4.18): with a measurement y (p,).

        The status is "rejected" where y has not as many numbers as the mode's measurement, and
        "not_finite" where it has no gain; the prediction then stands.
        """
        self._innovation, y = None, np.ascontiguousarray(y, float)
        if y.ndim != 1:
            return self._flag(*status_of(WRONG_SIZE))
        u, message = self._input(u)
        result, innovation = self._tables.call(kalman.correct, self._g, u, y, self._split_update)
        self._at_start = False
        if np.isfinite(innovation.squared):
            self._innovation = innovation
            self._test.add(innovation.squared, len(y))
        return self._update(result, u, message)

    def force(self, transition: Transition, u: Array) -> Belief:
        """Take a transition now, wherever the mean is: a contact sensor says that it happened.

        Its Xi is that of the mean as it is, (4.17) and (4.18).

        Raises:
            ValueError: the transition does not leave the mode that is believed.
        """
        if transition.source != self._belief.mode:
            raise ValueError(
                f"{transition.label} leaves mode {transition.source}, and the belief is in mode"
                f" {self._belief.mode}: force one of its own transitions"
            )
        u, message = self._input(u)
        e = self.model.system.transitions.index(transition)
        result = self._tables.call(kalman.force, self._g, u, e)
        self._split = -np.inf  # all of it has crossed
        return self._update(result, u, message)

    def _update(self, result: Result, u: Array, message: str = "") -> Belief:
        """The belief after an operation; the worst status of a step stands."""
        self._g, last = result.g, self._belief
        mode, count = self._modes[result.g.mode], last.transitions + result.transitions
        self._belief = Belief(result.g.t, mode, result.g.x, result.g.Sigma, count, last.status,
                              last.message)  # fmt: skip
        error = self._tables.errors()
        if result.code != OK:
            status, text = status_of(result.code)
            self._flag(status, "; ".join(filter(None, (message, error, text))))
        elif last.status in ("ok", "inconsistent"):
            problem = self._inconsistency(result, u)
            self._flag("inconsistent" if problem else "ok", problem)
        return self._belief

    def _inconsistency(self, result: Result, u: Array) -> str:
        """The reason why the covariance is not to be relied on; "" without one."""
        self._split = max(self._split, result.split)
        if self._split >= self._g.t or self._tables.call(kalman.is_split, self._g, u):
            return (
                "a guard splits the Gaussian: part of it has crossed, and part has not, which"
                " one covariance does not describe; use SaltedBank or ParticleFilter"
            )
        return self._test.result.message

    def _flag(self, status: Status, message: str) -> Belief:
        self._belief = self._belief._replace(status=status, message=message)
        return self._belief
