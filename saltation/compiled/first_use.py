"""First calls run kernels as Python: that takes milliseconds, and to compile them half a minute.

Kernels are written in what Python and numba both run, with the same operations in the same order,
so both give the same numbers (the implicit method to rounding: its matrices are inverted by
different libraries). A process runs them as Python until they have called functions of
systems ``PATIENCE`` times, and compiled from then on. Where a computer has not compiled them yet,
another process does so meanwhile, and numba keeps the result.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from types import FunctionType
from typing import Any, Literal

import numpy as np
from numba.core.dispatcher import Dispatcher

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOG = logging.getLogger("saltation")
PATIENCE = 50_000  # calls of functions, which take a second with the kernels around them
CALLS_LEAST = 100  # what a kernel counts as, where functions are compiled and nobody counts them
_COMPILE = "import sys; sys.path[:] = {}; from saltation import compile_kernels as c; c(*{})"
Part = Literal["simulation", "filter"]
Sizes = tuple[Part, int, int]  # whose kernels, and for how many modes and transitions at most

calls = 0  # of systems' functions, by Python
_forced = False
_twins: dict[Callable, Callable] = {}  # kernels as Python
_compilers: dict[Sizes, tuple[int, subprocess.Popen | None]] = {}  # with the process's parent
_twins_change = RLock()
_compiled: set[tuple[Any, Sizes]] = set()  # kernels that this process uses compiled


@contextmanager
def compiling() -> Iterator[None]:
    """Compile all kernels that are called within, and go on with them."""
    global _forced
    _forced = True
    try:
        yield
    finally:
        _forced = False


def uses_python(kernel: Any, sizes: Sizes) -> bool:
    """Whether to run a kernel as Python, for tables of some sizes."""
    if (kernel, sizes) in _compiled:
        return False
    if not _forced:
        if calls < PATIENCE:
            return True
        if not _is_kept(kernel, sizes):
            if sizes not in _compilers:
                try:
                    _compilers[sizes] = os.getpid(), _start_compiler(sizes)
                except BlockingIOError:  # the compiler of another process is at work
                    return True
            owner, compiler = _compilers[sizes]
            if owner != os.getpid() or (compiler is not None and compiler.poll() is None):
                return True  # a forked process cannot ask for its parent's compiler
    _compiled.add((kernel, sizes))  # one that could not be kept is compiled here
    return False


def _start_compiler(sizes: Sizes) -> subprocess.Popen | None:
    """A process that compiles, which goes on after Ctrl-C; None where none can be started.

    It holds a lock until it ends, so that of many processes one starts it.

    Raises:
        BlockingIOError: another process's compiler has the lock.
    """
    compiler, user = None, getattr(os, "getuid", int)()
    name = f"saltation-{user}-{'-'.join(map(str, sizes))}.lock"
    try:
        with open(os.path.join(tempfile.gettempdir(), name), "w") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            compiler = subprocess.Popen(
                [sys.executable, "-P", "-c", _COMPILE.format(list(map(str, sys.path)), sizes)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True, pass_fds=() if fcntl is None else (lock.fileno(),),
            )  # fmt: skip
    except BlockingIOError:
        raise
    except (OSError, TypeError, ValueError):
        pass
    LOG.warning(
        "saltation compiles the kernels of a %s, once on this computer: half a minute%s", sizes[0],
        "" if compiler is None else ", in the background; until then they are slower",
    )  # fmt: skip
    return compiler


def call(
    kernel: Any, sizes: Sizes, python: Any, compiled: Callable[[], Any], *arguments: Any
) -> Any:  # fmt: skip
    """Result of a kernel, of tables as Python or as compiled kernels take them."""
    global calls
    if not uses_python(kernel, sizes):
        return kernel(compiled(), *arguments)
    calls += CALLS_LEAST
    with np.errstate(all="ignore"):
        numbers = (np.float64(each) if type(each) is float else each for each in arguments)
        return as_python(kernel)(python, *numbers)


def as_python(kernel: Callable) -> Callable:
    """A kernel as a function of Python, which calls the kernels below it as Python too."""
    with _twins_change:  # another thread must not see one whose names are not replaced yet
        return _twins.get(kernel) or _as_python(kernel)


def _as_python(kernel: Callable) -> Callable:
    python = getattr(kernel, "py_func", kernel)
    names = dict(python.__globals__)
    twin = FunctionType(python.__code__, names, python.__name__, python.__defaults__)
    _twins[kernel] = twin
    for name in python.__code__.co_names:
        value = names.get(name)
        ours = isinstance(value, FunctionType) and value.__module__.startswith("saltation.")
        if isinstance(value, Dispatcher) or ours:
            names[name] = as_python(value)
    return twin


def _is_kept(kernel: Any, sizes: Sizes) -> bool:
    """Whether numba keeps the kernel's machine code, for tables of these sizes."""
    try:
        kept = kernel._cache._cache_file._load_index()  # numba has no other way to ask
    except (AttributeError, OSError):
        return False
    return any(_sizes(signature[0]) == sizes[1:] for signature, *_ in kept)


def _sizes(tables: Any) -> tuple[int, int] | None:
    """Sizes of tables by their numba type."""
    fields = getattr(tables, "field_dict", {})
    system = fields["system"].field_dict if "system" in fields else fields
    return (len(system["flows"]), len(system["guards"])) if "flows" in system else None
