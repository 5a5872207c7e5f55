"""What `saltus bench rollouts` makes of its times: against what was asked, and CPU against GPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.state import Array
from saltus.bench.rollout_engines import warp_cpu_name
from saltus.bench.rollout_times import Measured

ASKED_ADDED_MS = 1.0  # median, of the remote backend over loopback [ms]
GPU_BATCH, ASKED_GPU_MS = 1024, 50.0  # candidates, and the longest their line search may take [ms]


def note(measured: Sequence[Measured], absent: Sequence[str]) -> str:
    """Verdicts and what was not measured, for people."""
    parts = [*_remote(measured), *_gpus(measured)]
    if absent:
        parts.append("not measured: " + "; ".join(absent))
    parts.append("the 99th percentile of few samples, as of large batches, is their longest")
    return "; ".join(parts)


def _remote(measured: Sequence[Measured]) -> list[str]:
    """What the remote backend adds to the planner's own line search."""
    extra, size = added_at_least(measured)
    if extra is None:
        return []
    middle = float(np.median(extra))
    return [
        f"remote over loopback adds {middle:.2f} ms in the median of {len(extra)} pairs of {size} "
        f"candidates (asked: below {ASKED_ADDED_MS:g} ms: {_met(middle < ASKED_ADDED_MS)})"
    ]


def _gpus(measured: Sequence[Measured]) -> list[str]:
    """Each GPU against the CPU's MuJoCo, and against what was asked."""
    cpu, gpus = _curve(measured, "mujoco", None), _gpu_names(measured)
    if not gpus:
        return ["no CUDA device here: the rows of a GPU are unrun"]
    said = []
    for gpu in gpus:
        curve = _curve(measured, "warp", gpu)
        if GPU_BATCH in curve:
            ms = curve[GPU_BATCH]
            verdict = _met(ms < ASKED_GPU_MS)
            said.append(
                f"{gpu}: {GPU_BATCH} candidates in {ms:.1f} ms "
                f"(asked: below {ASKED_GPU_MS:g} ms: {verdict})"
            )
        where = crossing(cpu, curve)
        said.append(
            f"{gpu}: the CPU is faster throughout" if where is None
            else f"{gpu}: faster than the CPU from {where:.0f} candidates"
        )  # fmt: skip
    return said


def added(measured: Sequence[Measured], size: int) -> Array | None:
    """The remote backend's time less the local one's, pair by pair (n,) [ms]; None without both."""
    of = {one.backend: one.samples for one in measured if one.candidates == size}
    if "mujoco" not in of or "remote" not in of:
        return None
    return of["remote"] - of["mujoco"]


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


def _met(met: bool) -> str:
    return "met" if met else "not met"
