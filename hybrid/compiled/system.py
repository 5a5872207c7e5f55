"""A hybrid system's functions, compiled to machine code and put in tables.

The tables are tuples of first-class functions, so the kernels that walk them are compiled once
for all systems. Tuples are padded to powers of two to keep the number of kernel variants small.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import NumbaExperimentalFeatureWarning, float64, njit, types
from numba.experimental import structref
from numpy.typing import NDArray

from hybrid.compiled.callbacks import Callbacks, call_shape
from hybrid.compiled.native import (
    MATRIX,
    VECTOR,
    example,
    global_values,
    native,
    same_values,
)
from hybrid.parameters import Bound, ByInput
from hybrid.systems import Array, Derivative, System

SCALAR_FUNCTION = float64(float64, VECTOR, VECTOR)
VECTOR_FUNCTION = VECTOR(float64, VECTOR, VECTOR)
MATRIX_FUNCTION = MATRIX(float64, VECTOR, VECTOR)
MAP_FUNCTION = VECTOR(float64, VECTOR, VECTOR, float64)  # FlowMap.state
SOLUTION = types.UniTuple(MATRIX, 2)(float64, VECTOR, VECTOR, float64)  # FlowMap.jacobians


COMPILED, ABSENT = -1, -2  # in place of the number of a callback


class CompiledSystem(NamedTuple):
    """A system as kernels see it: modes and transitions by index, in the order they were given.

    A function stands in its tuple, or is a callback in Python: ``slots`` holds COMPILED or the
    callback's number, in rows for flows, guards, resets and closed-form solutions.
    """

    flows: tuple[Callable, ...]  # F(t, x, u) -> (n,), one a mode
    guards: tuple[Callable, ...]  # g(t, x, u) -> number, one a transition
    resets: tuple[Callable, ...]  # R(t, x, u) -> (n_target,)
    solutions: tuple[Callable, ...]  # x(t + h) of (t, x, u, h), one a mode
    python: bool  # some function is a callback
    closed: bool  # some flow has a closed form
    disturbed: bool  # ``disturbance`` counts
    slots: NDArray[np.int64]  # (4, modes or transitions)
    call: Callbacks
    x: Array  # what callbacks read and write, see ``Callbacks``
    u: Array
    out: Array
    source: NDArray[np.int64]  # (transitions,) index of a mode
    target: NDArray[np.int64]  # (transitions,)
    rest: NDArray[np.bool_]  # (transitions,) taken at rest only
    dims: NDArray[np.int64]  # (modes,) n
    disturbance: NDArray[np.float64]  # (largest n,) added to every flow where ``disturbed``


class CompiledDerivatives(NamedTuple):
    """A system with the derivatives of its flows.

    ``slots`` is ABSENT where a derivative was not given: kernels take differences.
    """

    system: CompiledSystem
    flow_states: tuple[Callable, ...]  # D_x F -> (n, n)
    flow_inputs: tuple[Callable, ...]  # D_u F -> (n, m)
    solution_slopes: tuple[Callable, ...]  # (D_x, D_u) of a closed-form solution
    slots: NDArray[np.int64]  # (3, modes)
    inputs: NDArray[np.int64]  # (modes,) m: the first of the input that a mode takes


class TablesType(types.StructRef):
    """Numba's type of tables by reference."""

    def preprocess_fields(self, fields: Any) -> Any:
        """Types of the fields without literal values."""
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


@structref.register
class SystemType(TablesType):
    """Numba's type of ``SystemTables``."""


@structref.register
class DerivativesType(TablesType):
    """Numba's type of ``DerivativeTables``."""


if TYPE_CHECKING:

    class SystemTables(CompiledSystem):
        """See below."""

    class DerivativeTables(CompiledDerivatives):
        """See below."""

else:

    class SystemTables(structref.StructRefProxy):
        """A ``CompiledSystem`` on numba's side: kernels take it by reference.

        To hand numba first-class functions by value takes milliseconds a call, and kernels that
        pass them on are twice as slow.
        """

    class DerivativeTables(structref.StructRefProxy):
        """``CompiledDerivatives`` on numba's side, with its system by reference too."""


structref.define_proxy(SystemTables, SystemType, list(CompiledSystem._fields))
structref.define_proxy(DerivativeTables, DerivativesType, list(CompiledDerivatives._fields))


