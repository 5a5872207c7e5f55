"""Checks of a hybrid system's functions at sample states: what a simulation would stumble over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hybrid.derivatives import jacobian
from hybrid.failure import place, text
from hybrid.held_inputs import held_input
from hybrid.systems import Array, Derivative, FlowMap, Mode, System, Transition

_AGREEMENT = 1e-5  # relative, between a given derivative and one that is found
_FLOW_TIME = 1e-4  # [s] over which a closed form is compared with its vector field
_FLAT = 1e-6  # a gradient smaller than this is none, if the guard itself is this close to zero
_MET = 1e-14  # a guard this close to zero need not be approached further
_NEWTON_STEPS = 50  # toward a guard; one that is flat there is approached by halves


class _Claim(NamedTuple):
    """A function's value, the shape it must have, and what it must equal if that is known."""

    name: str
    value: Callable[[], Any]
    shape: tuple[int, ...]
    truth: Callable[[], Any] | None = None


def check_system(
    system: System, samples: Mapping[int, ArrayLike], t: float = 0.0, u: Array | None = None
) -> list[str]:
    """Evaluate every function of a system at sample states; one line for each fault found.

    Reported are values of a wrong shape or not finite, given derivatives that differ from those
    found by complex step or differences, closed-form flows that do not follow their vector field,
    and guards whose gradient vanishes where they are met, which are not regular (Definition 1, 5).
    Each line names the mode, the time, the state, the function and its transition.

    Args:
        system: the hybrid system.
        samples: by number of the mode, states (K, n); every mode should have some.
        t: time [s].
        u: input (m,), as wide as that of the mode that takes most; zeros where it is left out.

    Raises:
        ValueError: samples of a mode that is not there, or of another dimension than it has.
    """
    unknown = sorted(set(samples) - set(system.modes))
    if unknown:
        raise ValueError(f"there are no modes {unknown}; the system has {sorted(system.modes)}")
    lines, held = [], held_input(system, u)
    for number, mode in system.modes.items():
        states = _states(mode, samples.get(number, ()))
        if not len(states):
            lines.append(f"mode {mode.name} ({number}) has no samples, so was not checked")
        for x in states:
            where = place(system, number, t, x)
            lines += [f"{where}: {fault}" for fault in _faults(system, number, t, x, held)]
    return lines


def _states(mode: Mode, given: ArrayLike) -> Array:
    states = np.asarray(given, dtype=np.float64)
    if states.size and (states.ndim != 2 or states.shape[1] != mode.state_dim):
        raise ValueError(
            f"samples of mode {mode.name} have shape {states.shape}; give (K, {mode.state_dim})"
        )
    return states


def _faults(system: System, number: int, t: float, x: Array, u: Array) -> Iterator[str]:
    mode = system.modes[number]
    own = u[: mode.input_dim]
    yield from _broken(_flow_claims(mode, t, x, own))
    if mode.flow_map is not None:
        yield from _broken(_flow_map_claims(mode, mode.flow_map, t, x, own))
    for edge in system.outgoing(number):
        faults = list(_broken(_guard_claims(edge, t, x, u)))
        if not faults:
            faults += _irregular(edge, t, x, u)
        yield from faults
        yield from _broken(_reset_claims(edge, system.modes[edge.target], t, x, u))


def _flow_claims(mode: Mode, t: float, x: Array, u: Array) -> Iterator[_Claim]:
    n, m = mode.state_dim, mode.input_dim
    yield _Claim("the flow", lambda: mode.flow(t, x, u), (n,))
    yield _derivative("flow_state", mode.flow_state, mode.flow, "state", (n, n), t, x, u)
    yield _derivative("flow_input", mode.flow_input, mode.flow, "input", (n, m), t, x, u)


