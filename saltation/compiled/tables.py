"""A hybrid system in tables, as kernels see it.

The tables are tuples of first-class functions, so the kernels that walk them are compiled once
for all systems.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numba import types
from numba.experimental import structref

from saltation.arrays import Array, Flags, Integers
from saltation.compiled.callbacks import Callbacks
from saltation.kernels import kernel

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
    slots: Integers  # (4, modes or transitions)
    call: Callbacks
    x: Array  # what callbacks read and write, see ``Callbacks``
    u: Array
    out: Array
    source: Integers  # (transitions,) index of a mode
    target: Integers  # (transitions,)
    rest: Flags  # (transitions,) taken at rest only
    on_edge: Flags  # (transitions,) taken where the guard falls through zero only
    watch: Flags  # (transitions,) not taken, but logged
    dims: Integers  # (modes,) n
    disturbance: Array  # (largest n,) added to every flow where ``disturbed``


class CompiledDerivatives(NamedTuple):
    """A system with the derivatives of its flows.

    ``slots`` is ABSENT where a derivative was not given: kernels take differences.
    """

    system: CompiledSystem
    flow_states: tuple[Callable, ...]  # D_x F -> (n, n)
    flow_inputs: tuple[Callable, ...]  # D_u F -> (n, m)
    solution_slopes: tuple[Callable, ...]  # (D_x, D_u) of a closed-form solution
    slots: Integers  # (3, modes)
    inputs: Integers  # (modes,) m: the first of the input that a mode takes


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


class SystemTables(structref.StructRefProxy):
    """A ``CompiledSystem`` on numba's side: kernels take it by reference.

    To hand numba first-class functions by value takes milliseconds a call, and kernels that pass
    them on are twice as slow.
    """


class DerivativeTables(structref.StructRefProxy):
    """``CompiledDerivatives`` on numba's side, with its system by reference too."""


structref.define_proxy(SystemTables, SystemType, list(CompiledSystem._fields))
structref.define_proxy(DerivativeTables, DerivativesType, list(CompiledDerivatives._fields))


@kernel
def by_reference(s, d):
    """A ``CompiledSystem`` and its ``CompiledDerivatives`` as kernels take them."""
    system = SystemTables(*s)
    slopes = DerivativeTables(system, *d[1:])
    return system, slopes
