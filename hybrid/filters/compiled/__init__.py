"""Kalman filters on hybrid systems, compiled and for many trials at once."""

from hybrid.filters.compiled.estimates import (
    Estimates,
    common,
    estimate_trials,
    squared_errors,
)
from hybrid.filters.compiled.truths import Truths, simulate_truths

__all__ = [
    "Estimates",
    "Truths",
    "common",
    "estimate_trials",
    "simulate_truths",
    "squared_errors",
]
