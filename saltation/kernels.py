"""Decorators of kernels: compiled by numba and kept on disc, with numpy's divisions by zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

njit: Any = numba.njit  # what it gives is called as the function is
Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """The function, compiled when it is first called."""
    return njit(cache=True, error_model="numpy")(function)


def unlocked_kernel(function: Function) -> Function:
    """The same, for threads: other Python code runs beside it."""
    return njit(cache=True, error_model="numpy", nogil=True)(function)


def inlined_kernel(function: Function) -> Function:
    """The same, put in place of every call."""
    return njit(inline="always", error_model="numpy")(function)
