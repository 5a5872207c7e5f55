"""Tables of functions under construction: compiled ones, and numbers of callbacks.

Tables are padded to powers of two, which keeps the number of kernel variants small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numba import float64, njit, types

from saltation.compiled.native import MATRIX, VECTOR, native
from saltation.compiled.tables import ABSENT, COMPILED
from saltation.parameters import Binding, ByInput

SCALAR_FUNCTION = float64(float64, VECTOR, VECTOR)
VECTOR_FUNCTION = VECTOR(float64, VECTOR, VECTOR)
MATRIX_FUNCTION = MATRIX(float64, VECTOR, VECTOR)
MAP_FUNCTION = VECTOR(float64, VECTOR, VECTOR, float64)  # FlowMap.state
SOLUTION = types.UniTuple(MATRIX, 2)(float64, VECTOR, VECTOR, float64)  # FlowMap.jacobians


class FunctionTable:
    """A table of functions under construction: compiled ones, and numbers of callbacks."""

    def __init__(self, filler: Callable) -> None:
        self.signature, self.filler = FILLERS[filler], filler
        self.entries: list[Any] = []
        self.slots: list[int] = []

    def add(self, function: Callable, native_code: bool, slot: Callable[[], int]) -> str:
        """Add a function, compiled or as the callback that ``slot`` gives; why not compiled."""
        reason = ""
        if native_code:
            try:
                self.entries.append(_function(function, self.signature))
                self.slots.append(COMPILED)
                return ""
            except Exception as error:  # numba has no one error for what it cannot do
                reason = f"does not compile: {' '.join(str(error).split())[:300]}"
        self.entries.append(self.filler)
        self.slots.append(slot())
        return reason

    def skip(self) -> None:
        """Leave a place for a function that there is none of."""
        self.entries.append(self.filler)
        self.slots.append(ABSENT)

    @property
    def functions(self) -> tuple[Any, ...]:
        """The functions, padded."""
        return _padded(self.entries, self.filler)


def vector_table(functions: Sequence[Callable]) -> tuple[Any, ...]:
    """Functions (t, x, u) -> array compiled in a table of their own; raises what numba raises."""
    compiled = [_function(function, VECTOR_FUNCTION) for function in functions]
    return _padded(compiled, _compiled(unchanged))


def _padded(entries: Sequence[Any], filler: Callable) -> tuple[Any, ...]:
    """Functions of one signature, padded to 4, 8, 16, ... with another that has it too."""
    return tuple(entries) + (filler,) * (padded(len(entries)) - len(entries))


def padded(count: int) -> int:
    """Length of a table of so many functions."""
    return max(4, 1 << (count - 1).bit_length())


def _function(function: Callable, signature: Any) -> Any:
    """Compiled with this very signature, which makes it a value that tuples can hold."""
    if isinstance(function, Binding | ByInput):
        closure = _closed_over(function, len(signature.args) == 4)
        return njit(signature, error_model="numpy")(closure)
    python = getattr(function, "py_func", function)
    try:
        return native(njit, python, signature)
    except Exception:  # perhaps it returns a constant array, a view, or whole numbers
        return njit(signature, error_model="numpy")(
            _converted(
                njit(python, error_model="numpy"), signature.return_type, len(signature.args) == 4
            )
        )


def _closed_over(function: Binding | ByInput, step: bool) -> Callable:
    """A function with parameters, as one of (t, x, u) or (t, x, u, h) that numba compiles."""
    inner = njit(getattr(function.function, "py_func", function.function), error_model="numpy")
    if isinstance(function, Binding):
        p = function.parameters
        if step:
            return lambda t, x, u, h: inner(t, x, u, h, p)
        return lambda t, x, u: inner(t, x, u, p)
    m = function.inputs
    if not function.takes_p:
        if step:
            return lambda t, x, v, h: inner(t, x, v[:m], h)
        return lambda t, x, v: inner(t, x, v[:m])
    if step:
        return lambda t, x, v, h: inner(t, x, v[:m], h, v[m:])
    return lambda t, x, v: inner(t, x, v[:m], v[m:])


def _converted(function: Callable, kind: Any, step: bool) -> Callable:
    """The function with its result copied into a new array, or made a float."""
    if kind == float64:
        return lambda t, x, u: float(function(t, x, u))

    @njit(error_model="numpy")
    def copied(value):
        result = np.empty(value.shape)
        result[:] = value
        return result

    if step:
        return lambda t, x, u, h: copied(function(t, x, u, h))
    return lambda t, x, u: copied(function(t, x, u))


def never(t, x, u):
    """A guard that is never met."""
    return 1.0


def unchanged(t, x, u):
    """The state as it is."""
    return x.copy()


def zero_matrix(t, x, u):
    """Zeros (n, n)."""
    return np.zeros((len(x), len(x)))


def still(t, x, u, h):
    """The state after any time."""
    return x.copy()


def identity(t, x, u, h):
    """Derivatives of ``still``."""
    return np.eye(len(x)), np.zeros((len(x), len(u)))


FILLERS = {
    never: SCALAR_FUNCTION, unchanged: VECTOR_FUNCTION, zero_matrix: MATRIX_FUNCTION,
    still: MAP_FUNCTION, identity: SOLUTION,
}  # fmt: skip


@cache
def _compiled(filler: Callable) -> Any:
    """A filler as compiled kernels take it."""
    return njit(FILLERS[filler], cache=True, error_model="numpy")(filler)


def with_compiled_fillers(tables: Any) -> Any:
    """Tables, a named tuple, as compiled kernels take them."""
    made = {
        name: tuple(_compiled(each) if each in FILLERS else each for each in functions)
        for name, functions in tables._asdict().items()
        if isinstance(functions, tuple) and callable(functions[0])
    }
    return tables._replace(**made)
