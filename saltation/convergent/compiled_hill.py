"""A hill's derivatives as machine code: a first-class function, so kernels are compiled once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from numba import cfunc, float64, types

from saltation.compiled.native import native
from saltation.convergent.hill import Hill

DERIVATIVES = types.UniTuple(float64, 6)(float64, float64)  # (x, y) -> those of HillDerivatives


@lru_cache(maxsize=64)
def compiled_hill(hill: Hill) -> Any:
    """``hill.derivatives`` for kernels.

    Raises:
        ValueError: numba does not know what it does.
    """
    try:
        return native(cfunc, hill.derivatives, DERIVATIVES)
    except Exception as error:  # numba has no one error for what it cannot do
        reason = " ".join(str(error).split())[:200]
        said = f"hill {hill.name}: derivatives do not compile ({reason})"
        remedy = "write numpy's functions and + - * / **, and call no function of your own"
        raise ValueError(f"{said}: {remedy}") from error
