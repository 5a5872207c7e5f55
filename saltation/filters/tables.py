"""A filter's model in tables that kernels read; modes and transitions stand by index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numba.experimental import structref

from saltation.arrays import Flags, Integers, Pair, Shape
from saltation.compiled.callbacks import Callbacks
from saltation.compiled.first_use import call
from saltation.compiled.functions import (
    Entry,
    TableBuilder,
    slot_rows,
    unchanged,
    with_compiled_fillers,
    zero_matrix,
)
from saltation.compiled.limits import Limits
from saltation.compiled.native import global_values, recompile, same_values
from saltation.compiled.system import TableSet, callback_tables, is_compiled, native_tables
from saltation.compiled.tables import ABSENT, TablesType
from saltation.filters.manifolds import retraction_slope, tangent_part
from saltation.filters.model import FilterModel, covariance_root
from saltation.kernels import kernel
from saltation.systems import Array, Derivative

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
        return ModelTables(replace(self.base, system=system), self.own).tables


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
        native_code = is_compiled(model.system, *(one.function for one in measurements))
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
        own = _tables(model, native_code)
        both = [ModelTables(base, own._replace(salted=each)) for each in (False, True)]
        entry = cache[native_code] = base, values, both
    return entry[2][salted]


def _tables(model: FilterModel, native_code: bool) -> FilterTables:
    """All tables, with the modes and transitions in the system's order."""
    system, edges, measured = model.system, model.system.transitions, model.measurements
    n, k = system.state_dim, max(map(model.tangent_dim, system.modes))
    p = max(len(one.V) for one in measured.values())
    build = TableBuilder(native_code, (n + k) * max(n, k, p), system.input_dim)
    of_modes = [(i, measured[i], mode.state_dim) for i, mode in system.modes.items()]
    of_edges = [
        (e, system.modes[e.source].state_dim, system.modes[e.target].state_dim) for e in edges
    ]
    tables = [
        build.table(filler, entries)
        for filler, entries in (
            (unchanged, [Entry(one.function, n, (len(one.V),), f"the measurement of mode {i}")
                         for i, one, n in of_modes]),
            (zero_matrix, [Entry(one.state, n, (len(one.V), n), f"C of mode {i}")
                           for i, one, n in of_modes]),
            (unchanged, [Entry(e.guard_state, n, (n,), f"D_x g of {e.label}")
                         for e, n, _ in of_edges]),
            (zero_matrix, [Entry(e.reset_state, n, (after, n), f"D_x R of {e.label}")
                           for e, n, after in of_edges]),
        )
    ]  # fmt: skip
    manifolds = [_manifold_slots(build.calls, model, mode) for mode in system.modes]
    rows = [*(table.slots for table in tables), *zip(*manifolds, strict=True)]
    calls = build.calls
    return FilterTables(
        *(table.functions for table in tables),
        slots=slot_rows(rows),
        call=calls,
        x=calls.x,
        u=calls.u,
        out=calls.out,
        tangent=np.array([model.tangent_dim(mode) for mode in system.modes]),
        time_varying=np.array([not edge.time_invariant for edge in edges], bool),
        noise=_noise(model, k, p),
        limits=Limits.of(model.options),
        salted=True,
    )


def _manifold_slots(calls: Callbacks, model: FilterModel, mode: int) -> list[int]:
    """Callbacks of a mode's manifold, in rows PLUS to PART."""
    manifold, n = model.manifolds.get(mode), model.system.modes[mode].state_dim
    if manifold is None:
        return [ABSENT] * 4
    k = manifold.tangent_dim
    functions: tuple[tuple[Callable, int, Shape], ...] = (
        (lambda t, a, u: manifold.plus(a[:n], a[n:]), n + k, (n,)),
        (lambda t, a, u: manifold.minus(a[:n], a[n:]), 2 * n, (k,)),
        (lambda t, a, u: retraction_slope(manifold, a[:n], a[n:]), n + k, (n, k)),
        (lambda t, a, u: tangent_part(manifold, a), n, (k, n)),
    )
    return [calls.add(*one, "the manifold") for one in functions]


def _noise(model: FilterModel, k: int, p: int) -> Noise:
    """Covariances of up to k, or p of measurements, numbers."""
    edges = [(edge.source, edge.target) for edge in model.system.transitions]
    process = [model.process[mode] for mode in model.system.modes]
    none, V = np.zeros((0, 0)), [model.measurements[mode].V for mode in model.system.modes]
    return Noise(
        *_stack([one.Q for one in process], k),
        *_stack([model.reset_noise.get(edge, none) for edge in edges], k),
        np.array([model.guard_noise.get(edge, 0.0) for edge in edges], np.float64),
        *_stack(V, p),
        power=np.array([float(one.power) for one in process]),
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
