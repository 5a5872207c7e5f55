"""A filter's model in tables that kernels read; modes and transitions stand by index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numba.experimental import structref

from saltation.arrays import Flags, Integers, Pair, Shape
from saltation.compiled.callbacks import Callbacks
from saltation.compiled.first_use import call
from saltation.compiled.functions import (
    FunctionTable,
    unchanged,
    with_compiled_fillers,
    zero_matrix,
)
from saltation.compiled.limits import Limits
from saltation.compiled.native import check_shape, example, global_values, recompile, same_values
from saltation.compiled.system import TableSet, callback_tables, native_tables
from saltation.compiled.tables import ABSENT, TablesType
from saltation.filters.manifolds import retraction_slope, tangent_part
from saltation.filters.model import FilterModel, covariance_root
from saltation.kernels import kernel
from saltation.systems import Array, Derivative, Transition, VectorFunction

# ruff: noqa: N806, N815 (the letters are the thesis's)

MEASUREMENT, MEASUREMENT_STATE, GUARD_STATE, RESET_STATE = range(4)  # rows of FilterTables.slots
PLUS, MINUS, SLOPE, PART = range(4, 8)  # rows of manifolds


class Noise(NamedTuple):
    """Covariances by index of the mode or of the transition, and roots S of them: S S'."""

    Q: Array  # (modes, k, k)
    Q_root: Array
    W_R: Array  # (transitions, k, k)
    W_R_root: Array
    W_g: Array  # (transitions,)
    V: Array  # (modes, p, p)
    V_root: Array
    power: Array  # (modes,) of W(h), see ``ProcessNoise``
    size: Integers  # (modes,) p


class FilterTables(NamedTuple):
    """Additions of a model to its system's tables.

    ``slots`` (8, modes or transitions) holds COMPILED, the number of a callback, or ABSENT: then
    derivatives are found by differences, and a mode's states are of R^n.
    """

    measurements: tuple[Callable, ...]  # h -> (p,), one a mode
    measurement_states: tuple[Callable, ...]  # C = D_x h -> (p, n)
    guard_states: tuple[Callable, ...]  # D_x g -> (n_source,), one a transition
    reset_states: tuple[Callable, ...]  # D_x R -> (n_target, n_source)
    slots: Integers
    call: Callbacks
    x: Array  # what callbacks read and write, see ``Callbacks``
    u: Array
    out: Array
    tangent: Integers  # (modes,) k
    time_varying: Flags  # (transitions,) whether guard and reset may depend on time
    noise: Noise
    limits: Limits
    salted: bool  # Xi at transitions; else D_x R


@structref.register
class KernelType(TablesType):
    """Numba's type of ``KernelTables``."""


class KernelTables(structref.StructRefProxy):
    """System, derivatives and ``FilterTables`` on numba's side, ``f`` of kernels: a reference."""

    system: Any
    noise: Noise
    owner: Any  # of callbacks: numba does not keep Python's objects


_FIELDS = ["system", "derivatives", *FilterTables._fields]
structref.define_proxy(KernelTables, KernelType, _FIELDS)


@kernel
def _by_reference(system, derivatives, f):
    return KernelTables(system, derivatives, *f[:])


class PythonTables(SimpleNamespace):
    """System, derivatives and ``FilterTables`` for kernels that run as Python."""


@dataclass(eq=False)
class ModelTables:
    """A model as kernels take it."""

    base: TableSet  # of its system
    own: FilterTables  # what the model adds

    @cached_property
    def tables(self) -> Any:
        """The tables as compiled kernels take them."""
        system, derivatives = self.base.references
        tables = _by_reference(system, derivatives, with_compiled_fillers(self.own))
        tables.owner = self.base, self.own
        return tables

    def call(self, kernel: Any, *arguments: Any) -> Any:
        """Result of a kernel of one filter, compiled or as Python."""
        base, own = self.base, self.own._asdict()
        system, derivatives = base.for_python
        python = PythonTables(system=system, derivatives=derivatives, **own)
        return call(kernel, ("filter", *base.sizes[1:]), python, lambda: self.tables, *arguments)

    @property
    def in_threads(self) -> bool:
        """Whether all is compiled: callbacks share the arrays of their arguments."""
        slots = self.base.system.slots, self.base.derivatives.slots, self.own.slots
        return not any((rows >= 0).any() for rows in slots)

    def errors(self) -> str:
        """Errors that functions raised in kernels since the last call, for a message."""
        errors = [*self.base.callbacks.errors, *self.own.call.errors]
        self.base.callbacks.errors.clear()
        self.own.call.errors.clear()
        return f"a function raised {type(errors[0]).__name__}: {errors[0]}" if errors else ""

    def with_disturbance(self) -> Any:
        """Tables whose flows have a disturbance, which nobody else writes on."""
        system = self.base.system
        system = system._replace(disturbance=np.zeros_like(system.disturbance), disturbed=True)
        base = TableSet(system, self.base.derivatives, self.base.callbacks, self.base.reason)
        return ModelTables(base, self.own).tables


