"""Errors of a filter against the truth, and whether they are as large as its covariance says.

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

from robots.legs import slip_speeds
from robots.robot import load_robot
from saltus.metrics.run import squared_errors

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

IN_THE_AIR = 20  # ticks off the ground that make a contact a touchdown: a foot that lands bounces
AFTER_TOUCHDOWN = 50  # ticks
SLIPPING = 0.05  # speed of a contact point along the ground that counts as slipping [m/s]

FREEDOM = 3
LEVELS = (0.025, 0.975)
INSIDE = tuple(float(bound) for bound in chi2.ppf(LEVELS, FREEDOM))
"""The 95 % band of one normalised error squared: 0.216 to 9.348."""


class Errors(NamedTuple):
    """Errors at the n ticks of a run.

    Attributes:
        velocity: (n, 3) of the linear velocity in base axes [m/s].
        tilt: (n,) angle between the two ideas of which way is up [rad].
        height: (n,) [m].
        touchdown: (n,) within 50 ms of a true touchdown.
        drift: by how much the error of the horizontal position changed over the run [m].
        height_drift: by how much that of the height did [m].
        distance: horizontal length of the true path [m].
    """

    velocity: Array
    tilt: Array
    height: Array
    touchdown: Mask
    drift: float
    height_drift: float
    distance: float


def errors_of(q: Array, v: Array, contact: Mask, q_hat: Array, v_hat: Array) -> Errors:
    """Compare estimates with truths, q (n, 19) and v (n, 18), contact (n, 4)."""
    pairs = zip(q, v, q_hat, v_hat, strict=True)
    squared = np.array([squared_errors(*pair) for pair in pairs])
    offset = q_hat[:, :3] - q[:, :3]
    change = offset[-1] - offset[0]
    return Errors(
        velocity=v_hat[:, :3] - v[:, :3],
        tilt=np.sqrt(squared[:, 2]),
        height=offset[:, 2],
        touchdown=after_touchdown(contact),
        drift=float(np.linalg.norm(change[:2])),
        height_drift=float(abs(change[2])),
        distance=float(np.linalg.norm(np.diff(q[:, :2], axis=0), axis=1).sum()),
    )


def joined(runs: list[Errors]) -> Errors:
    """The runs of a stream as one: ticks one after another, drifts and distances added up."""
    columns = list(zip(*runs, strict=True))
    velocity, tilt, height, touchdown = map(np.concatenate, columns[:4])
    drift, height_drift, distance = (float(sum(column)) for column in columns[4:])
    return Errors(velocity, tilt, height, touchdown, drift, height_drift, distance)


def after_touchdown(contact: Mask) -> Mask:
    """The ticks (n,) of the 50 ms that begin when any foot of `contact` (n, 4) touches down.

    A touchdown is a contact after 20 ms or more in the air.
    """
    after = np.zeros(len(contact), dtype=bool)
    for foot in contact.T:
        for k in np.flatnonzero(foot[1:] & ~foot[:-1]) + 1:
            if k >= IN_THE_AIR and not foot[k - IN_THE_AIR : k].any():
                after[k : k + AFTER_TOUCHDOWN] = True
    return after


def rms(values: Array) -> float | None:
    """Root mean square of numbers (n,) or of the lengths of vectors (n, 3); None without any."""
    if not len(values):
        return None
    squares = values * values if values.ndim == 1 else (values * values).sum(axis=1)
    return float(np.sqrt(squares.mean()))


def slipping_share(q: Array, v: Array, contact: Mask, every: int = 5) -> float:
    """Share of the feet's true contact time in which the contact point slides, of every 5th tick.

    q (n, 19), v (n, 18), contact (n, 4); NaN where no foot ever touches the ground.
    """
    speeds = [
        slip_speeds(load_robot("a1").legs, *state)
        for state in zip(q[::every], v[::every], strict=True)
    ]
    touching = np.array(speeds)[contact[::every]]
    return float((touching > SLIPPING).mean()) if touching.size else float("nan")


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
