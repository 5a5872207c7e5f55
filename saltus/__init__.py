"""Saltus: the application on top. It wires planner, tracker, estimator and robot, and runs them."""

import os

# Before anything imports numpy: the matrices here are small, and BLAS threads only fight the
# planner's own rollout threads for the cores.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

__version__ = "0.1.0"
