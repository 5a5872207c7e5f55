"""Work in threads, of kernels that let other threads run beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def in_threads(work: Callable[[Any], None], parts: Sequence[Any], empty: Any) -> None:
    """Do each part of some work in a thread of its own; an ``empty`` one compiles it before."""
    if len(parts) == 1:
        return work(parts[0])
    work(empty)
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(work, parts))