@njit(cache=True)
def _references(s, d):
    system = SystemTables(
        s.flows, s.guards, s.resets, s.solutions, s.python, s.closed, s.disturbed, s.slots, s.call,
        s.x, s.u, s.out, s.source, s.target, s.rest, s.dims, s.disturbance,
    )  # fmt: skip
    slopes = DerivativeTables(
        system, d.flow_states, d.flow_inputs, d.solution_slopes, d.slots, d.inputs
    )
    return system, slopes


class Compiled(NamedTuple):
    """Tables of a system, and why functions are callbacks where they do not compile."""

    system: CompiledSystem
    derivatives: CompiledDerivatives
    tables: SystemTables  # the same for kernels
    derivative_tables: DerivativeTables
    callbacks: Callbacks
    reason: str  # "" where all functions are compiled


def compiled(system: System) -> Compiled:
    """Compile a system's functions, once; those that do not compile stay callbacks in Python.

    Functions compile when numba knows what they do with (float, (n,) array, (m,) array). Numbers
    of their module go into the machine code: when one has changed they are compiled anew.
    """
    known = getattr(system, "_compiled", None)
    values = global_values(_functions(system))
    if known is None or not same_values(known[1], values):
        known = _tables(system, native_code=True), values
        object.__setattr__(system, "_compiled", known)
    return known[0]


def interpreted(system: System) -> Compiled:
    """Tables of a system whose functions are all callbacks in Python; nothing is compiled."""
    known = getattr(system, "_interpreted", None)
    if known is None:
        known = _tables(system, native_code=False)
        object.__setattr__(system, "_interpreted", known)
    return known


