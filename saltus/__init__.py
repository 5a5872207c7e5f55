"""Saltus: the application on top. It wires planner, tracker, estimator and robot, and runs them.

In Python (docs/tutorials/python.md): `load_launch` reads a launch file, `LockStep` runs it tick by
tick in this process, `open_run` opens a recorded run. `import saltus` loads none of them.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saltus.configuration.launch import load_launch as load_launch
    from saltus.launch.lock_step import LockStep as LockStep
    from saltus.recording.run import Run as open_run  # noqa: F401

# Before anything imports numpy: the matrices here are small, and BLAS threads only fight the
# planner's own rollout threads for the cores.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
# Kernels of BLAS that every x86-64 with AVX2 has. They differ in the last digits, which decide
# whether a motion is found and how a hard push ends: the same results on all such machines.
try:
    with open("/proc/cpuinfo") as _file:
        if {"avx2", "fma"} <= set(_file.read(8192).split()):
            os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
except OSError:
    pass

# Before numba compiles anything, here and in processes started from here: where that is kept.
_LOCATORS = (
    "saltus.common.compiled_code.SourcesLocator", "InTreeCacheLocator", "UserWideCacheLocator",
    "IPythonCacheLocator",
)  # fmt: skip
os.environ.setdefault("NUMBA_CACHE_LOCATOR_CLASSES", ",".join(_LOCATORS))
if "numba" in sys.modules:  # it has read its variables
    sys.modules["numba"].config.reload_config()

__version__ = "0.1.0"


_HOMES = {
    "load_launch": ("saltus.configuration.launch", "load_launch"),
    "LockStep": ("saltus.launch.lock_step", "LockStep"),
    "open_run": ("saltus.recording.run", "Run"),
}


def __getattr__(name: str) -> Any:
    """Load a name of the docstring at its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
