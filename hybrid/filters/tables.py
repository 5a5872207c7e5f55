"""A filter's model in tables that kernels read; modes and transitions stand by index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit
from numba.experimental import structref
from numpy.typing import NDArray

from hybrid.compiled.callbacks import Callbacks
from hybrid.compiled.functions import (
    MATRIX_FUNCTION,
    VECTOR_FUNCTION,
    FunctionTable,
    unchanged,
    zero_matrix,
)
from hybrid.compiled.limits import Limits
from hybrid.compiled.native import check_shape, example
from hybrid.compiled.system import callback_tables, native_tables
from hybrid.compiled.tables import ABSENT, COMPILED, Compiled, TablesType, by_reference
from hybrid.filters import tangent
from hybrid.filters.model import FilterModel, covariance_root
from hybrid.systems import Array, Derivative, VectorFunction

# ruff: noqa: N806, N815 (the letters are the thesis's)

MEASUREMENT, MEASUREMENT_STATE, GUARD_STATE, RESET_STATE = range(4)  # rows of FilterTables.slots
PLUS, MINUS, BASIS, PART, TRANSPORT = range(4, 9)


class Noise(NamedTuple):
    """Covariances by index of the mode or of the transition, and roots S of them: S S'."""

    Q: Array  # (modes, k, k)
    Q_root: Array
    power: Array  # (modes,) of W(h), see ``ProcessNoise``
    W_R: Array  # (transitions, k, k)
    W_R_root: Array
    V: Array  # (modes, p, p)
    V_root: Array
    size: NDArray[np.int64]  # (modes,) p


class FilterTables(NamedTuple):
    """What a model adds to its system's tables.

    ``slots`` (9, modes or transitions) holds COMPILED, the number of a callback, or ABSENT: then
    derivatives are found by differences, and a mode's states are of R^n.
    """

    limits: Limits
    measurements: tuple[Callable, ...]  # h -> (p,), one a mode
    measurement_states: tuple[Callable, ...]  # C = D_x h -> (p, n)
    guard_states: tuple[Callable, ...]  # D_x g -> (n_source,), one a transition
    reset_states: tuple[Callable, ...]  # D_x R -> (n_target, n_source)
    slots: NDArray[np.int64]
    call: Callbacks
    x: Array  # what callbacks read and write, see ``Callbacks``
    u: Array
    out: Array
    tangent: NDArray[np.int64]  # (modes,) k
    timed: NDArray[np.bool_]  # (transitions,) whether guard and reset may depend on time
    noise: Noise
    salted: bool  # Xi at transitions; else D_x R


@structref.register
class KernelType(TablesType):
    """Numba's type of ``KernelTables``."""


if TYPE_CHECKING:

    class KernelTables(Any):
        """See below."""

else:

    class KernelTables(structref.StructRefProxy):
        """System, derivatives and ``FilterTables`` on numba's side: kernels take a reference."""


_FIELDS = ["system", "derivatives", *FilterTables._fields]
structref.define_proxy(KernelTables, KernelType, _FIELDS)


@njit(cache=True)
def _by_reference(system, derivatives, f):
    return KernelTables(
        system, derivatives, f.limits, f.measurements, f.measurement_states, f.guard_states,
        f.reset_states, f.slots, f.call, f.x, f.u, f.out, f.tangent, f.timed, f.noise, f.salted,
    )  # fmt: skip


def _keeping(tables: KernelTables, owner: Any) -> KernelTables:
    """The tables, with what their callbacks belong to: numba does not keep Python's objects."""
    tables.owner = owner
    return tables