def model_tables(
    model: FilterModel, native_code: bool | None = None, salted: bool = True
) -> ModelTables:
    """The model's tables, kept with it until a number that its functions read has changed.

    Args:
        model: the model.
        native_code: compile functions where numba can, or make all of them callbacks in Python.
            Left out, functions are compiled where all of them are numba's already: what one filter
            gains by machine code is less than it takes to compile.
        salted: Xi at transitions; else D_x R.
    """
    measurements, edges = model.measurements.values(), model.system.transitions
    if native_code is None:
        functions = [one.function for one in measurements]
        functions += [mode.flow for mode in model.system.modes.values()]
        functions += [f for edge in edges for f in (edge.guard, edge.reset)]
        native_code = all(hasattr(function, "py_func") for function in functions)
    base = (native_tables if native_code else callback_tables)(model.system)
    functions = [f for one in measurements for f in (one.function, one.state)]
    functions += [f for edge in edges for f in (edge.guard_state, edge.reset_state)]
    given = [f for f in functions if not isinstance(f, Derivative)]
    values = global_values(given)
    cache = model.__dict__.setdefault("_tables", {})
    entry = cache.get(native_code)
    if entry is None or entry[0] is not base or not same_values(entry[1], values):
        if entry is not None:
            recompile(given)
        own = _Builder(model, native_code).tables()
        both = [ModelTables(base, own._replace(salted=each)) for each in (False, True)]
        entry = cache[native_code] = base, values, both
    return entry[2][salted]


class _Builder:
    """The tables of a model under construction."""

    def __init__(self, model: FilterModel, native_code: bool) -> None:
        self._model, self._native = model, native_code
        self._k = max(model.tangent_dim(mode) for mode in model.system.modes)
        self._p = max(len(one.V) for one in model.measurements.values())
        n, m = model.system.state_dim, model.system.input_dim
        self._calls = Callbacks((n + self._k) * max(n, self._k, self._p), m)
        self._measurements = FunctionTable(unchanged)
        self._measurement_states = FunctionTable(zero_matrix)
        self._guard_states = FunctionTable(unchanged)
        self._reset_states = FunctionTable(zero_matrix)
        self._manifolds: list[list[int]] = []  # slots of each mode

    def tables(self) -> FilterTables:
        """All tables, with the modes and transitions in the system's order."""
        model, edges = self._model, self._model.system.transitions
        for mode in model.system.modes:
            self._add_measurement(mode)
            self._add_manifold(mode)
        for edge in edges:
            self._add_transition(edge)
        functions = (
            self._measurements, self._measurement_states, self._guard_states, self._reset_states
        )  # fmt: skip
        rows = [table.slots for table in functions] + list(zip(*self._manifolds, strict=True))
        slots = np.full((len(rows), max(map(len, rows))), ABSENT, np.int64)
        for row, values in zip(slots, rows, strict=True):
            row[: len(values)] = values
        calls = self._calls
        return FilterTables(
            *(table.functions for table in functions),
            slots=slots,
            call=calls,
            x=calls.x,
            u=calls.u,
            out=calls.out,
            tangent=np.array([model.tangent_dim(mode) for mode in model.system.modes]),
            time_varying=np.array([not edge.time_invariant for edge in edges], bool),
            noise=self._noise(),
            limits=Limits.of(model.options),
            salted=True,
        )

    def _add(
        self, table: FunctionTable, function: VectorFunction, n: int, shape: Shape,
        name: str,
    ) -> None:  # fmt: skip
        """Add a function (t, x (n,), u) with values of a shape to a table.

        Derivatives that were not given are left to the kernels where functions are compiled.
        """
        if self._native and isinstance(function, Derivative):
            return table.skip()
        if self._native:
            m = self._model.system.input_dim
            check_shape(function, (0.0, example(n), example(m)), shape, name)
        table.add(function, self._native, partial(self._calls.add, function, n, shape, name))

    def _add_measurement(self, mode: int) -> None:
        one, n = self._model.measurements[mode], self._model.system.modes[mode].state_dim
        p = len(one.V)
        self._add(self._measurements, one.function, n, (p,), f"the measurement of mode {mode}")
        self._add(self._measurement_states, one.state, n, (p, n), f"C of mode {mode}")

    def _add_transition(self, edge: Transition) -> None:
        n, after = (self._model.system.modes[each].state_dim for each in (edge.source, edge.target))
        self._add(self._guard_states, edge.guard_state, n, (n,), f"D_x g of {edge.label}")
        self._add(self._reset_states, edge.reset_state, n, (after, n), f"D_x R of {edge.label}")

    def _add_manifold(self, mode: int) -> None:
        manifold, n = self._model.manifolds.get(mode), self._model.system.modes[mode].state_dim
        if manifold is None:
            self._manifolds.append([ABSENT] * 4)
            return
        k = manifold.tangent_dim
        functions: tuple[tuple[Callable, int, Shape], ...] = (
            (lambda t, a, u: manifold.plus(a[:n], a[n:]), n + k, (n,)),
            (lambda t, a, u: manifold.minus(a[:n], a[n:]), 2 * n, (k,)),
            (lambda t, a, u: retraction_slope(manifold, a[:n], a[n:]), n + k, (n, k)),
            (lambda t, a, u: tangent_part(manifold, a), n, (k, n)),
        )
        self._manifolds.append([self._calls.add(*one, "the manifold") for one in functions])

    def _noise(self) -> Noise:
        model, edges = self._model, self._model.system.transitions
        modes = list(model.system.modes)
        none, V = np.zeros((0, 0)), [model.measurements[mode].V for mode in modes]
        return Noise(
            *_stack([model.process[mode].Q for mode in modes], self._k),
            *_stack([model.reset_noise.get((e.source, e.target), none) for e in edges], self._k),
            np.array([model.guard_noise.get((e.source, e.target), 0.0) for e in edges], np.float64),
            *_stack(V, self._p),
            power=np.array([float(model.process[mode].power) for mode in modes]),
            size=np.array([len(one) for one in V]),
        )


def _stack(covariances: list[Array], size: int) -> Pair:
    """Covariances and their roots, padded with zeros, each (count, size, size)."""
    stack, roots = np.zeros((2, len(covariances), size, size))
    for i, covariance in enumerate(covariances):
        k = len(covariance)
        stack[i, :k, :k] = 0.5 * (np.asarray(covariance) + np.transpose(covariance))
        roots[i, :k, :k] = covariance_root(covariance)
    return stack, roots
