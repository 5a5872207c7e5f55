"""A hybrid system's functions, compiled to machine code or as callbacks, put in tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from saltation.arrays import Shape
from saltation.compiled.callbacks import Callbacks, call_shape
from saltation.compiled.first_use import Sizes, call
from saltation.compiled.functions import (
    FunctionTable,
    identity,
    never,
    still,
    unchanged,
    with_compiled_fillers,
    zero_matrix,
)
from saltation.compiled.native import example, global_values, recompile, same_values
from saltation.compiled.tables import (
    ABSENT,
    CompiledDerivatives,
    CompiledSystem,
    by_reference,
)
from saltation.systems import Array, Derivative, Mode, System, Transition


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
        known = _Builder(system, True).tables(), values
        vars(system)["_native_tables"] = known
    return known[0]


def callback_tables(system: System) -> TableSet:
    """Tables of a system whose functions are all callbacks in Python; nothing is compiled."""
    known = getattr(system, "_callback_tables", None)
    if known is None:
        known = _Builder(system, False).tables()
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


class _Builder:
    """The tables of a system under construction."""

    def __init__(self, system: System, native_code: bool) -> None:
        self._system, self._native = system, native_code
        n, m = system.state_dim, system.input_dim
        self._calls = Callbacks(n * max(n + m, 1), m)
        self._flows = FunctionTable(unchanged)
        self._solutions = FunctionTable(still)
        self._guards = FunctionTable(never)
        self._resets = FunctionTable(unchanged)
        self._by_state = FunctionTable(zero_matrix)
        self._by_input = FunctionTable(zero_matrix)
        self._slopes = FunctionTable(identity)
        self._reasons: list[str] = []

    def tables(self) -> TableSet:
        """All tables, with the modes and transitions in the system's order."""
        for mode in self._system.modes.values():
            self._add_flow(mode)
            self._add_closed_form(mode)
        for edge in self._system.transitions:
            self._add_transition(edge)
        system = self._tables_of_system()
        derivatives = CompiledDerivatives(
            system,
            self._by_state.functions,
            self._by_input.functions,
            self._slopes.functions,
            np.array([each.slots for each in (self._by_state, self._by_input, self._slopes)]),
            np.array([mode.input_dim for mode in self._system.modes.values()]),
        )
        return TableSet(system, derivatives, self._calls, "; ".join(self._reasons))

    def _add(
        self, table: FunctionTable, function: Callable, n: int, shape: Shape, name: str
    ) -> None:
        """Add a function (t, x (n,), u) with values of a shape to a table."""
        slot = partial(self._calls.add, function, n, shape, name)
        found = call_shape(function, (0.0, example(n), example(self._system.input_dim)))
        fits = found in (shape, None)  # kernels do not look at the ends of arrays
        reason = table.add(function, self._native and fits, slot)
        if self._native and not fits:
            reason = f"has shape {found}; give {shape}"
        if reason:
            self._reasons.append(f"{name} {reason}")

    def _add_of_step(
        self, table: FunctionTable, function: Callable, call: Callable, width: int, mode: Mode
    ) -> None:
        """Add a function (t, x, u, h); as a callback ``call``, with values (n,) or (n, width)."""
        n, name = mode.state_dim, f"the closed form of mode {mode.name}"
        shape = (n, width) if width else (n,)
        slot = partial(self._calls.add, call, n, shape, name, True)
        if reason := table.add(function, self._native, slot):
            self._reasons.append(f"{name} {reason}")

    def _add_flow(self, mode: Mode) -> None:
        n, of = mode.state_dim, f"the flow of mode {mode.name}"
        self._add(self._flows, mode.flow, n, (n,), of)
        for table, function, width in (
            (self._by_state, mode.flow_state, n), (self._by_input, mode.flow_input, mode.input_dim),
        ):  # fmt: skip
            if self._native and isinstance(function, Derivative):
                table.skip()
            else:
                self._add(table, function, n, (n, width), f"a derivative of {of}")

    def _add_closed_form(self, mode: Mode) -> None:
        state, jacobians = mode.flow_map or (None, None)
        if state is None:
            self._solutions.skip()
        else:
            self._add_of_step(self._solutions, state, state, 0, mode)
        if jacobians is None:
            self._slopes.skip()
        else:
            width = mode.state_dim + mode.input_dim
            self._add_of_step(self._slopes, jacobians, _side_by_side(jacobians), width, mode)

    def _add_transition(self, edge: Transition) -> None:
        n, after = (self._system.modes[each].state_dim for each in (edge.source, edge.target))
        self._add(self._guards, edge.guard, n, (), f"the guard of {edge.label}")
        self._add(self._resets, edge.reset, n, (after,), f"the reset of {edge.label}")

    def _tables_of_system(self) -> CompiledSystem:
        modes, edges = self._system.modes, self._system.transitions
        index = {number: i for i, number in enumerate(modes)}
        rows = (self._flows, self._guards, self._resets, self._solutions)
        slots = np.full((len(rows), max(len(modes), len(edges), 1)), ABSENT, np.int64)
        for row, table in zip(slots, rows, strict=True):
            row[: len(table.slots)] = table.slots
        calls = self._calls
        return CompiledSystem(
            *(table.functions for table in rows),
            python=bool(np.any(slots >= 0)),
            closed=bool(np.any(slots[3] != ABSENT)),
            disturbed=False,
            slots=slots,
            call=calls,
            x=calls.x,
            u=calls.u,
            out=calls.out,
            source=np.array([index[e.source] for e in edges], np.int64),
            target=np.array([index[e.target] for e in edges], np.int64),
            rest=np.array([e.rest for e in edges], bool),
            on_edge=np.array([e.on == "edge" for e in edges], bool),
            watch=np.array([e.watch for e in edges], bool),
            dims=np.array([mode.state_dim for mode in modes.values()], np.int64),
            disturbance=np.zeros(self._system.state_dim),
        )


def _side_by_side(jacobians: Callable) -> Callable:
    """D_x and D_u of a closed form as one matrix (n, n + m), as a callback gives them."""
    return lambda t, x, u, h: np.concatenate(jacobians(t, x, u, h), 1)
