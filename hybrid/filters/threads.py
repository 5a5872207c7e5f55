"""Trials shared out among threads, whose kernels let go of the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from hybrid.compiled.system import quiet


def by_trial(work: Callable[[slice], None], count: int, threads: int) -> None:
    """Do ``work`` on slices that cover ``count`` trials; it must not matter who does which."""
    threads = max(1, min(threads, count))
    with quiet():
        if threads == 1:
            return work(slice(None))
        work(slice(0, 0))  # compiles once, before the threads start
        bounds = [count * i // threads for i in range(threads + 1)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, [slice(i, j) for i, j in pairwise(bounds)]))
