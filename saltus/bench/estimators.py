"""Errors of a filter against the truth, and whether they are as large as its covariance says.

Normalised error squared: e^T P^-1 e of the velocity in base axes. For a filter that is right about
itself it is chi-square distributed with 3 degrees of freedom at every tick, and 3 on average
(Bar-Shalom, Li, Kirubarajan, "Estimation with Applications to Tracking and Navigation", 5.4).

Errors of ticks that follow each other are nearly equal, so that n ticks hold much less evidence
than n independent ones. The band of the average is therefore that of as many independent samples
as the ticks are worth: n over the integrated autocorrelation time.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping, Sequence
from time import perf_counter, thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from estimator.interface import Estimator
from runtime.checked import Array
from saltus.bench.catalogue import BenchResult
from saltus.bench.streams import Recording, Stream, read_recording, record_missing, streams
from saltus.common.console import RunProgress
from saltus.common.timing import US, quantiles
from saltus.configuration.planners import ESTIMATORS
from saltus.launch import assembly
from saltus.metrics.run import squared_errors

Mask = NDArray[np.bool_]

IN_THE_AIR = 20  # ticks off the ground that make a contact a touchdown: a foot that lands bounces
AFTER_TOUCHDOWN = 50  # ticks

FREEDOM = 3
LEVELS = (0.025, 0.975)
INSIDE = tuple(float(bound) for bound in chi2.ppf(LEVELS, FREEDOM))
"""The 95 % band of one normalised error squared: 0.216 to 9.348."""


class Run(NamedTuple):
    """A filter over one recording of n ticks.

    Attributes:
        velocity: (n, 3) error of the linear velocity in base axes [m/s].
        tilt: (n,) angle between the two ideas of which way is up [rad].
        height: (n,) error [m].
        touchdown: (n,) within 50 ms of a true touchdown.
        nees: (n,) normalised error squared of the velocity.
        seconds: (n,) length of each update [s], by the clock.
        cpu_seconds: (n,) the same without the time that other processes had the core.
        drift: by how much the error of the horizontal position changed over the run [m].
        height_drift: by how much that of the height did [m].
        distance: horizontal length of the true path [m].
        resets: readings that the filter could not use, and re-initialisations.
    """

    velocity: Array
    tilt: Array
    height: Array
    touchdown: Mask
    nees: Array
    seconds: Array
    cpu_seconds: Array
    drift: float
    height_drift: float
    distance: float
    resets: int


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


def normalised(errors: Array, covariances: Array) -> Array:
    """e^T P^-1 e (n,) of errors (n, 3) with covariances (n, 3, 3); inf where P is no covariance."""
    finite = np.isfinite(covariances).all(axis=(1, 2), keepdims=True)
    smallest = np.linalg.eigvalsh(np.where(finite, covariances, 0.0))[:, 0]
    sound = smallest > 0.0
    squared = np.full(len(errors), np.inf)
    e = errors[sound]
    squared[sound] = (e * np.linalg.solve(covariances[sound], e[..., None])[..., 0]).sum(axis=1)
    return squared


def consistency(runs: Sequence[Array]) -> dict[str, Any]:
    """Figures of the normalised errors squared of a stream's runs, (n,) each.

    `nees_mean`: 3 is right, more says that the filter is too sure of itself. `nees_inside_percent`:
    of the ticks, within the 95 % band of one; 95 is right. `independent_samples`: so many are the
    ticks worth. `consistent`: the mean lies within the 95 % band for that many samples.
    """
    every = np.concatenate(runs)
    samples = len(every) / max(correlation_time(runs), 1.0)
    mean = float(every.mean())
    low, high = chi2.ppf(LEVELS, FREEDOM * samples) / samples
    inside = (every >= INSIDE[0]) & (every <= INSIDE[1])
    return {
        "nees_mean": mean, "nees_inside_percent": 100.0 * float(inside.mean()),
        "independent_samples": samples, "consistent": bool(low <= mean <= high),
    }  # fmt: skip


def correlation_time(runs: Sequence[Array]) -> float:
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


Row = Mapping[str, Any]

OURS, LEGS = "salted", "leg_odometry"
WALKING = ("walk", "trot")
OVERALL, TOUCHDOWN = "velocity_rmse_m_s", "velocity_rmse_after_touchdown_m_s"

# Heading of a column for people: the row's key, and factor and digits of the number.
COLUMNS = {
    "mm/s": (OVERALL, 1e3, 1), "land": (TOUCHDOWN, 1e3, 1), "mrad": ("tilt_rmse_rad", 1e3, 1),
    "mm": ("height_rmse_m", 1e3, 1), "drift": ("drift_percent", 1.0, 1),
    "up": ("height_drift_percent", 1.0, 2), "p99": ("update_us_p99", 1.0, 0),
    "cpu": ("update_cpu_us_p99", 1.0, 0), "NEES": ("nees_mean", 1.0, 1),
    "in": ("nees_inside_percent", 1.0, 0),
}  # fmt: skip
LEGEND = """\
mm/s: error of the velocity in base axes, RMS; land: within 50 ms after touchdowns; mrad: of the
tilt; mm: of the height; drift, up: change of the errors of position and height over a run, % of the
distance walked; p99: of an update by the clock [us]; cpu: the same without what other processes
took; NEES: 3 where errors are as large as the covariance says; in: % of the ticks in its 95 % band;
unknown: the filter has no ground"""


def run(
    *settings: str, chosen: Sequence[Stream] = (), filters: Sequence[str] = tuple(ESTIMATORS)
) -> BenchResult:
    """Measure every filter on every stream under these settings, or on those chosen.

    What is not recorded yet is recorded first, which takes minutes.

    Raises:
        BadRequest: recordings cannot be kept, or one is damaged.
    """
    chosen = chosen or streams(*settings)
    record_missing(chosen)
    chosen = [each for each in chosen if all(path.is_file() for path in each.paths)]
    rows: list[dict[str, Any]] = []
    facts: list[str] = []
    with RunProgress(len(chosen) * len(filters), "measured") as progress:
        for stream in chosen:
            recordings = [read_recording(path) for path in stream.paths]
            if fell := sum(bool(one.fell[0]) for one in recordings):
                facts.append(f"{stream.name}: falls: {fell} of {len(recordings)} runs")
            for name in filters:
                progress.show(len(rows), f"{stream.name}, {name}")
                estimator = assembly.make_estimator(stream.launch_of(name))
                figures = measure(estimator, recordings)
                rows.append({"stream": stream.name, "filter": name, **figures})
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    table = [
        {"": f"{row['stream']}, {row['filter']}".replace("_", " ")} | {
            heading: "" if row[key] is None else f"{factor * row[key]:.{digits}f}"
            for heading, (key, factor, digits) in COLUMNS.items()
        }
        for row in rows
    ]  # fmt: skip
    return BenchResult(rows, error_ratio(rows), "\n".join([*facts, LEGEND, machine]), table)


def replay(estimator: Estimator, recording: Recording) -> Run:
    """Start `estimator` anew where the run begins and give it every reading.

    Timed is `update` alone, on a message that is there already, as in the estimator's process: the
    covariance is asked for outside.
    """
    q, v = recording.q, recording.v
    estimator.reset(q[0, :2])
    before, n = estimator.divergences, len(q)
    q_hat, v_hat, covariance = np.empty((n, 19)), np.empty((n, 18)), np.empty((n, 3, 3))
    seconds, cpu_seconds = np.empty(n), np.empty(n)
    gc.collect()
    gc.freeze()  # the collector ignores what exists now, as in the filter's process
    for k, reading in enumerate(recording.messages()):
        cpu_begin, begin = thread_time(), perf_counter()
        estimate = estimator.update(reading)
        seconds[k] = perf_counter() - begin
        cpu_seconds[k] = thread_time() - cpu_begin
        q_hat[k], v_hat[k], covariance[k] = estimate.q, estimate.v, estimator.velocity_covariance
    gc.unfreeze()
    velocity, offset = v_hat[:, :3] - v[:, :3], q_hat[:, :3] - q[:, :3]
    change = offset[-1] - offset[0]
    return Run(
        velocity=velocity,
        tilt=np.sqrt([squared_errors(*each)[2] for each in zip(q, v, q_hat, v_hat, strict=True)]),
        height=offset[:, 2],
        touchdown=after_touchdown(recording.contact),
        nees=normalised(velocity, covariance),
        seconds=seconds, cpu_seconds=cpu_seconds,
        drift=float(np.linalg.norm(change[:2])),
        height_drift=float(abs(change[2])),
        distance=float(np.linalg.norm(np.diff(q[:, :2], axis=0), axis=1).sum()),
        resets=estimator.divergences - before,
    )  # fmt: skip


def measure(estimator: Estimator, recordings: Sequence[Recording]) -> dict[str, Any]:
    """Figures of a filter over the recordings of a stream, each from a new start."""
    runs = [replay(estimator, recording) for recording in recordings]
    columns: Any = (
        np.concatenate(column) if isinstance(column[0], np.ndarray) else sum(column)
        for column in zip(*runs, strict=True)
    )
    every = Run(*columns)
    percent = 100.0 / every.distance if every.distance else None
    return {
        OVERALL: rms(every.velocity),
        TOUCHDOWN: rms(every.velocity[every.touchdown]),
        "tilt_rmse_rad": rms(every.tilt),
        "height_rmse_m": rms(every.height),
        "drift_percent": percent and percent * every.drift,
        "height_drift_percent": percent and percent * every.height_drift,
        **quantiles(every.seconds, US, update_us_p50=50.0, update_us_p99=99.0),
        **quantiles(every.cpu_seconds, US, update_cpu_us_p99=99.0),
        **consistency([run.nees for run in runs]),
        "resets": every.resets,
    }


def error_ratio(rows: Sequence[Row]) -> float | None:
    """The salted filter's error over leg odometry's, the larger of walk's and trot's.

    None where one of the filters or streams is not among the rows.
    """
    errors = {(row["stream"], row["filter"]): row[OVERALL] for row in rows}
    try:
        return max(errors[name, OURS] / errors[name, LEGS] for name in WALKING)
    except KeyError:
        return None
