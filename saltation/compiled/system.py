"""A hybrid system's functions, compiled to machine code or as callbacks, put in tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from saltation.compiled.callbacks import Callbacks
from saltation.compiled.first_use import Sizes, call
from saltation.compiled.functions import (
    Entry,
    TableBuilder,
    identity,
    never,
    slot_rows,
    still,
    unchanged,
    with_compiled_fillers,
    zero_matrix,
)
from saltation.compiled.native import global_values, recompile, same_values
from saltation.compiled.tables import (
    ABSENT,
    CompiledDerivatives,
    CompiledSystem,
    by_reference,
)
from saltation.systems import Array, Derivative, System


@dataclass(eq=False)
class TableSet:
    """Tables of a system, and why functions are callbacks where they do not compile."""

    system: CompiledSystem
    derivatives: CompiledDerivatives
    callbacks: Callbacks
    reason: str  # "" where all functions are compiled

    @cached_property
    def references(self) -> Any:
        """System and derivatives as compiled kernels take them."""
        system, slopes = with_compiled_fillers(self.system), self.derivatives
        return by_reference(system, with_compiled_fillers(slopes._replace(system=system)))

    @cached_property
    def for_python(self) -> tuple[CompiledSystem, CompiledDerivatives]:
        """System and derivatives as kernels take them that run as Python.

        Guards give numbers of numpy, which divide by zero as compiled code does.
        """
        guards = tuple(partial(_number, guard) for guard in self.system.guards)
        system = self.system._replace(guards=guards)
        return system, self.derivatives._replace(system=system)

    @property
    def tables(self) -> Any:
        """The system as compiled kernels take it."""
        return self.references[0]

    @property
    def sizes(self) -> Sizes:
        """Numbers of modes and transitions that there is room for."""
        return "simulation", len(self.system.flows), len(self.system.guards)

    def call(self, kernel: Any, *arguments: Any, derivatives: bool = False) -> Any:
        """Result of a kernel of the system, or of its derivatives, compiled or as Python."""
        python = self.for_python[derivatives]
        try:
            return call(
                kernel, self.sizes, python, lambda: self.references[derivatives], *arguments
            )
        except BaseException:  # an interrupt: the next call must not raise what came before it
            self.callbacks.errors.clear()
            raise


def _number(guard: Callable, t: float, x: Array, u: Array) -> np.float64:
    return np.float64(guard(t, x, u))


def native_tables(system: System) -> TableSet:
    """Compile a system's functions, once; those that do not compile stay callbacks in Python.

    Functions compile when numba knows what they do with (float, (n,) array, (m,) array). Numbers
    of their module go into the machine code: when one has changed they are compiled anew.
    """
    known = getattr(system, "_native_tables", None)
    functions = _functions(system)
    values = global_values(functions)
    if known is None or not same_values(known[1], values):
        if known is not None:  # what is called beside kernels, and derivatives, see them too
            recompile(functions)
        known = _tables(system, True), values
        vars(system)["_native_tables"] = known
    return known[0]


def is_compiled(system: System, *others: Callable) -> bool:
    """Whether all functions that a simulation calls, and some others, are numba's."""
    functions = [mode.flow for mode in system.modes.values()]
    functions += [f for edge in system.transitions for f in (edge.guard, edge.reset)]
    return all(hasattr(function, "py_func") for function in (*functions, *others))


def callback_tables(system: System) -> TableSet:
    """Tables of a system whose functions are all callbacks in Python; nothing is compiled."""
    known = getattr(system, "_callback_tables", None)
    if known is None:
        known = _tables(system, False)
        vars(system)["_callback_tables"] = known
    return known


def _functions(system: System) -> list[Callable]:
    """Every function of a system that goes into machine code."""
    modes, edges = system.modes.values(), system.transitions
    maps = [mode.flow_map for mode in modes if mode.flow_map is not None]
    every = [f for mode in modes for f in (mode.flow, mode.flow_state, mode.flow_input)]
    every += [f for edge in edges for f in (edge.guard, edge.reset)]
    every += [f for one in maps for f in one if f is not None]
    return [f for f in every if not isinstance(f, Derivative)]


def _tables(system: System, native_code: bool) -> TableSet:
    """All tables, with the modes and transitions in the system's order."""
    modes, edges, n, m = system.modes, system.transitions, system.state_dim, system.input_dim
    build = TableBuilder(native_code, n * max(n + m, 1), m)
    flows, states, slopes = list[Entry](), list[Entry](), list[Entry]()
    by_state, by_input = list[Entry](), list[Entry]()
    for mode in modes.values():
        k, (state, jacobians) = mode.state_dim, mode.flow_map or (None, None)
        flow, closed = f"the flow of mode {mode.name}", f"the closed form of mode {mode.name}"
        flows.append(Entry(mode.flow, k, (k,), flow))
        by_state.append(Entry(mode.flow_state, k, (k, k), f"a derivative of {flow}"))
        by_input.append(Entry(mode.flow_input, k, (k, mode.input_dim), f"a derivative of {flow}"))
        states.append(Entry(state, k, (k,), closed, state))
        both = jacobians and _side_by_side(jacobians)
        slopes.append(Entry(jacobians, k, (k, k + mode.input_dim), closed, both))
    dims = [(modes[edge.source].state_dim, modes[edge.target].state_dim) for edge in edges]
    ends = list(zip(edges, dims, strict=True))
    guards = (Entry(e.guard, k, (), f"the guard of {e.label}") for e, (k, _) in ends)
    resets = (Entry(e.reset, k, (after,), f"the reset of {e.label}") for e, (k, after) in ends)
    rows = [
        build.table(unchanged, flows), build.table(never, guards), build.table(unchanged, resets),
        build.table(still, states),
    ]  # fmt: skip
    index, slots = {number: i for i, number in enumerate(modes)}, slot_rows([r.slots for r in rows])
    tables = CompiledSystem(
        *(table.functions for table in rows),
        python=bool(np.any(slots >= 0)),
        closed=bool(np.any(slots[3] != ABSENT)),
        disturbed=False,
        slots=slots,
        call=build.calls,
        x=build.calls.x,
        u=build.calls.u,
        out=build.calls.out,
        source=np.array([index[e.source] for e in edges], np.int64),
        target=np.array([index[e.target] for e in edges], np.int64),
        rest=np.array([e.rest for e in edges], bool),
        on_edge=np.array([e.on == "edge" for e in edges], bool),
        watch=np.array([e.watch for e in edges], bool),
        dims=np.array([mode.state_dim for mode in modes.values()], np.int64),
        disturbance=np.zeros(n),
    )
    rows = [
        build.table(zero_matrix, by_state), build.table(zero_matrix, by_input),
        build.table(identity, slopes),
    ]  # fmt: skip
    derivatives = CompiledDerivatives(
        tables,
        *(table.functions for table in rows),
        slots=slot_rows([table.slots for table in rows]),
        inputs=np.array([mode.input_dim for mode in modes.values()]),
    )
    return TableSet(tables, derivatives, build.calls, "; ".join(build.reasons))


def _side_by_side(jacobians: Callable) -> Callable:
    """D_x and D_u of a closed form as one matrix (n, n + m), as a callback gives them."""
    return lambda t, x, u, h: np.concatenate(jacobians(t, x, u, h), 1)
