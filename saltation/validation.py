"""Checks of a hybrid system's functions at sample states: what a simulation would stumble over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from saltation.arrays import Shape
from saltation.derivatives import jacobian
from saltation.failure import place, text
from saltation.held_inputs import held_input
from saltation.systems import Array, Derivative, FlowMap, Mode, System, Transition

_AGREEMENT = 1e-5  # relative, between a given derivative and differences
_FLOW_TIME = 1e-4  # [s] over which a closed form is compared with its vector field
_FLAT = 1e-6  # a gradient smaller than this is none, if the guard itself is this close to zero
_ON_GUARD = 1e-14  # guard values smaller than this are zero
_NEWTON_STEPS = 50  # toward a guard; one that is flat there is approached by halves


class _Point(NamedTuple):
    """Arguments of a system's functions."""

    t: float
    x: Array
    u: Array


class _Claim(NamedTuple):
    """Value of a function, the shape it must have, and the value it must have if that is known."""

    name: str
    value: Any
    shape: Shape
    truth: Any = None


def check_system(
    system: System, samples: Mapping[int, ArrayLike], t: float = 0.0, u: Array | None = None
) -> list[str]:
    """Evaluate every function of a system at sample states; return one line for each fault.

    Faults are values of a wrong shape or not finite, given derivatives that differ from
    ``saltation.derivatives``, closed-form flows that do not follow their vector field, guards whose
    gradient vanishes on the guard, which are not regular (Definition 1, 5), and guards that are
    negative at a sample, or where a reset leads. Each line names
    the mode, the time, the state, the function and its transition.

    Args:
        system: the hybrid system.
        samples: states (K, n) of each mode, by its number; every mode should have some.
        t: time [s].
        u: input (m,) of the mode with most inputs; by default zeros.

    Raises:
        ValueError: samples of a mode that does not exist, or of another dimension.
    """
    missing = sorted(set(samples) - set(system.modes))
    if missing:
        raise ValueError(f"there are no modes {missing}; the system has {sorted(system.modes)}")
    lines, full_input = [], held_input(system, u)
    for number, mode in system.modes.items():
        states = _states(mode, samples.get(number, ()))
        if not len(states):
            lines.append(f"mode {mode.name} ({number}) has no samples, so was not checked")
        for x in states:
            where = place(system, number, t, x)
            lines += [f"{where}: {fault}" for fault in _faults(system, number, t, x, full_input)]
    return lines


def _states(mode: Mode, samples: ArrayLike) -> Array:
    states = np.asarray(samples, float)
    if states.size and (states.ndim != 2 or states.shape[1] != mode.state_dim):
        raise ValueError(
            f"samples of mode {mode.name} have shape {states.shape}; give (K, {mode.state_dim})"
        )
    return states


def _faults(system: System, number: int, t: float, x: Array, u: Array) -> Iterator[str]:
    mode = system.modes[number]
    at, own = _Point(t, x, u), _Point(t, x, u[: mode.input_dim])
    n = (mode.state_dim,)
    yield from _broken(_claims(mode, "flow", n, own, by=("state", "input")))
    if mode.flow_map is not None:
        yield from _broken(_flow_map_claims(mode, mode.flow_map, own))
    for edge in system.outgoing(number):
        faults = list(_broken(_claims(edge, "guard", (), at)))
        faults = faults or list(_on_guard(system, edge, at))
        if not faults and edge.on == "level" and edge.is_behind(*at):
            faults = [
                f"the guard of {edge.label} is negative: the mode is left at once; turn its sign if"
                " that is wrong, or let it happen on='edge'"
            ]
        yield from faults
        yield from _broken(_claims(edge, "reset", (system.modes[edge.target].state_dim,), at))


def _claims(
    owner: Mode | Transition,
    kind: Literal["flow", "guard", "reset"],
    shape: Shape,
    at: _Point,
    by: tuple[Literal["state", "input", "time"], ...] = ("state", "input", "time"),
) -> Iterator[_Claim]:
    """A function of a mode or transition, and its derivatives; each is evaluated when asked for."""
    function = getattr(owner, kind)
    suffix = f" of {owner.label}" if isinstance(owner, Transition) else ""
    yield _Claim(f"the {kind}{suffix}", function(*at), shape)
    widths = {"state": (len(at.x),), "input": (len(at.u),), "time": ()}
    for variable in by:
        value = np.asarray(getattr(owner, f"{kind}_{variable}")(*at))
        if variable == "time" and value.shape == ():
            value = np.full(shape, value)  # a number stands for a vector of it
        truth = Derivative(function, variable)(*at)
        yield _Claim(f"{kind}_{variable}{suffix}", value, (*shape, *widths[variable]), truth)


def _flow_map_claims(mode: Mode, solution: FlowMap, at: _Point) -> Iterator[_Claim]:
    (t, x, u), n, m, h = at, mode.state_dim, mode.input_dim, _FLOW_TIME
    yield _Claim("flow_map.state", solution.state(t, x, u, h), (n,))
    rate = (solution.state(t, x, u, h) - solution.state(t, x, u, -h)) / (2.0 * h)
    yield _Claim("the rate of flow_map.state", rate, (n,), mode.flow(t, x, u))
    D_x, D_u = solution.jacobians(t, x, u, h)
    yield _Claim("D_x of flow_map", D_x, (n, n), jacobian(lambda y: solution.state(t, y, u, h), x))
    yield _Claim("D_u of flow_map", D_u, (n, m), jacobian(lambda v: solution.state(t, x, v, h), u))


def _broken(claims: Iterable[_Claim]) -> Iterator[str]:
    """Faults of claims about one function; a wrong value or shape of the function ends them."""
    for name, given, shape, truth in claims:
        value, fault = np.asarray(given), None
        if value.shape != shape:
            fault = f"has shape {value.shape} and must have {shape}"
        elif not np.isfinite(value).all():
            fault = f"is not finite: {text(value)}"
        elif truth is not None and not _close(value, np.asarray(truth)):
            fault = f"is {text(value)}, and by differences {text(truth)}: one is wrong"
        if fault is not None:
            yield f"{name} {fault}"
            if truth is None:
                return


def _close(a: Array, b: Array) -> bool:
    scale = 1.0 + float(np.max(np.abs(b), initial=0.0))
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= _AGREEMENT * scale))


def _on_guard(system: System, edge: Transition, at: _Point) -> Iterator[str]:
    """Whether the gradient vanishes on the guard, by Newton's method; where the reset leads."""
    (t, y, u), value, size = at, np.inf, np.inf
    for _ in range(_NEWTON_STEPS):
        value, gradient = edge.guard(t, y, u), edge.guard_state(t, y, u)
        size = float(gradient @ gradient)
        if size <= _FLAT**2 or abs(value) < _ON_GUARD:
            break
        y = y - value * gradient / size
    if abs(value) < _FLAT and size <= _FLAT**2:
        yield (
            f"the guard of {edge.label} has no gradient on the guard, at x = {text(y)}, and so"
            " is not regular (Definition 1, 5): write it so that it falls through zero with a slope"
        )
    after = np.asarray(edge.reset(t, y.copy(), u))
    if abs(value) >= _FLAT or after.shape != (system.modes[edge.target].state_dim,):
        return
    for other in system.outgoing(edge.target):
        if other.on == "level" and other.is_behind(t, after, u):
            yield (
                f"the reset of {edge.label} from x = {text(y)} leads behind the guard of"
                f" {other.label}, which happens at once; let it happen on='edge' if it is to wait"
            )
