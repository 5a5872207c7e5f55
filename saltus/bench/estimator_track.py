"""One filter over one recorded run: what it said, and how long each update took."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimator.interface import Estimator
from saltus.bench.estimator_recording import Recording

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


def follow(estimator: Estimator, recording: Recording) -> Track:
    """Start `estimator` anew where the run begins and give it every reading.

    Timed is `update` alone, on a message that is there already, as in the estimator's process: the
    covariance is asked for outside.
    """
    estimator.reset(recording.q[0, :2])
    before, n = estimator.divergences, len(recording.readings)
    q, v, covariance = np.empty((n, 19)), np.empty((n, 18)), np.empty((n, 3, 3))
    seconds, cpu_seconds = np.empty(n), np.empty(n)
    with as_in_the_node():
        for k, reading in enumerate(recording.messages()):
            cpu_begin, begin = thread_time(), perf_counter()
            estimate = estimator.update(reading)
            seconds[k] = perf_counter() - begin
            cpu_seconds[k] = thread_time() - cpu_begin
            q[k], v[k], covariance[k] = estimate.q, estimate.v, estimator.velocity_covariance
    return Track(q, v, covariance, seconds, cpu_seconds, estimator.divergences - before)


@contextmanager
def as_in_the_node() -> Iterator[None]:
    """The garbage collector runs, but leaves alone what exists now (`runtime.realtime`)."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