def _flow_map_claims(
    mode: Mode, solution: FlowMap, t: float, x: Array, u: Array
) -> Iterator[_Claim]:
    n, m, h = mode.state_dim, mode.input_dim, _FLOW_TIME

    def rate() -> Array:
        return (solution.state(t, x, u, h) - solution.state(t, x, u, -h)) / (2.0 * h)

    def by_state() -> Array:
        return jacobian(lambda y: solution.state(t, y, u, h), x)

    def by_input() -> Array:
        return jacobian(lambda v: solution.state(t, x, v, h), u)

    yield _Claim("flow_map.state", lambda: solution.state(t, x, u, h), (n,))
    yield _Claim("the rate of flow_map.state", rate, (n,), lambda: mode.flow(t, x, u))
    jacobians = solution.jacobians
    yield _Claim("D_x of flow_map", lambda: jacobians(t, x, u, h)[0], (n, n), by_state)
    yield _Claim("D_u of flow_map", lambda: jacobians(t, x, u, h)[1], (n, m), by_input)


def _guard_claims(edge: Transition, t: float, x: Array, u: Array) -> Iterator[_Claim]:
    label, n, m = f"of {edge.label}", len(x), len(u)
    yield _Claim(f"the guard {label}", lambda: edge.guard(t, x, u), ())
    yield _derivative(f"guard_state {label}", edge.guard_state, edge.guard, "state", (n,), t, x, u)
    yield _derivative(f"guard_input {label}", edge.guard_input, edge.guard, "input", (m,), t, x, u)
    yield _derivative(f"guard_time {label}", edge.guard_time, edge.guard, "time", (), t, x, u)


def _reset_claims(edge: Transition, target: Mode, t: float, x: Array, u: Array) -> Iterator[_Claim]:
    label, n = f"of {edge.label}", target.state_dim

    def reset_time(t: float, x: Array, u: Array) -> Array:
        value = np.asarray(edge.reset_time(t, x, u))
        return np.full(n, value) if value.shape == () else value  # a number stands for n of it

    yield _Claim(f"the reset {label}", lambda: edge.reset(t, x, u), (n,))
    for name, given, by, width in (
        ("reset_state", edge.reset_state, "state", len(x)),
        ("reset_input", edge.reset_input, "input", len(u)),
    ):
        yield _derivative(f"{name} {label}", given, edge.reset, by, (n, width), t, x, u)
    yield _derivative(f"reset_time {label}", reset_time, edge.reset, "time", (n,), t, x, u)


def _derivative(
    name: str, given: Any, function: Any, by: Any, shape: tuple[int, ...], t: float, x: Array,
    u: Array,
) -> _Claim:  # fmt: skip
    return _Claim(name, lambda: given(t, x, u), shape, lambda: Derivative(function, by)(t, x, u))


def _broken(claims: Iterable[_Claim]) -> Iterator[str]:
    """What is wrong with claims about one function; the first wrong value or shape ends it."""
    for name, value, shape, truth in claims:
        is_value, fault = truth is None, None
        found = np.asarray(value())
        if found.shape != shape:
            fault = f"has shape {found.shape} and must have {shape}"
        elif not np.isfinite(found).all():
            fault = f"is not finite: {text(found)}"
        elif truth is not None and not _close(found, wanted := np.asarray(truth())):
            fault = f"is {text(found)}, and found by differences {text(wanted)}: one is wrong"
        if fault is not None:
            yield f"{name} {fault}"
            if is_value:
                return


def _close(a: Array, b: Array) -> bool:
    scale = 1.0 + float(np.max(np.abs(b), initial=0.0))
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= _AGREEMENT * scale))


def _irregular(edge: Transition, t: float, x: Array, u: Array) -> Iterator[str]:
    """Whether the guard's gradient vanishes on it, looked for from x down its gradient."""
    y = x
    for _ in range(_NEWTON_STEPS):
        value, gradient = edge.guard(t, y, u), edge.guard_state(t, y, u)
        size = float(gradient @ gradient)
        if size <= _FLAT**2 or abs(value) < _MET:
            break
        y = y - value * gradient / size
    if abs(value) < _FLAT and size <= _FLAT**2:
        yield (
            f"the guard of {edge.label} has no gradient where it is met, at x = {text(y)}, and so"
            " is not regular (Definition 1, 5): write it so that it falls through zero with a slope"
        )
