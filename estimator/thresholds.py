"""What the functions that several filters share read from a filter's own parameters."""

from __future__ import annotations

from typing import Any

Thresholds = Any
"""A filter's parameters as a named tuple: numba compiles a function anew for each filter's, and the
fields that a function reads are those that its docstring names."""
