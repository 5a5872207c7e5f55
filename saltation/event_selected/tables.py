"""An event-selected system's functions as first-class functions: one kernel walks all systems.

A function that numba cannot compile is called back in Python from a compiled shell: slower, and
by the very same kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import cfunc, njit, objmode

from saltation.arrays import Flags, Shape
from saltation.compiled.native import MATRIX, VECTOR, check_shape, example, native
from saltation.event_selected.system import EventSelectedSystem
from saltation.systems import Array

FLOW = VECTOR(VECTOR, VECTOR, VECTOR)
EVENTS = VECTOR(VECTOR, VECTOR)
EVENTS_STATE = MATRIX(VECTOR, VECTOR)


class Tables(NamedTuple):
    """A system as the kernels see it, of one type for all systems."""

    flow: Any  # numba's CFunc of the signature FLOW
    events: Any
    events_state: Any
    rearm: Flags  # (m, m)
    p: Array  # (k,)


class TableSet(NamedTuple):
    """The tables, why they call Python where they do, and what Python raised meanwhile."""

    tables: Tables
    reason: str  # "" where all is compiled
    errors: list[Exception]


def native_tables(system: EventSelectedSystem) -> TableSet:
    """Compile a system's functions, once.

    Raises:
        ValueError: a function returns another shape than the system says.
    """
    code = getattr(system, "_native_tables", None)
    if code is None:
        code = _compile(system)
        vars(system)["_native_tables"] = code
    return code


def _compile(system: EventSelectedSystem) -> TableSet:
    n, m, errors, reasons = system.state_dim, system.event_count, [], []
    x, p, side = example(n), system.parameters, np.ones(m)
    functions: list[Any] = []
    for name, signature, shape, arguments in (
        ("flow", FLOW, (n,), (x, side, p)),
        ("events", EVENTS, (m,), (x, p)),
        ("events_state", EVENTS_STATE, (m, n), (x, p)),
    ):
        function = getattr(system, name)
        check_shape(function, arguments, shape, f"system {system.name}: {name}")
        try:
            functions.append(native(cfunc, getattr(function, "py_func", function), signature))
        except Exception as error:  # numba has no one error for what it cannot do
            reasons.append(f"{name}: {' '.join(str(error).split())[:200]}")
            functions.append(_SHELLS[name](_callback(function, shape, errors)))
    flow, events, events_state = functions
    tables = Tables(flow, events, events_state, system.rearm, p)
    return TableSet(tables, "; ".join(reasons), errors)


def _callback(function: Callable, shape: Shape, errors: list[Exception]) -> Callable:
    """The function as compiled code may call it: it never raises, and returns floats."""

    def call(*arguments: Array) -> Array:
        try:
            return np.array(function(*arguments), float).reshape(shape)
        except Exception as error:  # raised once the kernel has returned
            errors.append(error)
            return np.full(shape, np.nan)

    return call


def _flow_shell(python: Callable) -> Any:
    @njit(FLOW)
    def shell(x, side, p):
        with objmode(value=VECTOR):
            value = python(x, side, p)
        return value  # noqa: F821 (objmode defines it)

    return cfunc(FLOW)(lambda x, side, p: shell(x, side, p))


def _shell(python: Callable, signature: Any) -> Any:
    """Shell of the event functions or their derivative, which have the same arguments."""
    kind = signature.return_type

    @njit(signature)
    def shell(x, p):
        with objmode(value=kind):
            value = python(x, p)
        return value  # noqa: F821

    return cfunc(signature)(lambda x, p: shell(x, p))


_SHELLS = {
    "flow": _flow_shell,
    "events": partial(_shell, signature=EVENTS),
    "events_state": partial(_shell, signature=EVENTS_STATE),
}