class Prepared(NamedTuple):
    """A model ready for kernels."""

    base: Compiled  # its system
    own: FilterTables
    tables: KernelTables

    @property
    def in_threads(self) -> bool:
        """Whether all is compiled: callbacks share the arrays of their arguments."""
        slots = self.base.system.slots, self.base.derivatives.slots, self.own.slots
        return not any((rows >= 0).any() for rows in slots)

    def errors(self) -> str:
        """What functions raised in kernels since this was last asked, for a message."""
        errors = [*self.base.callbacks.errors, *self.own.call.errors]
        self.base.callbacks.errors.clear()
        self.own.call.errors.clear()
        return f"a function raised {type(errors[0]).__name__}: {errors[0]}" if errors else ""

    def with_disturbance(self) -> KernelTables:
        """Tables whose flows have a disturbance, which nobody else writes on."""
        system = self.base.system
        own = system._replace(disturbance=np.zeros_like(system.disturbance), disturbed=True)
        references = by_reference(own, self.base.derivatives)
        return _keeping(_by_reference(*references, self.own), self)


def prepare(
    model: FilterModel, native_code: bool | None = None, salted: bool = True
) -> Prepared:
    """The model's tables, made once.

    Args:
        model: the model.
        native_code: compile functions where numba can, or make all of them callbacks in Python.
            Left out, functions are compiled where all of them are numba's already: what one filter
            gains by machine code is less than it takes to compile.
        salted: Xi at transitions; else D_x R.
    """
    if native_code is None:
        native_code = all(hasattr(function, "py_func") for function in _functions(model))
    known, key = model.__dict__.setdefault("_prepared", {}), (native_code, salted)
    if key not in known:
        base = (native_tables if native_code else callback_tables)(model.system)
        other = known.get((native_code, not salted))
        own = _tables(model, base, native_code) if other is None else other.own
        own = own._replace(salted=salted)
        tables = _by_reference(base.tables, base.derivative_tables, own)
        known[key] = Prepared(base, own, _keeping(tables, (base, own)))
    return known[key]


def _functions(model: FilterModel) -> list[Callable]:
    functions = [one.function for one in model.measurements.values()]
    functions += [mode.flow for mode in model.system.modes.values()]
    return functions + [f for e in model.system.transitions for f in (e.guard, e.reset)]


def _tables(model: FilterModel, base: Compiled, native_code: bool) -> FilterTables:
    system, n = model.system, model.system.state_dim
    k = max(model.tangent_dim(mode) for mode in system.modes)
    p = max(len(one.V) for one in model.measurements.values())
    calls = Callbacks((n + k) * max(n, k, p), system.input_dim)
    rows = _Rows(calls, native_code)
    edges, modes = system.transitions, list(system.modes)
    for mode in modes:
        one, size, of = model.measurements[mode], len(model.measurements[mode].V), f"mode {mode}"
        dim = system.modes[mode].state_dim
        rows.add(MEASUREMENT, one.function, dim, (size,), f"the measurement of {of}")
        inside = rows.slots[MEASUREMENT][-1] == COMPILED
        rows.add(MEASUREMENT_STATE, one.state, dim, (size, dim), f"C of {of}", inside)
        _add_manifold(rows, model, mode)
    for e, edge in enumerate(edges):
        dims = tuple(system.modes[mode].state_dim for mode in (edge.target, edge.source))
        guard_inside, reset_inside = (base.system.slots[row, e] == COMPILED for row in (1, 2))
        name = f"D_x g of {edge.label}", f"D_x R of {edge.label}"
        rows.add(GUARD_STATE, edge.guard_state, dims[1], dims[1:], name[0], guard_inside)
        rows.add(RESET_STATE, edge.reset_state, dims[1], dims, name[1], reset_inside)
    return FilterTables(
        Limits.of(model.options),
        rows.functions(MEASUREMENT), rows.functions(MEASUREMENT_STATE),
        rows.functions(GUARD_STATE), rows.functions(RESET_STATE),
        rows.array(max(len(modes), len(edges), 1)),
        calls, calls.x, calls.u, calls.out,
        np.array([model.tangent_dim(mode) for mode in modes], dtype=np.int64),
        np.array([not edge.time_invariant for edge in edges], dtype=np.bool_),
        _noise(model, k, p),
        True,
    )  # fmt: skip


