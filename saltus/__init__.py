"""Saltus: the application on top. It wires planner, tracker, estimator and robot, and runs them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saltus.recording.run import Run

# Before anything imports numpy: the matrices here are small, and BLAS threads only fight the
# planner's own rollout threads for the cores.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Before numba compiles anything, here and in processes started from here: where that is kept.
_LOCATORS = (
    "saltus.common.compiled_code.SourcesLocator", "InTreeCacheLocator", "UserWideCacheLocator",
    "IPythonCacheLocator",
)  # fmt: skip
os.environ.setdefault("NUMBA_CACHE_LOCATOR_CLASSES", ",".join(_LOCATORS))
if "numba" in sys.modules:  # it has read its variables
    sys.modules["numba"].config.reload_config()

__version__ = "0.1.0"


def open_run(path: str | os.PathLike[str]) -> Run:
    """Open a recorded run: ``open_run("runs/x")["ground_truth"].velocity_base`` is an array.

    Args:
        path: of a run folder that ``saltus launch --record`` has left, or of its ``run.mcap``.

    Raises:
        saltus.common.errors.BadRequest: there is no recording, or it is none of Saltus's.
    """
    from saltus.recording.run import Run  # `import saltus` loads nothing

    return Run(path)
