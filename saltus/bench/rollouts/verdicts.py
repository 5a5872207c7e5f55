"""What the times of `saltus bench rollouts` show: against the bounds, and CPU against GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robots.state import Array
from saltus.bench.contest import MS
from saltus.bench.rollouts.engines import warp_cpu_name
from saltus.studies.engine import Criterion

ADDED_BOUND_MS = 1.0  # median, of the remote backend over loopback [ms]
GPU_BATCH, GPU_BOUND_MS = 1024, 50.0  # candidates, and the longest their line search may take [ms]


class Measured(NamedTuple):
    """Times of one backend and one batch size.

    Attributes:
        seconds: (n,) [s]; those of the same index in a group were taken one after the other.
    """

    backend: str
    device: str
    candidates: int
    seconds: Array

    def quantile(self, percent: float) -> float:
        """A percentile of the times [ms]."""
        return MS * float(np.percentile(self.seconds, percent))


def criteria(measured: Sequence[Measured]) -> list[Criterion]:
    """What the remote backend adds to the planner's line search, and a GPU's large batch."""
    extra, size = added_at_least(measured)
    remote = [] if extra is None else [Criterion(
        f"what remote over loopback adds to {size} candidates, median of {len(extra)} pairs [ms]",
        float(np.median(extra)), "<", ADDED_BOUND_MS,
    )]  # fmt: skip
    curves = {gpu: _curve(measured, "warp", gpu) for gpu in _gpu_names(measured)}
    return remote + [
        Criterion(f"{gpu}: {GPU_BATCH} candidates [ms]", curve[GPU_BATCH], "<", GPU_BOUND_MS)
        for gpu, curve in curves.items() if GPU_BATCH in curve
    ]  # fmt: skip


def note(measured: Sequence[Measured], absent: Sequence[str]) -> str:
    """Each GPU against the CPU's MuJoCo, and what was not measured, for people."""
    cpu, gpus = _curve(measured, "mujoco", None), _gpu_names(measured)
    parts = [] if gpus else ["no CUDA device here: the rows of a GPU are unrun"]
    for gpu in gpus:
        size = crossing(cpu, _curve(measured, "warp", gpu))
        parts.append(
            f"{gpu}: the CPU is faster throughout" if size is None
            else f"{gpu}: faster than the CPU from {size:.0f} candidates"
        )  # fmt: skip
    if absent:
        parts.append("not measured: " + "; ".join(absent))
    parts.append("the 99th percentile of few samples, as of large batches, is their longest")
    return "; ".join(parts)


def added(measured: Sequence[Measured], size: int) -> Array | None:
    """The remote backend's time less the local one's, pair by pair (n,) [ms]; None without both."""
    seconds = {one.backend: one.seconds for one in measured if one.candidates == size}
    if "mujoco" not in seconds or "remote" not in seconds:
        return None
    return MS * (seconds["remote"] - seconds["mujoco"])


def added_at_least(measured: Sequence[Measured]) -> tuple[Array | None, int]:
    """`added` to the smallest batch that the remote backend took, and its size."""
    size = min((one.candidates for one in measured if one.backend == "remote"), default=0)
    return added(measured, size), size


def crossing(slow: dict[int, float], fast: dict[int, float]) -> float | None:
    """Candidates from which on the second curve of times lies below the first.

    Between two sizes both are taken for power laws. The smallest size in common where it lies below
    throughout; None where it does not at the largest.
    """
    sizes = sorted(set(slow) & set(fast))
    gap = [float(np.log(fast[size] / slow[size])) for size in sizes]
    if not sizes or gap[-1] >= 0.0:
        return None
    above = [i for i, each in enumerate(gap) if each >= 0.0]
    if not above:
        return float(sizes[0])
    i = above[-1]
    share = gap[i] / (gap[i] - gap[i + 1])
    return float(sizes[i] * (sizes[i + 1] / sizes[i]) ** share)


def _curve(measured: Sequence[Measured], backend: str, device: str | None) -> dict[int, float]:
    """Median time of each batch size [ms]."""
    return {
        one.candidates: one.quantile(50.0)
        for one in measured
        if one.backend == backend and device in (None, one.device)
    }


def _gpu_names(measured: Sequence[Measured]) -> list[str]:
    """Warp's devices that are not the CPU."""
    warp = dict.fromkeys(one.device for one in measured if one.backend == "warp")
    return [name for name in warp if name != warp_cpu_name()]
