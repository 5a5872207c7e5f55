"""Integration of smooth flows: Dormand-Prince 5(4), and the variational equations (3.1).

Own and small for one reason: an event is located by repeating the very step that crossed it with
a shorter length, so the event time is as accurate as the integrator, not as an interpolant.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hybrid.options import SimulationOptions
from hybrid.systems import Array, Mode

Field = Callable[[float, Array], Array]  # (t [s], y) -> dy/dt
NODES = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
STAGES = (
    np.array([]),
    np.array([1 / 5]),
    np.array([3 / 40, 9 / 40]),
    np.array([44 / 45, -56 / 15, 32 / 9]),
    np.array([19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]),
    np.array([9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]),
    np.array([35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]),
)
ERROR = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
# Of the continuous extension: Hairer, Norsett, Wanner, Solving ODEs I, II.6 (Shampine 1986).
DENSE = np.array(
    [
        -12715105075 / 11282082432,
        0.0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ]
)
_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 5.0


def dormand_prince(field: Field, t: float, y: Array, h: float) -> tuple[Array, Array]:
    """One step of h [s] from y (n,): the fifth-order result and its error estimate, both (n,)."""
    end, slopes = dormand_prince_stages(field, t, y, h, field(t, y))
    return end, h * (ERROR @ slopes)


def dormand_prince_stages(
    field: Field, t: float, y: Array, h: float, first: Array
) -> tuple[Array, Array]:
    """The same step where ``first`` = field(t, y) is known: its result (n,), its slopes (7, n).

    The last of the slopes is the first of the step that follows.
    """
    slopes = np.empty((7, len(y)))
    slopes[0] = first
    end = y
    for i in range(1, 7):
        end = y + h * (STAGES[i] @ slopes[:i])
        slopes[i] = field(t + NODES[i] * h, end)
    return end, slopes


def dense_output(y: Array, end: Array, slopes: Array, h: float, part: float) -> Array:
    """State (n,) at a part in [0, 1] of the step of h [s] from y to ``end``; of fourth order.

    The continuous extension meets values and slopes at both ends of the step.
    """
    change, left = end - y, 1.0 - part
    start = h * slopes[0] - change
    curve = change - h * slopes[6] - start + left * h * (DENSE @ slopes)
    return y + part * (change + left * (start + part * curve))


def adaptive_step(
    field: Field, t: float, y: Array, h: float, options: SimulationOptions
) -> tuple[Array, float, float]:
    """First accepted step of at most h [s]: the state, the step taken, and the next to try.

    A step that has shrunk to ``min_step`` is taken whatever its error, so this always ends; a
    state that is not finite comes back as it is.
    """
    return adaptive_stages(field, t, y, h, field(t, y), options)[:3]


def adaptive_stages(
    field: Field, t: float, y: Array, h: float, first: Array, options: SimulationOptions
) -> tuple[Array, float, float, Array]:
    """``adaptive_step`` where ``first`` = field(t, y) is known; also the step's slopes (7, n)."""
    h = float(np.copysign(min(abs(h), options.max_step), h))
    while True:
        end, slopes = dormand_prince_stages(field, t, y, h, first)
        scale = options.atol + options.rtol * np.maximum(abs(y), abs(end))
        size = float((abs(h * (ERROR @ slopes)) / scale).max(initial=0.0))
        if size <= 1.0 or abs(h) <= options.min_step:
            factor = _GROW if size == 0.0 else min(_GROW, _SAFETY * size**-0.2)
            return end, h, h * factor, slopes
        shrink = _SAFETY * size**-0.2 if np.isfinite(size) else _SHRINK
        h *= max(_SHRINK, shrink)


def integrate(
    field: Field,
    t: float,
    y: Array,
    duration: float,
    options: SimulationOptions | None = None,
) -> Array:
    """Solution (n,) after ``duration`` seconds, which may be negative; NaN when it has none."""
    options = options or SimulationOptions()
    h, end = duration, t + duration
    slope = field(t, y) if t != end else y
    for _ in range(options.max_steps):
        if t == end or not np.all(np.isfinite(y)):
            return y
        left = end - t
        trial = min(h, left, key=abs)
        y, taken, h, slopes = adaptive_stages(field, t, y, trial, slope, options)
        t, slope = (end if taken == left else t + taken), slopes[6]
    return y if t == end else np.full_like(y, np.nan)


def flow_state(
    mode: Mode,
    t: float,
    x: Array,
    u: Array,
    duration: float,
    options: SimulationOptions | None = None,
) -> Array:
    """State (n,) after a mode's flow with the input held; closed form where the mode has one."""
    if mode.flow_map is not None:
        return mode.flow_map.state(t, x, u, duration)
    return integrate(lambda s, y: mode.flow(s, y, u), t, x, duration, options)


def flow_jacobians(
    mode: Mode,
    t: float,
    x: Array,
    u: Array,
    duration: float,
    options: SimulationOptions | None = None,
) -> tuple[Array, Array]:
    """D_x (n, n) and D_u (n, m) of the flow over a duration [s] with the input held.

    From the closed form, or from the variational equations (3.1), dA/dt = D_x F A and
    dB/dt = D_x F B + D_u F, integrated along with the state.
    """
    n, m = mode.state_dim, mode.input_dim
    u = u[:m]  # an input is as wide as that of the mode that takes most
    if mode.flow_map is not None:
        return mode.flow_map.jacobians(t, x, u, duration)

    def field(s: float, y: Array) -> Array:
        z, sensitivity = y[:n], y[n:].reshape(n, n + m)
        rate = mode.flow_state(s, z, u) @ sensitivity
        rate[:, n:] += mode.flow_input(s, z, u)
        return np.concatenate((mode.flow(s, z, u), rate.ravel()))

    start = np.concatenate((x, np.eye(n, n + m).ravel()))
    end = integrate(field, t, start, duration, options)[n:].reshape(n, n + m)
    return end[:, :n], end[:, n:]
