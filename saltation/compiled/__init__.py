"""Kernels of hybrid systems, compiled once for all systems, and systems in tables for them."""

import warnings

from numba import NumbaExperimentalFeatureWarning

# Tuples of first-class functions are experimental to numba; tests compare kernels with Python.
warnings.filterwarnings("ignore", category=NumbaExperimentalFeatureWarning)
