"""Filters of trials of the constant flow: our batch, our filter, and hybrid-tools' SKF.

Each takes measurements (B, K, 2) and returns the estimates after them (B, K, 2).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from hybrid.filters.interface import Belief
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.salted import SaltedKalmanFilter
from hybrid.systems import Array
from saltus.studies.kong.filters.trials import estimate_trials
from saltus.studies.kong.filters.truths import simulate_truths
from saltus.studies.kong.systems.constant_flow import LEFT, constant_flow

TIMESTEP, STEPS = 0.05, 100  # [s], 4.7.1
NOISE = 1.0  # ||V||, 4.7.1
START = Belief(0.0, LEFT, np.array([-2.5, 0.0]), 0.1 * np.eye(2), 0, "ok")  # 3.8.5, 4.7.1
NOTHING = np.zeros(0)


@cache
def model() -> FilterModel:
    """The constant flow with both states measured, and no process noise.

    With process noise hybrid-tools gives another covariance: it adds the noise of the whole
    timestep to the part of it before an event, where (4.16) has that part's own.
    """
    system = constant_flow()
    measured = Measurement(lambda t, x, u: x.copy(), NOISE * np.eye(2), lambda t, x, u: np.eye(2))
    still = ProcessNoise(np.zeros((2, 2)))
    return FilterModel(
        system, dict.fromkeys(system.modes, still), dict.fromkeys(system.modes, measured)
    )


def measurements(count: int, seed: int) -> Array:
    """What is measured in ``count`` trials (count, STEPS, 2)."""
    start = np.random.default_rng(seed).standard_normal((count, 2))
    states = START.mean + np.sqrt(0.1) * start
    return simulate_truths(model(), LEFT, states, TIMESTEP, STEPS, seed).measurements


def compiled_batch(trials: Array) -> Array:
    """``estimate_trials`` on one thread."""
    return estimate_trials(model(), START, trials, TIMESTEP).means[:, 1:]


def interpreted(trials: Array) -> Array:
    """``SaltedKalmanFilter``, trial by trial."""
    estimates = np.empty_like(trials)
    for b, ys in enumerate(trials):
        one = SaltedKalmanFilter(model(), START.mode, START.mean, START.Sigma)
        estimates[b] = [one.step(NOTHING, y, TIMESTEP).mean for y in ys]
    return estimates


class HybridTools:
    """The package's ``SKF``, trial by trial.

    It does not change its mode when a measurement moves the mean across the guard, line 19 of
    Algorithm 1, so that is done for it.
    """

    def __init__(self) -> None:
        """Import it.

        Raises:
            ImportError: it is not installed.
        """
        from hybrid_tools import SKF, HybridDynamicalSystem, ModeNoise
        from hybrid_tools.basic_hybrid_systems import simple_system

        peer = simple_system()
        noise = ModeNoise(np.zeros((2, 2)), NOISE * np.eye(2))
        noises = {"I": noise, "J": noise}
        self._system = HybridDynamicalSystem(peer.dynamics, peer.resets, peer.guards, noises)
        self._filter = SKF

    def __call__(self, trials: Array) -> Array:
        """Estimates after the measurements."""
        return np.array([self._estimates(ys) for ys in trials])

    def _estimates(self, ys: Array) -> Array:
        start = START.mean.copy(), "I", START.Sigma.copy()
        one, u = self._filter(*start, TIMESTEP, NOTHING, self._system), np.zeros(2)
        estimates = np.empty_like(ys)
        for k, y in enumerate(ys):
            one.predict(k * TIMESTEP, u)
            estimates[k] = one.update((k + 1) * TIMESTEP, u, y)[0]
            if estimates[k, 0] >= 0.0:
                one._current_mode = "J"
        return estimates
