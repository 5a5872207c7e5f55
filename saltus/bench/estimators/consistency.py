"""Whether a filter's errors are as large as its covariance says.

Normalised error squared: e^T P^-1 e of the velocity in base axes. For a filter that is right about
itself it is chi-square distributed with 3 degrees of freedom at every tick, and 3 on average
(Bar-Shalom, Li, Kirubarajan, "Estimation with Applications to Tracking and Navigation", 5.4).

Errors of ticks that follow each other are nearly equal, so that n ticks hold much less evidence
than n independent ones. The band of the average is therefore that of as many independent samples
as the ticks are worth: n over the integrated autocorrelation time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

Array = NDArray[np.float64]

FREEDOM = 3
LEVELS = (0.025, 0.975)
INSIDE = tuple(float(bound) for bound in chi2.ppf(LEVELS, FREEDOM))
"""The 95 % band of one normalised error squared: 0.216 to 9.348."""


class Consistency(NamedTuple):
    """How the normalised errors squared of a stream are spread.

    Attributes:
        mean: their average; 3 is right, more says that the filter is too sure of itself.
        inside: share of ticks within the 95 % band of one tick; 0.95 is right.
        samples: how many independent samples the ticks are worth.
        consistent: the average lies within the 95 % band for that many samples.
    """

    mean: float
    inside: float
    samples: float
    consistent: bool


def normalised(errors: Array, covariances: Array) -> Array:
    """e^T P^-1 e (n,) of errors (n, 3) with covariances (n, 3, 3); inf where P is no covariance."""
    finite = np.isfinite(covariances).all(axis=(1, 2), keepdims=True)
    smallest = np.linalg.eigvalsh(np.where(finite, covariances, 0.0))[:, 0]
    sound = smallest > 0.0
    squared = np.full(len(errors), np.inf)
    e = errors[sound]
    squared[sound] = (e * np.linalg.solve(covariances[sound], e[..., None])[..., 0]).sum(axis=1)
    return squared


def consistency(runs: list[Array]) -> Consistency:
    """Judge the normalised errors squared of a stream's runs, (n,) each."""
    every = np.concatenate(runs)
    samples = len(every) / max(correlation_time(runs), 1.0)
    mean = float(every.mean())
    low, high = chi2.ppf(LEVELS, FREEDOM * samples) / samples
    inside = (every >= INSIDE[0]) & (every <= INSIDE[1])
    return Consistency(mean, float(inside.mean()), samples, bool(low <= mean <= high))


def correlation_time(runs: list[Array]) -> float:
    """Integrated autocorrelation time [ticks] of runs (n,), 1 + 2 sum of rho_k, 1 for white noise.

    The sum goes up to the first k at which rho is not positive: beyond it there is noise alone.
    """
    mean, most = np.concatenate(runs).mean(), max(map(len, runs))
    if not np.isfinite(mean):
        return float(most)
    total = np.zeros(most)
    for run in runs:
        spectrum = np.abs(np.fft.rfft(run - mean, 2 * most)) ** 2
        total += np.fft.irfft(spectrum)[:most]
    if not total[0] > 0.0:
        return float(most)  # all equal: one sample a run
    rho = total / total[0]
    negative = np.flatnonzero(rho <= 0.0)
    end = negative[0] if len(negative) else most
    return float(1.0 + 2.0 * rho[1:end].sum())