class _Rows:
    """Rows of ``slots`` and their functions under construction."""

    def __init__(self, calls: Callbacks, native_code: bool) -> None:
        self._calls, self._native = calls, native_code
        self._made: dict[int, FunctionTable] = {}
        self.slots: dict[int, list[int]] = {row: [] for row in range(9)}
        for row in (MEASUREMENT, GUARD_STATE):
            self._made[row] = FunctionTable(VECTOR_FUNCTION, unchanged)
        for row in (MEASUREMENT_STATE, RESET_STATE):
            self._made[row] = FunctionTable(MATRIX_FUNCTION, zero_matrix)
        for row, table in self._made.items():
            self.slots[row] = table.slots

    def add(
        self, row: int, function: VectorFunction, n: int, shape: tuple[int, ...], name: str,
        by_differences: bool = False,
    ) -> None:  # fmt: skip
        """Compile a function of x (n,), or make it a callback.

        A ``Derivative`` is left to the kernels' differences where its function is compiled.
        """
        derivative = isinstance(function, Derivative)
        if derivative and by_differences:
            self._made[row].skip()
        else:
            native = self._native and not derivative
            if native:
                check_shape(function, (0.0, example(n), example(len(self._calls.u))), shape, name)
            slot = lambda: self._calls.add(function, n, shape, name)  # noqa: E731
            self._made[row].add(function, native, slot)

    def add_callback(self, row: int, function: Callable, n: int, shape: tuple[int, ...]) -> None:
        """A function of numbers (n,), called in Python."""
        slot = self._calls.add(lambda t, x, u: function(x), n, shape, "the manifold")
        self.slots[row].append(slot)

    def functions(self, row: int) -> tuple[Any, ...]:
        """The row's functions, padded."""
        return self._made[row].functions

    def array(self, width: int) -> NDArray[np.int64]:
        """All slots."""
        slots = np.full((9, width), ABSENT, dtype=np.int64)
        for row, values in self.slots.items():
            slots[row, : len(values)] = values
        return slots


def _add_manifold(rows: _Rows, model: FilterModel, mode: int) -> None:
    manifold, n = model.manifolds.get(mode), model.system.modes[mode].state_dim
    if manifold is None:
        for row in (PLUS, MINUS, BASIS, PART, TRANSPORT):
            rows.slots[row].append(ABSENT)
        return
    k = manifold.tangent_dim
    functions: Mapping[int, tuple[Callable, int, tuple[int, ...]]] = {
        PLUS: (lambda a: manifold.plus(a[:n], a[n:]), n + k, (n,)),
        MINUS: (lambda a: manifold.minus(a[:n], a[n:]), 2 * n, (k,)),
        BASIS: (lambda a: tangent.tangent_basis(manifold, a), n, (n, k)),
        PART: (lambda a: tangent.tangent_part(manifold, a), n, (k, n)),
        TRANSPORT: (lambda a: tangent.transport(manifold, a[:n], a[n:]), n + k, (k, k)),
    }
    for row, (function, size, shape) in functions.items():
        rows.add_callback(row, function, size, shape)


def _noise(model: FilterModel, k: int, p: int) -> Noise:
    modes, edges = model.system.modes, model.system.transitions
    none = np.zeros((0, 0))
    Q = [model.process[mode].Q for mode in modes]
    W_R = [model.reset_noise.get((e.source, e.target), none) for e in edges]
    V = [model.measurements[mode].V for mode in modes]
    power = np.array([float(model.process[mode].power) for mode in modes])
    size = np.array([len(one) for one in V], dtype=np.int64)
    return Noise(
        _stacked(Q, k, _symmetric), _stacked(Q, k, covariance_root), power,
        _stacked(W_R, k, _symmetric), _stacked(W_R, k, covariance_root),
        _stacked(V, p, _symmetric), _stacked(V, p, covariance_root), size,
    )  # fmt: skip


def _symmetric(matrix: Array) -> Array:
    return 0.5 * (np.asarray(matrix, dtype=np.float64) + np.transpose(matrix))


def _stacked(matrices: list[Array], size: int, function: Callable[[Array], Array]) -> Array:
    """A function of each matrix, padded with zeros (count, size, size)."""
    stack = np.zeros((len(matrices), size, size))
    for room, matrix in zip(stack, matrices, strict=True):
        room[: len(matrix), : len(matrix)] = function(matrix)
    return stack