@contextmanager
def quiet() -> Iterator[None]:
    """Let numba not call functions in tuples experimental: tests compare results with Python's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
        yield


def vector_table(functions: Sequence[Callable]) -> tuple[Any, ...]:
    """Functions (t, x, u) -> array compiled in a table of their own; raises what numba raises."""
    return _padded([_function(function, VECTOR_FUNCTION) for function in functions], _unchanged)


def matrix_table(functions: Sequence[Callable]) -> tuple[tuple[Any, ...], bool]:
    """Like ``vector_table`` for matrices, and whether all were given; if not, none is used."""
    if any(isinstance(function, Derivative) for function in functions):
        return _padded([_square] * len(functions), _square), False
    return _padded([_function(function, MATRIX_FUNCTION) for function in functions], _square), True


def _functions(system: System) -> list[Callable]:
    """Every function of a system that goes into machine code."""
    modes, edges = system.modes.values(), system.transitions
    maps = [mode.flow_map for mode in modes if mode.flow_map is not None]
    every = [f for mode in modes for f in (mode.flow, mode.flow_state, mode.flow_input)]
    every += [f for edge in edges for f in (edge.guard, edge.reset)]
    every += [f for one in maps for f in one if f is not None]
    return [f for f in every if not isinstance(f, Derivative)]


class _Table:
    """A table of functions under construction: compiled ones, and numbers of callbacks."""

    def __init__(self, signature: Any, filler: Callable) -> None:
        self.signature, self.filler = signature, filler
        self.entries: list[Any] = []
        self.slots: list[int] = []

    def add(self, function: Callable, native_code: bool, slot: Callable[[], int]) -> str:
        """Add a function, compiled or as the callback that ``slot`` gives; why it is a callback."""
        reason = "" if not native_code else "not compiled"
        if native_code:
            try:
                self.entries.append(_function(function, self.signature))
                self.slots.append(COMPILED)
                return ""
            except Exception as error:  # numba has no one error for what it cannot do
                reason = " ".join(str(error).split())[:300]
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


def _tables(system: System, native_code: bool) -> Compiled:
    n, m = system.state_dim, system.input_dim
    index = {number: i for i, number in enumerate(system.modes)}
    modes, edges = list(system.modes.values()), system.transitions
    calls = Callbacks(n * max(n + m, 1), m)
    flows, solutions = _Table(VECTOR_FUNCTION, _unchanged), _Table(MAP_FUNCTION, _still)
    guards, resets = _Table(SCALAR_FUNCTION, _never), _Table(VECTOR_FUNCTION, _unchanged)
    states, inputs = _Table(MATRIX_FUNCTION, _square), _Table(MATRIX_FUNCTION, _square)
    slopes, reasons = _Table(SOLUTION, _identity), []

    def add(
        table: _Table, function: Callable, n: int, shape: tuple[int, ...], name: str,
        callback: Callable | None = None,
    ) -> None:  # fmt: skip
        slot = partial(calls.add, callback or function, n, shape, name, callback is not None)
        found = shape if callback else call_shape(function, (0.0, example(n), example(m)))
        if native_code and found not in (shape, None):  # kernels do not look at the ends of arrays
            table.add(function, False, slot)
            reasons.append(f"{name} has shape {found}; give {shape}")
        elif reason := table.add(function, native_code, slot):
            reasons.append(f"{name}: {reason}")

    for mode in modes:
        k, of = mode.state_dim, f"mode {mode.name}"
        add(flows, mode.flow, k, (k,), f"the flow of {of}")
        for table, function, width in (
            (states, mode.flow_state, k), (inputs, mode.flow_input, mode.input_dim),
        ):  # fmt: skip
            if native_code and isinstance(function, Derivative):
                table.skip()
            else:
                add(table, function, k, (k, width), f"a derivative of the flow of {of}")
        if mode.flow_map is None:
            solutions.skip()
        else:
            state = mode.flow_map.state
            add(solutions, state, k, (k,), f"the closed form of {of}", state)
        if mode.flow_map is None or mode.flow_map.jacobians is None:
            slopes.skip()
        else:
            function, width = mode.flow_map.jacobians, k + mode.input_dim
            name = f"the derivative of the closed form of {of}"
            add(slopes, function, k, (k, width), name, _stacked(function))
    for edge in edges:
        k, after = system.modes[edge.source].state_dim, system.modes[edge.target].state_dim
        add(guards, edge.guard, k, (), f"the guard of {edge.label}")
        add(resets, edge.reset, k, (after,), f"the reset of {edge.label}")
    width = max(len(modes), len(edges), 1)
    slots = np.full((4, width), ABSENT, dtype=np.int64)
    for row, table in zip(slots, (flows, guards, resets, solutions), strict=True):
        row[: len(table.slots)] = table.slots
    result = CompiledSystem(
        flows.functions,
        guards.functions,
        resets.functions,
        solutions.functions,
        bool(np.any(slots >= 0)),
        bool(np.any(slots[3] != ABSENT)),
        False,
        slots,
        calls,
        calls.x,
        calls.u,
        calls.out,
        np.array([index[e.source] for e in edges], dtype=np.int64),
        np.array([index[e.target] for e in edges], dtype=np.int64),
        np.array([e.rest for e in edges], dtype=np.bool_),
        np.array([mode.state_dim for mode in modes], dtype=np.int64),
        np.zeros(n),
    )
    derivatives = CompiledDerivatives(
        result,
        states.functions,
        inputs.functions,
        slopes.functions,
        np.array([states.slots, inputs.slots, slopes.slots], dtype=np.int64),
        np.array([mode.input_dim for mode in modes], dtype=np.int64),
    )
    with quiet():
        references = _references(result, derivatives)
    return Compiled(result, derivatives, *references, calls, "; ".join(reasons))


def _stacked(jacobians: Callable) -> Callable:
    """D_x and D_u of a closed form side by side (n, n + m), as a callback gives them."""
    return lambda t, x, u, h: np.concatenate(jacobians(t, x, u, h), axis=1)


def _padded(entries: Sequence[Any], filler: Callable) -> tuple[Any, ...]:
    """Functions of one signature, padded to 4, 8, 16, ... with another that has it too."""
    size = 4
    while size < len(entries):
        size *= 2
    return tuple(entries) + (filler,) * (size - len(entries))


def _function(function: Callable, signature: Any) -> Any:
    """Compiled with this very signature, which makes it a value that tuples can hold."""
    if isinstance(function, Bound | ByInput):
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


def _closed_over(function: Bound | ByInput, step: bool) -> Callable:
    """A function with parameters, as one of (t, x, u) or (t, x, u, h) that numba compiles."""
    inner = njit(getattr(function.function, "py_func", function.function), error_model="numpy")
    if isinstance(function, Bound):
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


@njit(SCALAR_FUNCTION, cache=True, error_model="numpy")
def _never(t, x, u):
    return 1.0


@njit(VECTOR_FUNCTION, cache=True, error_model="numpy")
def _unchanged(t, x, u):
    return x.copy()


@njit(MATRIX_FUNCTION, cache=True, error_model="numpy")
def _square(t, x, u):
    return np.zeros((len(x), len(x)))


@njit(MAP_FUNCTION, cache=True, error_model="numpy")
def _still(t, x, u, h):
    return x.copy()


@njit(SOLUTION, cache=True, error_model="numpy")
def _identity(t, x, u, h):
    return np.eye(len(x)), np.zeros((len(x), len(u)))
