"""Functions of a system that take parameters: bound to values, or with parameters as inputs.

Such a function has one argument more than others, p (k,), as its last: flow(t, x, u, p). Everything
in the library that knows no parameters is given functions bound to their values. Derivatives by
parameters are those by the input of a system whose input is (u, p).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from saltation.mode import Array, Derivative, FlowMap, Mode


@dataclass(eq=False)
class Binding:
    """A function (t, x, u, ..., p) with its parameters' values (k,)."""

    function: Callable
    parameters: Array  # (k,)

    def __call__(self, *arguments: Any) -> Any:
        """The function at (t, x, u) or (t, x, u, h)."""
        return self.function(*arguments, self.parameters)


@dataclass(eq=False)
class ByInput:
    """A function of (t, x, u, ..., p), or without p, as one of (t, x, (u, p), ...)."""

    function: Callable
    inputs: int  # the numbers of u, which come first
    takes_p: bool

    def __call__(self, t: float, x: Array, v: Array, *step: float) -> Any:
        """The function at (t, x, v) or (t, x, v, h)."""
        u, p = v[: self.inputs], v[self.inputs :]
        return self.function(t, x, u, *step, p) if self.takes_p else self.function(t, x, u, *step)


def takes_parameters(function: Callable, others: int = 3) -> bool:
    """Whether a function takes one argument more than the ``others``; a flow map takes 4."""
    if isinstance(function, Derivative | Binding):
        return False
    python = getattr(function, "py_func", function)
    names = inspect.signature(python).parameters.values()
    return len([p for p in names if p.kind == p.POSITIONAL_OR_KEYWORD]) > others


def bind(owner: Any, parameters: Array) -> Any:
    """A mode or a transition whose functions that take parameters are bound to values (k,)."""

    def bind_function(function: Callable, others: int = 3) -> Callable:
        return Binding(function, parameters) if takes_parameters(function, others) else function

    return _map(owner, bind_function)


def with_parameters_as_inputs(owner: Any, inputs: int, count: int) -> Any:
    """A mode or a transition of functions of (t, x, (u, p)), with u (inputs,) and p (count,)."""

    def by_input(function: Callable, others: int = 3) -> Callable:
        return ByInput(function, inputs, takes_parameters(function, others))

    result = _map(owner, by_input)
    if isinstance(owner, Mode):
        return replace(result, input_dim=inputs + count, flow_input=None)
    return replace(result, guard_input=None, reset_input=None)


def _map(owner: Any, change: Callable) -> Any:
    """A mode or a transition with every function changed; derivatives left out stay so."""
    changes: dict[str, Any] = {}
    for field in fields(owner):
        value = getattr(owner, field.name)
        if isinstance(value, Derivative):
            changes[field.name] = None
        elif isinstance(value, FlowMap):
            maps: Any = (None if f is None else change(f, 4) for f in value)
            changes[field.name] = FlowMap(*maps)
        elif callable(value):
            changes[field.name] = change(value)
    return replace(owner, **changes)


def as_parameters(parameters: Any) -> Array:
    """Parameters (k,) as numbers.

    Raises:
        ValueError: they are no vector of finite numbers.
    """
    p = np.array(parameters, float)
    if p.ndim != 1 or not np.all(np.isfinite(p)):
        raise ValueError(f"parameters {parameters!r}: give a vector of finite numbers")
    return p
