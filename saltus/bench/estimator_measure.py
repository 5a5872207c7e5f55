"""A filter's row for one stream: errors, consistency and time of every update."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from estimator.interface import Estimator
from saltus.bench.estimator_consistency import consistency, normalised
from saltus.bench.estimator_errors import Errors, errors_of, joined, rms
from saltus.bench.estimator_recording import Recording
from saltus.bench.estimator_track import Track, follow


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


def measure(
    stream: str, filter: str, estimator: Estimator, recordings: list[Recording]
) -> Measured:
    """Run a filter over the recordings of a stream, each from a new start."""
    tracks = [follow(estimator, recording) for recording in recordings]
    pairs = list(zip(recordings, tracks, strict=True))
    runs = [errors_of(one.q, one.v, one.contact, track.q, track.v) for one, track in pairs]
    row = {
        "stream": stream,
        "filter": filter,
        **_error_columns(joined(runs)),
        **_time_columns(tracks),
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
        "drift_percent": 100.0 * errors.drift / errors.distance if errors.distance else None,
    }


def _time_columns(tracks: list[Track]) -> dict[str, float]:
    seconds = np.concatenate([track.seconds for track in tracks])
    cpu_seconds = np.concatenate([track.cpu_seconds for track in tracks])
    return {
        "update_us_p50": float(1e6 * np.percentile(seconds, 50.0)),
        "update_us_p99": float(1e6 * np.percentile(seconds, 99.0)),
        "update_cpu_us_p99": float(1e6 * np.percentile(cpu_seconds, 99.0)),
    }


def _consistency_columns(runs: list[Errors], tracks: list[Track]) -> dict[str, float | bool]:
    pairs = zip(runs, tracks, strict=True)
    found = consistency([normalised(run.velocity, track.covariance) for run, track in pairs])
    return {
        "nees_mean": found.mean,
        "nees_inside_percent": 100.0 * found.inside,
        "independent_samples": found.samples,
        "consistent": found.consistent,
    }
