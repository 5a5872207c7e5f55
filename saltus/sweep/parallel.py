"""Trials on cores or on a cluster, through any backend of joblib."""

import importlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar, cast

from joblib import Parallel, delayed, parallel_config
from joblib.parallel import get_active_backend

from saltus.common.errors import BadRequest

Item = TypeVar("Item")
Result = TypeVar("Result")

LOCAL = ("loky", "multiprocessing", "threading", "sequential")
# Backends of other packages: what to install, and the function that makes joblib know them.
GUESTS = {
    "dask": ("dask distributed", "distributed", ""),
    "ray": ("ray", "ray.util.joblib", "register_ray"),
    "spark": ("joblibspark", "joblibspark", "register_spark"),
}
SCHEDULER_S = 10.0  # patience with a scheduler's address


def default_jobs(backend: str) -> int:
    """Trials at a time: all cores of this machine, or what a cluster has (-1)."""
    return len(os.sched_getaffinity(0)) if backend in LOCAL else -1


@contextmanager
def backend_ready(backend: str, scheduler: str | None, jobs: int) -> Iterator[None]:
    """Have joblib's loops run on ``backend`` meanwhile.

    Args:
        backend: a name that joblib knows, or one of a package that registers itself with it.
        scheduler: address of Dask's scheduler; None starts one here.
        jobs: processes that a Dask started here has.

    Raises:
        BadRequest: the backend is unknown, its package is missing, or nobody answers.
    """
    if scheduler is not None and backend != "dask":
        raise BadRequest(f"--scheduler is for --cluster dask, not {backend}")
    _register(backend)
    options: dict[str, Any] = {"inner_max_num_threads": 1} if backend == "loky" else {}
    with ExitStack() as stack:
        if backend == "dask":
            with _deaf_to_interrupt():
                _start_dask(stack, scheduler, jobs)
        try:
            stack.enter_context(parallel_config(backend, n_jobs=jobs, **options))
        except (ValueError, ImportError) as error:
            known = ", ".join((*LOCAL, *GUESTS))
            raise BadRequest(f"--cluster {backend!r}: accepted: {known}, or another that joblib "
                             f"knows ({error})") from error  # fmt: skip
        yield


def run_all(work: Callable[[Item], Result], items: list[Item]) -> Iterator[Result]:
    """Results of ``work`` as they come, not in the order of ``items``; inside `backend_ready`."""
    backend, jobs = cast(tuple[Any, int], get_active_backend())
    if len(items) == 1:
        yield work(items[0])  # here, without a worker
        return
    if getattr(backend, "supports_return_generator", False):
        run = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=cast(Any, 1))
        with _deaf_to_interrupt():
            results = cast(Iterator[Result], run(delayed(work)(item) for item in items))
        yield from results
        return
    size = max(1, backend.effective_n_jobs(jobs))  # such a backend hands out whole lists
    for first in range(0, len(items), size):
        batch = items[first : first + size]
        run = Parallel(n_jobs=jobs, batch_size=cast(Any, 1))
        yield from cast(list[Result], run(delayed(work)(item) for item in batch))


@contextmanager
def _deaf_to_interrupt() -> Iterator[None]:
    """Have processes that start meanwhile ignore Ctrl-C, as this one does for that moment.

    A terminal sends it to the workers too, which would each print a traceback. This process alone
    acts on it, and ends them. A mask of signals would not lose it, but the workers' resource
    tracker takes such a mask away.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # the handler can be set in the main thread alone
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _register(backend: str) -> None:
    if backend not in GUESTS:
        return
    packages, module, function = GUESTS[backend]
    try:
        guest = importlib.import_module(module)
    except ImportError as error:
        raise BadRequest(
            f"--cluster {backend}: not installed here; pip install {packages}"
        ) from error
    if function:
        getattr(guest, function)()


def _start_dask(stack: ExitStack, scheduler: str | None, jobs: int) -> None:
    distributed: Any = importlib.import_module("distributed")
    where: Any = scheduler
    if where is None:
        workers = jobs if jobs > 0 else len(os.sched_getaffinity(0))
        where = stack.enter_context(
            distributed.LocalCluster(workers, threads_per_worker=1, dashboard_address=None)
        )
    try:
        stack.enter_context(distributed.Client(where, timeout=SCHEDULER_S))
    except (OSError, ValueError) as error:
        raise BadRequest(f"--scheduler {scheduler}: nobody answers there: {error}") from error
