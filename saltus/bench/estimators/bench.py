"""``saltus bench estimators``: the same recorded sensor readings through every filter.

Each filter starts anew in every run of a stream and is compared with the truth at every tick.
`consistent` says that the average normalised error squared lies in its 95 % band, which
`consistency` computes for errors that follow each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saltus.bench.estimators.criteria import criteria, error_ratio
from saltus.bench.estimators.errors import slipping_share
from saltus.bench.estimators.figures import draw
from saltus.bench.estimators.recording import Recording, read_recording
from saltus.bench.estimators.replay import Measured, measure
from saltus.bench.estimators.streams import Stream, record_missing, streams
from saltus.bench.estimators.table import legend, table
from saltus.bench.result import BenchResult
from saltus.common.progress import RunProgress
from saltus.configuration.estimators import ESTIMATORS
from saltus.configuration.launch import TICK_S
from saltus.launch import assembly
from sim_bridge.perturbations import BaseVelocity


def run(chosen: Sequence[Stream] = (), filters: Sequence[str] = tuple(ESTIMATORS)) -> BenchResult:
    """Measure every filter on every stream, or on those chosen.

    What is not recorded yet is recorded first, which takes minutes.

    Raises:
        BadRequest: recordings cannot be kept, or one is damaged.
    """
    chosen = chosen or streams()
    record_missing(chosen)
    measured: list[Measured] = []
    facts: list[str] = []
    with RunProgress(len(chosen) * len(filters), "measured") as progress:
        for stream in chosen:
            recordings = [read_recording(path) for path in stream.paths]
            if stream.ground_known:
                facts += _facts(stream, recordings)
            for name in filters:
                progress.show(len(measured), f"{stream.name}, {name}")
                estimator = assembly.make_estimator(stream.launch_of(name))
                measured.append(measure(stream.name, name, estimator, recordings))
    rows = [one.row for one in measured]
    note = "\n".join([*facts, *legend()])
    figures = draw(measured, _pushed_at(chosen))
    return BenchResult(
        rows, error_ratio(rows), note, figures, table(rows), criteria=criteria(rows)
    )


def _facts(stream: Stream, recordings: Sequence[Recording]) -> list[str]:
    """How much the feet slip in a stream, and whether the robot fell."""
    shares = [slipping_share(one.q, one.v, one.contact) for one in recordings]
    fell = sum(bool(one.fell[0]) for one in recordings)
    slip = f"{stream.name}: feet slip in {100.0 * np.mean(shares):.1f} % of their contact time"
    return [slip + (f"; the robot fell in {fell} of {len(recordings)} runs" if fell else "")]


def _pushed_at(chosen: Sequence[Stream]) -> dict[str, list[int]]:
    """The tick of the push in each run of the streams that are pushed."""
    return {
        stream.name: [round(assembly.event_times(one)[0] / TICK_S) for one in stream.runs]
        for stream in chosen
        if all(one.perturbations and isinstance(one.perturbations[0], BaseVelocity)
               for one in stream.runs)
    }  # fmt: skip
