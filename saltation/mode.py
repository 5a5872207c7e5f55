"""Modes and transitions of hybrid systems: Definition 1 of the thesis, as plain data.

A system is a set of modes J, each with a vector field F on its domain D, and a set of directed
transitions Gamma, each with a guard G = {x : g(t, x) <= 0} and a reset R. The input is held
constant over a timestep and handed to every function as u (m,). Modes may differ in dimension.

Derivatives may be given; one that is left out comes from ``saltation.derivatives``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from saltation.arrays import Array, Pair
from saltation.derivatives import jacobian
from saltation.options import check_choice

VectorFunction = Callable[[float, Array, Array], Array]  # (t [s], x, u) -> array
ScalarFunction = Callable[[float, Array, Array], float]
On = Literal["level", "edge"]  # see ``Transition``
_BEHIND = 1e-6  # of the scale of a guard
LEFT_OUT: Any = None  # a function that is derived from others


class FlowMap(NamedTuple):
    """Closed-form solution of a mode's flow over h seconds (h may be negative), input held.

    ``jacobians`` gives D_x (n, n) and D_u (n, m); left out, they are integrated, (3.1).
    """

    state: Callable[[float, Array, Array, float], Array]  # (t, x, u, h) -> x(t + h)
    jacobians: Callable[[float, Array, Array, float], Pair] = LEFT_OUT  # D_x, D_u


class Derivative(NamedTuple):
    """Derivative of a function of (t, x, u), called as that function is."""

    function: Callable[[float, Array, Array], Any]
    by: Literal["time", "state", "input"]

    def __call__(self, t: float, x: Array, u: Array) -> Any:
        """The derivative at (t, x, u); its last axis is that of x or u."""
        if self.by == "state":
            return jacobian(lambda y: self.function(t, y, u), x)
        if self.by == "input":
            return jacobian(lambda v: self.function(t, np.array(x), v), u)
        return jacobian(lambda s: self.function(s[0], np.array(x), u), np.array([t]))[..., 0]


def zero_rate(t: float, x: Array, u: Array) -> Any:
    """D_t g of a guard, or D_t R of a reset, that does not depend on time."""
    return 0.0


@dataclass(frozen=True)
class Mode:
    """One discrete mode: its domain's dimension, its vector field and the field's derivatives."""

    name: str
    state_dim: int  # n
    input_dim: int  # m, may be zero
    flow: VectorFunction  # F(t, x, u) (n,)
    flow_state: VectorFunction = LEFT_OUT  # D_x F (n, n)
    flow_input: VectorFunction = LEFT_OUT  # D_u F (n, m)
    flow_map: FlowMap | None = None  # used in place of numerical integration where there is one

    def __post_init__(self) -> None:
        """Find the derivatives that were left out."""
        complete(self, "flow_state", Derivative(self.flow, "state"))
        complete(self, "flow_input", Derivative(self.flow, "input"))

    def __getstate__(self) -> dict[str, Any]:
        """Pickled state: not the system of this mode alone, see ``saltation.integration``."""
        return {name: value for name, value in vars(self).items() if name != "_system"}


@dataclass(frozen=True)
class Transition:
    """An edge (source, target) of Gamma: its guard, its reset, and their derivatives.

    The guard must be positive in the domain and fall through zero at the event. With
    ``time_invariant`` the derivatives by time are zero. A transition with ``rest`` is not watched
    for: it is taken in place of one that grazes its guard, or of events without end (Zeno), and
    leads into a mode of rest.

    ``on`` "level" it happens where the guard is negative, also where the mode is entered behind it;
    on "edge" only where the guard falls through zero.
    """

    source: int
    target: int
    guard: ScalarFunction  # g(t, x, u)
    reset: VectorFunction  # R(t, x, u) (n_target,)
    guard_state: VectorFunction = LEFT_OUT  # D_x g (n_source,)
    reset_state: VectorFunction = LEFT_OUT  # D_x R (n_target, n_source)
    guard_time: ScalarFunction = LEFT_OUT  # D_t g
    reset_time: VectorFunction = LEFT_OUT  # D_t R (n_target,)
    guard_input: VectorFunction = LEFT_OUT  # D_u g (m,)
    reset_input: VectorFunction = LEFT_OUT  # D_u R (n_target, m)
    name: str = ""
    time_invariant: bool = False
    rest: bool = False
    on: On = "level"
    watch: bool = field(default=False, repr=False)  # not taken: an ``Event``

    @staticmethod
    def continuous(
        source: int, target: int, guard: ScalarFunction, name: str = "",
        time_invariant: bool = False, guard_state: VectorFunction = LEFT_OUT,
        on: On = "level",
    ) -> Transition:  # fmt: skip
        """A transition that leaves the state as it is: R = x.

        Raises:
            ValueError: it leads back to its mode, so it would change nothing.
        """
        if source == target:
            raise ValueError(
                f"transition {name} ({source}, {target}) changes neither mode nor state, and would"
                " happen again at once: give simulate an sa.Event(guard) to find where a guard"
                " turns zero"
            )
        return Transition(
            source, target, guard, same_state, guard_state, _identity, reset_time=zero_rate,
            reset_input=_no_reset_input, name=name, time_invariant=time_invariant, on=on,
        )  # fmt: skip

    def __post_init__(self) -> None:
        """Find the derivatives that were left out.

        Raises:
            ValueError: ``on`` is neither of the two.
        """
        check_choice("on", self.on, On)
        if self.time_invariant:
            vars(self)["guard_time"] = zero_rate
            vars(self)["reset_time"] = zero_rate  # a number stands for a vector of it
        for by in ("state", "time", "input"):
            complete(self, f"guard_{by}", Derivative(self.guard, by))
            complete(self, f"reset_{by}", Derivative(self.reset, by))

    def is_behind(self, t: float, x: Array, u: Array) -> bool:
        """Whether a state lies behind the guard, farther than by rounding."""
        scale = np.abs(self.guard_state(t, x, u)) @ np.abs(x)
        return not self.rest and bool(self.guard(t, x, u) < -_BEHIND * scale)

    @property
    def label(self) -> str:
        """Name for messages: "impact (1, 2)"."""
        return f"{self.name} ({self.source}, {self.target})".strip()


def same_state(t: float, x: Array, u: Array) -> Array:
    """The reset that leaves the state as it is."""
    return x.copy()


def _identity(t: float, x: Array, u: Array) -> Array:
    return np.eye(len(x))


def _no_reset_input(t: float, x: Array, u: Array) -> Array:
    return np.zeros((len(x), len(u)))


def complete(owner: Any, name: str, default: Any) -> None:
    """Set a function that was left out, or whose default was made of another owner's functions."""
    given = getattr(owner, name)
    if given is LEFT_OUT or isinstance(given, type(default)):
        vars(owner)[name] = default
