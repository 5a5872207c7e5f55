"""Saltus: the application on top. It wires planner, tracker, estimator and robot, and runs them."""

import os
import sys

# Before anything imports numpy: the matrices here are small, and BLAS threads only fight the
# planner's own rollout threads for the cores.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Before numba compiles anything, here and in processes started from here: where that is kept.
_LOCATORS = "saltus.kernel_cache.SourcesLocator", "InTreeCacheLocator", "UserWideCacheLocator"
os.environ.setdefault("NUMBA_CACHE_LOCATOR_CLASSES", ",".join((*_LOCATORS, "IPythonCacheLocator")))
if "numba" in sys.modules:  # it has read its variables
    sys.modules["numba"].config.reload_config()

__version__ = "0.1.0"
