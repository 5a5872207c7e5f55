"""Trials shared out among threads, whose kernels let go of the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from hybrid.filters.tables import ModelTables


def by_trial(work: Callable[[slice], None], count: int, threads: int, model: ModelTables) -> None:
    """Do ``work`` on slices that cover ``count`` trials; it must not matter who does which.

    On one thread where functions are in Python. What they raise is left out: it shows as NaN.
    """
    threads = max(1, min(threads, count)) if model.in_threads else 1
    work(slice(0, 0 if threads > 1 else count))  # compiles once, before the threads start
    if threads > 1:
        bounds = [count * i // threads for i in range(threads + 1)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, [slice(i, j) for i, j in pairwise(bounds)]))
    model.errors()
