"""Kernels that call a system's functions, compiled or in Python; every other kernel calls these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

from saltation.compiled.first_use import as_python
from saltation.compiled.tables import (
    ABSENT,
    CompiledDerivatives,
    CompiledSystem,
    DerivativesType,
    SystemType,
)
from saltation.kernels import inlined_kernel, kernel

FLOW, GUARD, RESET, SOLUTION = range(4)  # rows of ``CompiledSystem.slots``
STATE, INPUT, SLOPES = range(3)  # rows of ``CompiledDerivatives.slots``
RATES: dict[type, Callable] = {}  # of other modules' tables, where kernels run as Python
STEP = np.finfo(np.float64).eps ** (1 / 3)  # of a central difference


@kernel
def put(row, x):
    """Write x at the start of a row."""
    for i in range(len(x)):
        row[i] = x[i]


@kernel
def evaluate(s: CompiledSystem, slot, t, x, u):
    """Call a Python function; its value is the result, or stands in ``s.out``."""
    put(s.x, x)
    put(s.u, u)
    return s.call(slot, t)


@kernel
def called(s: CompiledSystem, slot, t, x, u, size):
    """The first numbers (size,) that a Python function gives."""
    evaluate(s, slot, t, x, u)
    return s.out[:size].copy()


@inlined_kernel
def flow(s: CompiledSystem, mode, t, x, u):
    """F (n,) of a mode."""
    if not s.python:  # asked first: to look into an array costs more than many a flow
        return s.flows[mode](t, x, u)
    slot = s.slots[FLOW, mode]
    return s.flows[mode](t, x, u) if slot < 0 else called(s, slot, t, x, u, s.dims[mode])


@inlined_kernel
def guard(s: CompiledSystem, e, t, x, u):
    """g of a transition."""
    if not s.python:
        return s.guards[e](t, x, u)
    slot = s.slots[GUARD, e]
    return s.guards[e](t, x, u) if slot < 0 else evaluate(s, slot, t, x, u)


@kernel
def reset(s: CompiledSystem, e, t, x, u):
    """R (n_target,) of a transition; x stays as it is."""
    slot = s.slots[RESET, e]
    if slot < 0:
        return s.resets[e](t, x.copy(), u)
    return called(s, slot, t, x, u, s.dims[s.target[e]])


@inlined_kernel
def has_solution(s: CompiledSystem, mode):
    """Whether a mode's flow is known in closed form, and nothing disturbs it."""
    return s.closed and not s.disturbed and s.slots[SOLUTION, mode] != ABSENT


@kernel
def solution(s: CompiledSystem, mode, t, x, u, h):
    """State (n,) h seconds later, in closed form."""
    slot = s.slots[SOLUTION, mode]
    if slot < 0:
        return s.solutions[mode](t, x, u, h)
    s.x[-1] = h
    return called(s, slot, t, x, u, s.dims[mode])


@kernel
def solution_slopes(d: CompiledDerivatives, mode, t, x, u, h):
    """D_x (n, n) and D_u (n, m of the mode) of the closed form."""
    slot, n, m = d.slots[SLOPES, mode], len(x), d.inputs[mode]
    if slot < 0:
        return d.solution_slopes[mode](t, x, u, h)
    d.system.x[-1] = h
    both = called(d.system, slot, t, x, u, n * (n + m)).reshape((n, n + m))
    return both[:, :n].copy(), both[:, n:].copy()


@kernel
def flow_derivative(d: CompiledDerivatives, row, mode, t, x, u):
    """D_x F (n, n), row STATE, or D_u F (n, m), row INPUT; differences where it was not given."""
    slot, width = d.slots[row, mode], len(x) if row == STATE else d.inputs[mode]
    if slot == ABSENT:
        return _differences(d.system, row, mode, t, x, u)
    if slot >= 0:
        return called(d.system, slot, t, x, u, len(x) * width).reshape((len(x), width))
    return d.flow_states[mode](t, x, u) if row == STATE else d.flow_inputs[mode](t, x, u)


@kernel
def _differences(s: CompiledSystem, row, mode, t, x, u):
    """D_x F (n, n) or D_u F (n, m) by central differences."""
    size = len(x) if row == STATE else len(u)
    matrix = np.empty((len(x), size))
    for i in range(size):
        ahead = x.copy() if row == STATE else u.copy()
        behind = ahead.copy()
        h = STEP * max(1.0, abs(ahead[i]))
        ahead[i] += h
        behind[i] -= h
        if row == STATE:
            change = flow(s, mode, t, ahead, u) - flow(s, mode, t, behind, u)
        else:
            change = flow(s, mode, t, x, ahead) - flow(s, mode, t, x, behind)
        for j in range(len(x)):
            matrix[j, i] = change[j] / (2.0 * h)
    return matrix


def rate(s, mode, t, y, u):
    """dy/dt of what is integrated: by the type of ``s`` another function, see ``overload``.

    Of a ``CompiledSystem`` for states (n,), of ``CompiledDerivatives`` for (n + n (n + m),): the
    state, and the rows of its derivatives by state and input, (3.1).
    """
    if isinstance(s, CompiledSystem):
        return _disturbed_flow(s, mode, t, y, u)
    if isinstance(s, CompiledDerivatives):
        return _variational(s, mode, t, y, u)
    return as_python(RATES[type(s)])(s, mode, t, y, u)


@kernel
def _disturbed_flow(s: CompiledSystem, mode, t, x, u):
    slope = flow(s, mode, t, x, u)
    if s.disturbed:
        for i in range(len(x)):
            slope[i] += s.disturbance[i]
    return slope


@kernel
def _variational(d: CompiledDerivatives, mode, t, y, u):
    n = d.system.dims[mode]
    width = (len(y) - n) // n
    x, slope = y[:n].copy(), np.zeros(len(y))
    put(slope, flow(d.system, mode, t, x, u))
    by_state = flow_derivative(d, STATE, mode, t, x, u)
    by_input = flow_derivative(d, INPUT, mode, t, x, u) if width > n else by_state
    for i in range(n):
        for j in range(width):
            value = by_input[i, j - n] if n <= j < n + by_input.shape[1] else 0.0
            for k in range(n):
                value += by_state[i, k] * y[n + k * width + j]
            slope[n + i * width + j] = value
    return slope


def _is(kind: Any, reference: type, value: type) -> bool:
    """Whether numba's type of an argument is that of tables by reference, or by value."""
    return isinstance(kind, reference) or getattr(kind, "instance_class", None) is value


@overload(rate, inline="always")
def _rate(s, mode, t, y, u):
    def of_state(s, mode, t, y, u):
        if s.python or s.disturbed:
            return _disturbed_flow(s, mode, t, y, u)
        return s.flows[mode](t, y, u)

    if _is(s, SystemType, CompiledSystem):
        return of_state
    if _is(s, DerivativesType, CompiledDerivatives):
        return lambda s, mode, t, y, u: _variational(s, mode, t, y, u)
    return None
