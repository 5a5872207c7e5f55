"""Tables of functions under construction: compiled ones, and numbers of callbacks.

Tables are padded to powers of two, which keeps the number of kernel variants small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import float64, njit, types

from saltation.arrays import Integers, Shape
from saltation.compiled.callbacks import Callbacks, call_shape
from saltation.compiled.native import MATRIX, VECTOR, example, native
from saltation.compiled.tables import ABSENT, COMPILED
from saltation.mode import Derivative
from saltation.parameters import Binding, ByInput

SCALAR_FUNCTION = float64(float64, VECTOR, VECTOR)
VECTOR_FUNCTION = VECTOR(float64, VECTOR, VECTOR)
MATRIX_FUNCTION = MATRIX(float64, VECTOR, VECTOR)
MAP_FUNCTION = VECTOR(float64, VECTOR, VECTOR, float64)  # FlowMap.state
SOLUTION = types.UniTuple(MATRIX, 2)(float64, VECTOR, VECTOR, float64)  # FlowMap.jacobians


class Entry(NamedTuple):
    """A function (t, x (n,), u), or (t, x, u, h), of a system; None: there is none."""

    function: Callable | None
    n: int
    shape: Shape  # of its values
    name: str
    of_step: Callable | None = None  # a function (t, x, u, h) as a callback


class TableBuilder:
    """Tables of functions under construction: compiled ones, and callbacks in Python."""

    def __init__(self, native_code: bool, size: int, inputs: int) -> None:
        """Room for callbacks with states and values of ``size`` numbers, and inputs (m,)."""
        self._native = native_code
        self.calls, self.reasons = Callbacks(size, inputs), list[str]()

    def table(self, filler: Callable, entries: Iterable[Entry]) -> FunctionTable:
        """A table of functions of the filler's signature.

        Derivatives that were not given are left to the kernels where functions are compiled.
        """
        functions, slots = list[Any](), list[int]()
        for function, n, shape, name, of_step in entries:
            functions.append(filler)
            slots.append(ABSENT)
            if function is None or (self._native and isinstance(function, Derivative)):
                continue
            if self._native:
                found = call_shape(function, (0.0, example(n), example(len(self.calls.u))))
                reason = f"has shape {found}; give {shape}"
                if found in (shape, None):  # kernels do not look at the ends of arrays
                    try:
                        functions[-1], slots[-1] = _function(function, FILLERS[filler]), COMPILED
                        continue
                    except Exception as error:  # numba has no one error for what it cannot do
                        reason = f"does not compile: {' '.join(str(error).split())[:300]}"
                self.reasons.append(f"{name} {reason}")
            step = of_step is not None
            slots[-1] = self.calls.add(of_step or function, n, shape, name, step)
        return FunctionTable(_padded(functions, filler), slots)


class FunctionTable(NamedTuple):
    """Functions, padded, and the slot of each: COMPILED, ABSENT, or the number of a callback."""

    functions: tuple[Any, ...]
    slots: list[int]


def slot_rows(rows: Sequence[Sequence[int]]) -> Integers:
    """Slots of several tables, padded, as one array."""
    slots = np.full((len(rows), max(1, *map(len, rows))), ABSENT, np.int64)
    for row, values in zip(slots, rows, strict=True):
        row[: len(values)] = values
    return slots


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
