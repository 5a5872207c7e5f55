"""One filter over the recorded runs of a stream: its estimates, and its row."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimator.interface import Estimator
from saltus.bench.contest import US, quantiles
from saltus.bench.estimators.consistency import consistency, normalised
from saltus.bench.estimators.errors import Errors, errors_of, joined, rms
from saltus.bench.estimators.recording import Recording

Array = NDArray[np.float64]


class Track(NamedTuple):
    """Estimates at the n ticks of a run.

    Attributes:
        q: (n, 19) configuration.
        v: (n, 18) velocity.
        covariance: (n, 3, 3) of the linear velocity in base axes [m2/s2].
        seconds: (n,) length of each update [s], by the clock.
        cpu_seconds: (n,) the same without the time that other processes had the core.
        resets: readings that the filter could not use, and re-initialisations.
    """

    q: Array
    v: Array
    covariance: Array
    seconds: Array
    cpu_seconds: Array
    resets: int


class Measured(NamedTuple):
    """What one filter did with the runs of one stream.

    Attributes:
        stream, filter: names.
        runs: the errors of each run.
        row: what the benchmark prints.
    """

    stream: str
    filter: str
    runs: list[Errors]
    row: dict[str, Any]


def replay(estimator: Estimator, recording: Recording) -> Track:
    """Start `estimator` anew where the run begins and give it every reading.

    Timed is `update` alone, on a message that is there already, as in the estimator's process: the
    covariance is asked for outside.
    """
    estimator.reset(recording.q[0, :2])
    before, n = estimator.divergences, len(recording.readings)
    q, v, covariance = np.empty((n, 19)), np.empty((n, 18)), np.empty((n, 3, 3))
    seconds, cpu_seconds = np.empty(n), np.empty(n)
    with frozen_heap():
        for k, reading in enumerate(recording.messages()):
            cpu_begin, begin = thread_time(), perf_counter()
            estimate = estimator.update(reading)
            seconds[k] = perf_counter() - begin
            cpu_seconds[k] = thread_time() - cpu_begin
            q[k], v[k], covariance[k] = estimate.q, estimate.v, estimator.velocity_covariance
    return Track(q, v, covariance, seconds, cpu_seconds, estimator.divergences - before)


@contextmanager
def frozen_heap() -> Iterator[None]:
    """The garbage collector runs, but ignores what exists now, as in the filter's process."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def measure(
    stream: str, filter: str, estimator: Estimator, recordings: list[Recording]
) -> Measured:
    """Run a filter over the recordings of a stream, each from a new start."""
    tracks = [replay(estimator, recording) for recording in recordings]
    pairs = list(zip(recordings, tracks, strict=True))
    runs = [errors_of(one.q, one.v, one.contact, track.q, track.v) for one, track in pairs]
    seconds = np.concatenate([track.seconds for track in tracks])
    cpu_seconds = np.concatenate([track.cpu_seconds for track in tracks])
    row = {
        "stream": stream,
        "filter": filter,
        **_error_columns(joined(runs)),
        **quantiles(seconds, US, update_us_p50=50.0, update_us_p99=99.0),
        **quantiles(cpu_seconds, US, update_cpu_us_p99=99.0),
        **_consistency_columns(runs, tracks),
        "resets": sum(track.resets for track in tracks),
    }
    return Measured(stream, filter, runs, row)


def _error_columns(errors: Errors) -> dict[str, float | None]:
    return {
        "velocity_rmse_m_s": rms(errors.velocity),
        "velocity_rmse_after_touchdown_m_s": rms(errors.velocity[errors.touchdown]),
        "tilt_rmse_rad": rms(errors.tilt),
        "height_rmse_m": rms(errors.height),
        "drift_percent": _percent(errors.drift, errors.distance),
        "height_drift_percent": _percent(errors.height_drift, errors.distance),
    }


def _percent(part: float, whole: float) -> float | None:
    return 100.0 * part / whole if whole else None


def _consistency_columns(runs: list[Errors], tracks: list[Track]) -> dict[str, float | bool]:
    pairs = zip(runs, tracks, strict=True)
    spread = consistency([normalised(run.velocity, track.covariance) for run, track in pairs])
    return {
        "nees_mean": spread.mean,
        "nees_inside_percent": 100.0 * spread.inside,
        "independent_samples": spread.samples,
        "consistent": spread.consistent,
    }
