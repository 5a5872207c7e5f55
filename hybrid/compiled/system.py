"""A hybrid system's functions, compiled to machine code and put in tables.

The tables are tuples of first-class functions, so the kernels that walk them are compiled once
for all systems. Tuples are padded to powers of two to keep the number of kernel variants small.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numba import NumbaExperimentalFeatureWarning, float64, njit, types
from numpy.typing import NDArray

from hybrid.compiled.native import MATRIX, VECTOR, check_shape, example, native
from hybrid.systems import Derivative, FlowMap, Mode, System

SCALAR_FUNCTION = float64(float64, VECTOR, VECTOR)
VECTOR_FUNCTION = VECTOR(float64, VECTOR, VECTOR)
MATRIX_FUNCTION = MATRIX(float64, VECTOR, VECTOR)
SOLUTION = types.UniTuple(MATRIX, 2)(float64, VECTOR, VECTOR, float64)  # FlowMap.jacobians


class CompiledSystem(NamedTuple):
    """A system as kernels see it: modes and transitions by index, in the order they were given."""

    flows: tuple[Callable, ...]  # F(t, x, u) -> (n,), one a mode
    guards: tuple[Callable, ...]  # g(t, x, u) -> number, one a transition
    resets: tuple[Callable, ...]  # R(t, x, u) -> (n_target,)
    source: NDArray[np.int64]  # (transitions,) index of a mode
    target: NDArray[np.int64]  # (transitions,)
    dims: NDArray[np.int64]  # (modes,) n
    disturbance: NDArray[np.float64]  # (largest n,) added to every flow: zero in what is shared


class CompiledDerivatives(NamedTuple):
    """Derivatives of the flows. What was not given is found by differences in the kernels."""

    flows: tuple[Callable, ...]
    flow_states: tuple[Callable, ...]  # D_x F -> (n, n)
    flow_inputs: tuple[Callable, ...]  # D_u F -> (n, m)
    given: NDArray[np.bool_]  # (2,) whether D_x F, and D_u F, were given for every mode


class Compiled(NamedTuple):
    """Result of an attempt to compile: the tables, or why there are none."""

    system: CompiledSystem | None
    derivatives: CompiledDerivatives | None
    reason: str


def compiled(system: System) -> Compiled:
    """Compile a system's functions, once; that they do not compile is a result, not an error.

    Functions compile when numba knows what they do with (float, (n,) array, (m,) array).
    """
    known = getattr(system, "_compiled", None)
    if known is None:
        known = _attempt(system)
        object.__setattr__(system, "_compiled", known)
    return known


@contextmanager
def quiet() -> Iterator[None]:
    """Let numba not call functions in tuples experimental: tests compare results with Python's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
        yield


def vector_table(functions: Sequence[Callable]) -> tuple[Any, ...]:
    """Functions (t, x, u) -> array compiled in a table of their own; raises what numba raises."""
    return _table(functions, VECTOR_FUNCTION, _unchanged)


def matrix_table(functions: Sequence[Callable]) -> tuple[tuple[Any, ...], bool]:
    """Like ``vector_table`` for matrices, and whether all were given; if not, none is used."""
    return _matrices(functions)


def solution_table(maps: Sequence[FlowMap | None]) -> tuple[tuple[Any, ...], bool]:
    """D_x and D_u of closed-form flows, and whether all are there; if not, none is used."""
    try:
        functions = [solution.jacobians for solution in maps if solution is not None]
        whole = len(functions) == len(maps)
        return _table(functions if whole else [_still], SOLUTION, _still), whole
    except Exception:  # they do not compile: the flow is integrated
        return _table([_still], SOLUTION, _still), False


def _attempt(system: System) -> Compiled:
    try:
        return Compiled(*_tables(system), "")
    except Exception as error:  # numba has no one error for what it cannot do
        return Compiled(None, None, " ".join(str(error).split())[:300])


def _tables(system: System) -> tuple[CompiledSystem, CompiledDerivatives]:
    for mode in system.modes.values():
        _check_shapes(mode)
    index = {number: i for i, number in enumerate(system.modes)}
    modes, edges = list(system.modes.values()), system.transitions
    flows = _table([mode.flow for mode in modes], VECTOR_FUNCTION, _unchanged)
    states, all_states = _matrices([mode.flow_state for mode in modes])
    inputs, all_inputs = _matrices([mode.flow_input for mode in modes])
    table = CompiledSystem(
        flows,
        _table([e.guard for e in edges], SCALAR_FUNCTION, _never),
        _table([e.reset for e in edges], VECTOR_FUNCTION, _unchanged),
        np.array([index[e.source] for e in edges], dtype=np.int64),
        np.array([index[e.target] for e in edges], dtype=np.int64),
        np.array([m.state_dim for m in modes], dtype=np.int64),
        np.zeros(max((m.state_dim for m in modes), default=0)),
    )
    given = np.array([all_states, all_inputs])
    return table, CompiledDerivatives(flows, states, inputs, given)


def _check_shapes(mode: Mode) -> None:
    n, m = mode.state_dim, mode.input_dim
    arguments = (0.0, example(n), example(m))
    for name, shape in (("flow", (n,)), ("flow_state", (n, n)), ("flow_input", (n, m))):
        check_shape(getattr(mode, name), arguments, shape, f"{name} of mode {mode.name}")


def _matrices(functions: Sequence[Callable]) -> tuple[tuple[Any, ...], bool]:
    """Table of derivatives, and whether they were all given; if not, none of them is used."""
    if any(isinstance(function, Derivative) for function in functions):
        return _table([_square] * len(functions), MATRIX_FUNCTION, _square), False
    return _table(functions, MATRIX_FUNCTION, _square), True


def _table(functions: Sequence[Callable], signature: Any, filler: Callable) -> tuple[Any, ...]:
    """The functions with one signature, padded to 4, 8, 16, ... with another that has it too."""
    size = 4
    while size < len(functions):
        size *= 2
    ready = [_function(function, signature) for function in functions]
    return tuple(ready) + (filler,) * (size - len(ready))


def _function(function: Callable, signature: Any) -> Any:
    """Compiled with this very signature, which makes it a value that tuples can hold."""
    python = getattr(function, "py_func", function)
    try:
        return native(njit, python, signature)
    except Exception:  # perhaps it returns a constant array, a view, or whole numbers
        return njit(signature, error_model="numpy")(
            _converted(njit(python, error_model="numpy"), signature.return_type)
        )


def _converted(function: Callable, kind: Any) -> Callable:
    """The function with its result copied into a new array, or made a float."""
    if kind == float64:
        return lambda t, x, u: float(function(t, x, u))

    def copied(t, x, u):
        value = function(t, x, u)
        result = np.empty(value.shape)
        result[:] = value
        return result

    return copied


@njit(SCALAR_FUNCTION, cache=True, error_model="numpy")
def _never(t, x, u):
    return 1.0


@njit(VECTOR_FUNCTION, cache=True, error_model="numpy")
def _unchanged(t, x, u):
    return x.copy()


@njit(MATRIX_FUNCTION, cache=True, error_model="numpy")
def _square(t, x, u):
    return np.zeros((len(x), len(x)))


@njit(SOLUTION, cache=True, error_model="numpy")
def _still(t, x, u, h):
    return np.eye(len(x)), np.zeros((len(x), len(u)))
