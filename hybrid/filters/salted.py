"""The salted Kalman filter: a Kalman filter whose covariance passes transitions by Xi (chapter 4).

Algorithm 1, on any hybrid system: as many transitions as a prediction holds, and those into which
a measurement pulls the mean. With D_x R in place of Xi it is the JRKF that the thesis compares.
"""

from __future__ import annotations

import numpy as np

from hybrid.filters.correction import Innovation, correction
from hybrid.filters.guard_sets import Path, being_left, follow, transitions_at
from hybrid.filters.interface import Belief, Status
from hybrid.filters.model import FilterModel
from hybrid.filters.propagation import Carried, JumpMap, Sensitivity, carry
from hybrid.filters.tangent import moved, put_back, tangent_map, transported
from hybrid.saltations import saltation, saltation_inside
from hybrid.systems import Array, Transition

# ruff: noqa: N803, N806 (the letters are the thesis's)

_QUIET = np.errstate(over="ignore", invalid="ignore")  # what overflows is flagged, not warned of


class SaltedKalmanFilter:
    """One Gaussian in one mode, led through time by Algorithm 1; a ``HybridFilter``.

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
    ) -> None:
        """Start from a Gaussian.

        Args:
            model: the system with its noises and measurements.
            mode: number of the mode.
            mean: state (n,) of that mode.
            Sigma: covariance (k, k) of its tangent vectors; (n, n) in R^n.
            time: [s].
            sensitivity: "saltation" for Xi at transitions, "reset" for D_x R.

        Raises:
            ValueError: there is no such mode or sensitivity, or a shape is wrong, or a number is
                not finite.
        """
        mean, Sigma = np.array(mean, dtype=np.float64), np.array(Sigma, dtype=np.float64)
        _check(model, mode, mean, Sigma, sensitivity)
        self.model = model
        self.sensitivity: Sensitivity = sensitivity
        self._belief = Belief(time, mode, mean, 0.5 * Sigma + 0.5 * Sigma.T, 0, "ok")
        self._innovation: Innovation | None = None
        self._leaving: tuple[Transition, ...] | None = None  # not known before there is an input

    @property
    def belief(self) -> Belief:
        """What is believed now."""
        return self._belief

    @property
    def innovation(self) -> Innovation | None:
        """Of the last correction, in the mode before its transitions; None if it was not used."""
        return self._innovation

    def step(self, u: Array, y: Array | None, duration: float) -> Belief:
        """Predict over a duration [s] with the input u (m,) held, then correct with y (p,)."""
        self.predict(u, duration)
        return self._belief if y is None else self.correct(u, y)

    @_QUIET
    def predict(self, u: Array, duration: float) -> Belief:
        """Lines 2-12 of Algorithm 1, (4.15) and (4.16): over a duration [s], with u (m,) held.

        Where the mean cannot be followed to the end it stays where it came to, and W grows on.
        """
        self._belief = self._belief._replace(transitions=0, status="ok")
        if not 0.0 <= duration < np.inf:
            return self._flag("simulation_failed")
        if self._leaving is None:
            self._take_transitions(u)
        start, options, leaving = self._belief, self.model.options, self._leaving or ()
        t = start.time + duration
        path = follow(self.model.system, start.mode, start.time, start.mean, u, t, options, leaving)
        carried = self._carried(path, u, saltation)
        Sigma = carried.Sigma + self.model.process[path.mode].over(t - path.time)
        status = _status(carried) if path.ok else "simulation_failed"
        self._keep(t, path.mode, path.state, Sigma, len(path.events), status)
        if leaving:
            self._take_transitions(u)
        return self._belief

    @_QUIET
    def correct(self, u: Array, y: Array) -> Belief:
        """Lines 13-20 of Algorithm 1, (4.9)-(4.11) and (4.17), (4.18): with a measurement y (p,).

        The status is "rejected" where y has not as many numbers as the mode's measurement, and
        "not_finite" where it has no gain; the prediction then stands.
        """
        self._innovation, (t, mode, mean, Sigma, *_) = None, self._belief
        measurement, y = self.model.measurements[mode], np.asarray(y, dtype=np.float64)
        expected = np.asarray(measurement.function(t, mean, u))
        if y.shape != expected.shape:
            return self._flag("rejected")
        manifold = self.model.manifolds.get(mode)
        C = tangent_map(measurement.state(t, mean, u), mean, manifold, expected, None)
        found = correction(Sigma, C, measurement.V, y - expected)
        if found is None:
            return self._flag("not_finite")
        Sigma = transported(manifold, mean, found.step, found.Sigma)
        if self._keep(t, mode, moved(manifold, mean, found.step), Sigma, 0, "ok"):
            self._innovation = found.innovation
            self._take_transitions(u)
        return self._belief

    @_QUIET
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
        self._take_transitions(u, transition)
        return self._belief

    def _take_transitions(self, u: Array, first: Transition | None = None) -> None:
        """Lines 16-20 of Algorithm 1, and what the mean is in and on its way out of."""
        system, options = self.model.system, self.model.options
        t, mode, mean = self._belief[:3]
        events = transitions_at(system, mode, t, mean, u, options, first)
        if events:
            path = Path(events[-1].transition.target, t, events[-1].state_after, events, True)
            carried = self._carried(path, u, saltation_inside)
            self._keep(t, path.mode, path.state, carried.Sigma, len(events), _status(carried))
        t, mode, mean = self._belief[:3]
        self._leaving = being_left(system, mode, t, mean, u, options)

    def _carried(self, path: Path, u: Array, jump_map: JumpMap) -> Carried:
        t, mode, mean, Sigma = self._belief[:4]
        return carry(self.model, mode, t, mean, Sigma, u, path, self.sensitivity, jump_map)

    def _keep(
        self, t: float, mode: int, mean: Array, Sigma: Array, transitions: int, status: Status
    ) -> bool:
        """Believe what is finite; what is not, only the time of."""
        last = self._belief
        mean = put_back(self.model.manifolds.get(mode), mean)
        if not (np.isfinite(mean).all() and np.isfinite(Sigma).all()):
            self._belief = last._replace(time=t, status="not_finite")
            return False
        status = last.status if status == "ok" else status
        Sigma = 0.5 * Sigma + 0.5 * Sigma.T
        self._belief = Belief(t, mode, mean, Sigma, last.transitions + transitions, status)
        return True

    def _flag(self, status: Status) -> Belief:
        self._belief = self._belief._replace(status=status)
        return self._belief


def _status(carried: Carried) -> Status:
    return "ok" if carried.transverse else "not_transverse"


def _check(model: FilterModel, mode: int, mean: Array, Sigma: Array, sensitivity: str) -> None:
    if sensitivity not in ("saltation", "reset"):
        raise ValueError(f'sensitivity {sensitivity!r} is neither "saltation" nor "reset"')
    if mode not in model.system.modes:
        raise ValueError(f"there is no mode {mode}; the system has {sorted(model.system.modes)}")
    n, k = model.system.modes[mode].state_dim, model.tangent_dim(mode)
    for what, given, shape in (("mean", mean, (n,)), ("Sigma", Sigma, (k, k))):
        if given.shape != shape:
            raise ValueError(f"{what} of mode {mode} has shape {given.shape}; give {shape}")
        if not np.isfinite(given).all():
            raise ValueError(f"{what} of mode {mode} is not finite: give numbers")
