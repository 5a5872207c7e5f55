"""Python functions as machine code of a given signature, kept on disc where that is safe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numba import float64, types

from saltation.arrays import Shape
from saltation.systems import Array

VECTOR = types.Array(float64, 1, "C")
MATRIX = types.Array(float64, 2, "C")
# Machine code of this process: to read it from disc again takes milliseconds. The values of global
# names are kept with it, so that their ids stay theirs.
_LOADED: dict[tuple, tuple[Any, list[Any]]] = {}


def native(make: Callable, python: Callable, signature: Any) -> Any:
    """Compiled by ``make``, numba's njit or cfunc, and kept beside its file where it has one.

    Raises what numba raises.
    """
    python = _with_own_name(python)
    data = [python.__globals__.get(name) for name in python.__code__.co_names]
    key = (make, signature, python.__module__, python.__qualname__, *map(id, data))
    if key not in _LOADED:
        try:
            compiled = make(signature, cache=True, error_model="numpy")(python)
        except RuntimeError:  # no file: typed in at a prompt
            compiled = make(signature, error_model="numpy")(python)
        _LOADED[key] = compiled, data
    return _LOADED[key][0]


def _with_own_name(python: Callable) -> Callable:
    """A copy whose name holds a digest of its code, of what it closes over, and of globals.

    All of these go into machine code, which numba finds again, and links, by the function's name
    and line: two functions of one factory, or on one line, would be taken for each other.
    """
    if not isinstance(python, FunctionType):
        return python
    digest = sha256(_identity((python, *global_values([python]))).encode()).hexdigest()[:16]
    copy = FunctionType(
        python.__code__, python.__globals__, python.__name__, python.__defaults__,
        python.__closure__,
    )  # fmt: skip
    copy.__qualname__, copy.__module__ = f"{python.__qualname__}_{digest}", python.__module__
    return copy


def _identity(value: Any) -> str:
    """Text that tells a function, its constants, or what it closes over from another."""
    value = getattr(value, "py_func", value)
    if isinstance(value, FunctionType):
        cells = tuple(cell.cell_contents for cell in value.__closure__ or ())
        parts = value.__code__, cells, value.__defaults__ or ()
        return f"{value.__module__}.{value.__qualname__}{_identity(parts)}"
    if isinstance(value, CodeType):
        return f"{value.co_code.hex()}{value.co_names}{_identity(value.co_consts)}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_identity, value))})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tobytes().hex()}"
    return f"{type(value)}{value!r}"


def check_shape(function: Callable, arguments: Sequence[Any], shape: Shape, name: str) -> None:
    """Refuse a function of another shape: kernels do not look at the ends of arrays.

    Raises:
        ValueError: with its name.
    """
    try:
        found = np.shape(function(*(np.copy(a) if np.ndim(a) else a for a in arguments)))
    except ArithmeticError:  # undefined just there
        return
    if found != shape:
        raise ValueError(f"{name} gives shape {found}, not {shape}")


def example(size: int) -> Array:
    """Some numbers (size,) to call a function with."""
    return np.linspace(0.1, 0.2, size)


def global_values(functions: Sequence[Callable]) -> list[Any]:
    """Numbers and arrays that functions read from their modules, or from where they are defined.

    Those of the compiled functions that they call are among them, in a fixed order.
    """
    values = [value for _, names in _reached(functions) for value in names]
    return [np.copy(v) if isinstance(v, np.ndarray) else v for v in values if _is_data(v)]


def recompile(functions: Sequence[Callable]) -> None:
    """Compile functions of numba, and those that they call, with the globals of now."""
    for compiled, _ in reversed(list(_reached(functions))):
        if hasattr(compiled, "recompile"):
            compiled.recompile()


def _is_data(value: Any) -> bool:
    """Whether a value goes into machine code that reads it."""
    if isinstance(value, tuple):
        return all(map(_is_data, value))
    return isinstance(value, int | float | complex | np.ndarray)


def _reached(functions: Sequence[Callable]) -> Iterator[tuple[Any, list[Any]]]:
    """Functions, and compiled ones that they call, with the values of the names that each reads."""
    pending: list[Any] = list(functions)
    known = set()
    while pending:
        python = compiled = pending.pop()
        while inner := getattr(python, "py_func", None) or getattr(python, "function", None):
            compiled, python = python, inner  # compiled, or with parameters
        if id(python) in known or not hasattr(python, "__code__"):
            continue
        known.add(id(python))
        names = [python.__globals__.get(name) for name in python.__code__.co_names]
        names += [cell.cell_contents for cell in python.__closure__ or ()]
        pending += [value for value in names if hasattr(value, "py_func")]
        yield compiled, names


def same_values(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether two lists of ``global_values`` are equal; NaN equals NaN."""
    return len(first) == len(second) and all(
        np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second, strict=True)
    )
