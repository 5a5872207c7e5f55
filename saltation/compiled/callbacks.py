"""Python functions that kernels call: by one C function, with arguments in shared arrays.

A first-class function of numba with the arguments (number, t) costs about 1 us a call, half of what
numba's object mode costs. Kernels write the state and the input to arrays before the call, and
read a vector's value from another array after it.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import float64, int64, types

from saltation.arrays import Shape
from saltation.compiled import first_use
from saltation.systems import Array

SIGNATURE = float64(int64, float64)
_CALL = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_double)


class DimensionError(ValueError):
    """A user's function returned another shape than its mode or transition needs."""


class Callbacks(types.WrapperAddressProtocol):
    """Functions by number, called from kernels. They never raise there: see ``errors``.

    A function that raises ``ArithmeticError`` gives NaN. After any other error the function gives
    NaN and the error is kept, to be raised when the kernel has returned.
    """

    def __init__(self, size: int, inputs: int) -> None:
        """Room for states and values of up to ``size`` numbers, and inputs (m,)."""
        self.x, self.out = np.zeros(size + 1), np.zeros(max(size, 1))  # x's last: length of a step
        self.u = np.zeros(inputs)
        self.errors: list[BaseException] = []
        self._u = self.u[:]
        self._u.flags.writeable = False
        self._entries: list[Callable[[float], float]] = []
        self._address = _CALL(self._evaluate)

    def __wrapper_address__(self) -> int | None:
        """Address of the C function, as numba asks for it."""
        return ctypes.cast(self._address, ctypes.c_void_p).value

    def signature(self) -> Any:
        """Numba's signature of the C function."""
        return SIGNATURE

    def __call__(self, number: int, t: float) -> float:
        """Call a function for a kernel; one as Python divides by zero as a compiled one does."""
        first_use.calls += 1
        return np.float64(self._evaluate(number, t))

    def add(self, function: Callable, n: int, shape: Shape, name: str, step: bool = False) -> int:
        """Number of a function (t, x (n,), u), or (t, x, u, h) with ``step``, of a given shape."""
        x, u, out, h = self.x[:n], self._u, self.out, self.x[-1:]

        def scalar(t: float) -> float:
            return float(function(t, x.copy(), u))

        def array(t: float) -> float:
            value = function(t, x.copy(), u, float(h[0])) if step else function(t, x.copy(), u)
            if np.shape(value) != shape:
                raise DimensionError(f"{name} has shape {np.shape(value)}; give {shape}")
            out[: math.prod(shape)] = value if len(shape) == 1 else np.ravel(value)
            return 0.0

        self._entries.append(array if shape else scalar)
        return len(self._entries) - 1

    def raise_errors(self) -> None:
        """Raise the first error that a function has raised since the last call, if any."""
        if self.errors:
            error = self.errors[0]
            self.errors.clear()
            raise error

    def wrong_dimension(self) -> str:
        """Message of a function of the wrong dimension; raises what any other one raised."""
        if not (self.errors and isinstance(self.errors[0], DimensionError)):
            self.raise_errors()
            return ""
        text = str(self.errors[0])
        self.errors.clear()
        return text

    def _evaluate(self, number: int, t: float) -> float:
        try:
            return self._entries[number](t)
        except ArithmeticError:
            pass
        except BaseException as error:
            self.errors.append(error)
        self.out.fill(np.nan)
        return np.nan


def call_shape(function: Callable, arguments: tuple[Array | float, ...]) -> Shape | None:
    """Shape of a function's value at some arguments; None where it raises there."""
    python = getattr(function, "py_func", function)
    try:
        return np.shape(python(*(np.copy(a) if np.ndim(a) else a for a in arguments)))
    except Exception:  # it may be undefined there; where it is called in earnest it is said
        return None
