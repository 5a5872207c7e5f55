"""``saltus bench estimators``: the same recorded sensor readings through every filter.

Each filter starts anew in every run of a stream and is compared with the truth at every tick.
`consistent` says that the average normalised error squared lies in its 95 % band, which `errors`
computes for errors that follow each other.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimator.interface import Estimator
from saltus.bench.catalogue import BenchResult
from saltus.bench.errors import consistency, errors_of, joined, normalised, rms, slipping_share
from saltus.bench.streams import Recording, Stream, read_recording, record_missing, streams
from saltus.bench.timing import US, quantiles
from saltus.common.criterion import Criterion
from saltus.common.figures import figure
from saltus.common.progress import RunProgress
from saltus.configuration.estimators import ESTIMATORS
from saltus.launch import assembly

Array = NDArray[np.float64]
Row = Mapping[str, Any]

OURS, LEGS, INVARIANT = "salted", "leg_odometry", "invariant"
WALKING = ("walk", "trot")
OVERALL, TOUCHDOWN = "velocity_rmse_m_s", "velocity_rmse_after_touchdown_m_s"
AT_MOST = {OVERALL: 0.8, TOUCHDOWN: 0.6}  # of leg odometry's error, on walk and trot
EQUAL = 0.01  # relative difference of two errors below which neither filter is better
BETTER_ON = 3  # streams
UPDATE_US = 500.0  # that keep 1 kHz with room for the rest

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


def run(chosen: Sequence[Stream] = (), filters: Sequence[str] = tuple(ESTIMATORS)) -> BenchResult:
    """Measure every filter on every stream, or on those chosen.

    What is not recorded yet is recorded first, which takes minutes.

    Raises:
        BadRequest: recordings cannot be kept, or one is damaged.
    """
    chosen = chosen or streams()
    record_missing(chosen)
    rows: list[dict[str, Any]] = []
    facts: list[str] = []
    with RunProgress(len(chosen) * len(filters), "measured") as progress:
        for stream in chosen:
            recordings = [read_recording(path) for path in stream.paths]
            if stream.ground_known:
                slip = np.mean([slipping_share(one.q, one.v, one.contact) for one in recordings])
                fell = sum(bool(one.fell[0]) for one in recordings)
                facts.append(f"{stream.name}: feet slip in {100.0 * slip:.1f} % of their contact "
                             f"time; falls: {fell} of {len(recordings)} runs")  # fmt: skip
            for name in filters:
                progress.show(len(rows), f"{stream.name}, {name}")
                estimator = assembly.make_estimator(stream.launch_of(name))
                figures = measure(estimator, recordings)
                rows.append({"stream": stream.name, "filter": name, **figures})
    machine = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    return BenchResult(
        rows, error_ratio(rows), "\n".join([*facts, LEGEND, machine]),
        {"velocity-error": _draw(rows)}, [_line(row) for row in rows], criteria=criteria(rows),
    )  # fmt: skip


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


def measure(estimator: Estimator, recordings: Sequence[Recording]) -> dict[str, Any]:
    """Figures of a filter over the recordings of a stream, each from a new start."""
    tracks = [replay(estimator, recording) for recording in recordings]
    runs = [errors_of(one.q, one.v, one.contact, track.q, track.v)
            for one, track in zip(recordings, tracks, strict=True)]  # fmt: skip
    errors = joined(runs)
    spread = consistency([normalised(run.velocity, track.covariance)
                          for run, track in zip(runs, tracks, strict=True)])  # fmt: skip
    seconds = np.concatenate([track.seconds for track in tracks])
    cpu_seconds = np.concatenate([track.cpu_seconds for track in tracks])
    percent = 100.0 / errors.distance if errors.distance else None
    return {
        OVERALL: rms(errors.velocity),
        TOUCHDOWN: rms(errors.velocity[errors.touchdown]),
        "tilt_rmse_rad": rms(errors.tilt),
        "height_rmse_m": rms(errors.height),
        "drift_percent": percent and percent * errors.drift,
        "height_drift_percent": percent and percent * errors.height_drift,
        **quantiles(seconds, US, update_us_p50=50.0, update_us_p99=99.0),
        **quantiles(cpu_seconds, US, update_cpu_us_p99=99.0),
        "nees_mean": spread.mean,
        "nees_inside_percent": 100.0 * spread.inside,
        "independent_samples": spread.samples,
        "consistent": spread.consistent,
        "resets": sum(track.resets for track in tracks),
    }


def error_ratio(rows: Sequence[Row], key: str = OVERALL) -> float | None:
    """The salted filter's error over leg odometry's, the larger of walk's and trot's.

    None where one of the filters or streams is not among the rows.
    """
    ratios = _ratios(rows, key, LEGS)
    return max(ratios[name] for name in WALKING) if ratios.keys() >= set(WALKING) else None


def criteria(rows: Sequence[Row]) -> list[Criterion]:
    """The criteria for which the rows have figures."""
    bounds = [
        Criterion(f"{key}, salted over leg odometry, walk or trot", ratio, "<=", most)
        for key, most in AT_MOST.items() if (ratio := error_ratio(rows, key)) is not None
    ]  # fmt: skip
    ours = [row for row in rows if row["filter"] == OURS]
    flat = [row for row in ours if row["stream"] in WALKING]
    if flat:
        outside = [row["stream"] for row in flat if not row["consistent"]]
        bounds.append(_count("of walk and trot, NEES of the salted filter outside its band",
                             outside, "<=", 0))  # fmt: skip
    if ours:
        what = "99th percentile of an update, the largest of the streams' [us]"
        bounds.append(Criterion(what, max(row["update_us_p99"] for row in ours), "<", UPDATE_US))
    if ratios := _ratios(rows, OVERALL, INVARIANT):
        margin = f"by more than {100 * EQUAL:g} % than with the invariant filter"
        worse = [stream for stream, ratio in ratios.items() if ratio > 1.0 + EQUAL]
        better = [stream for stream, ratio in ratios.items() if ratio < 1.0 - EQUAL]
        bounds += [
            _count(f"streams with a larger error {margin}", worse, "<=", 0),
            _count(f"streams with a smaller error {margin}", better, ">=", BETTER_ON),
        ]
    return bounds


def _count(what: str, streams: Sequence[str], op: str, bound: float) -> Criterion:
    return Criterion(f"{what} ({', '.join(streams) or 'none'})", len(streams), op, bound)


def _ratios(rows: Sequence[Row], key: str, other: str) -> dict[str, float]:
    """Stream -> the salted filter's figure over another's."""
    figures = {(row["stream"], row["filter"]): row[key] for row in rows}
    names = dict.fromkeys(row["stream"] for row in rows)
    pairs = {name: (figures.get((name, OURS)), figures.get((name, other))) for name in names}
    return {name: ours / theirs for name, (ours, theirs) in pairs.items() if ours and theirs}


def _line(row: Row) -> dict[str, Any]:
    """A row for people."""
    return {"": f"{row['stream']}, {row['filter']}".replace("_", " ")} | {
        heading: "" if row[key] is None else f"{factor * row[key]:.{digits}f}"
        for heading, (key, factor, digits) in COLUMNS.items()
    }


def _draw(rows: Sequence[Row]) -> Any:
    """Velocity errors, a group of bars for each stream; logarithmic, for pushes are far larger."""
    streams = list(dict.fromkeys(row["stream"] for row in rows))
    filters = list(dict.fromkeys(row["filter"] for row in rows))
    drawing, axes = figure(1, 2, width=7.2, height=5.0, sharex=True)
    width = 0.8 / len(filters)
    titles = ("whole run", "50 ms after touchdowns")
    for axis, key, title in zip(axes, AT_MOST, titles, strict=True):
        for i, name in enumerate(filters):
            heights = [1e3 * (row[key] or np.nan) for row in rows if row["filter"] == name]
            axis.bar(np.arange(len(streams)) + i * width, heights, width, label=name)
        axis.set(yscale="log", ylabel="velocity error, RMS [mm/s]")
        axis.set_title(title, loc="left")
    axes[-1].set_xticks(range(len(streams)), streams, rotation=45, ha="right")
    axes[0].legend(frameon=False, fontsize=8)
    return drawing
