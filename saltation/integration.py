"""Flows of single modes, and their first-order maps (3.1), by the simulation's kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from saltation.arrays import Pair
from saltation.compiled.limits import RESOLUTION, Limits
from saltation.compiled.piece import flow_for, jacobians
from saltation.compiled.system import callback_tables
from saltation.options import SimulationOptions
from saltation.systems import Array, Mode, System

Field = Callable[[float, Array], Array]  # (t [s], y) -> dy/dt


def integrate(
    field: Field, t: float, y: Array, duration: float, options: SimulationOptions | None = None
) -> Array:
    """Solution (n,) after ``duration`` seconds, which may be negative; NaN when it has none."""
    mode = Mode("field", len(y), 0, lambda s, x, u: field(s, x))
    return flow_state(mode, t, np.asarray(y, float), np.zeros(0), duration, options)


def flow_state(
    mode: Mode,
    t: float,
    x: Array,
    u: Array,
    duration: float,
    options: SimulationOptions | None = None,
    resolved: bool = False,
) -> Array:
    """State (n,) after a mode's flow with the input held; closed form where the mode has one.

    ``resolved``: the duration is short enough for what the flow does in it, so that it is not
    looked at between steps.
    """
    return _along(flow_for, mode, (t, x, u, duration), options, resolved)


def flow_jacobians(
    mode: Mode,
    t: float,
    x: Array,
    u: Array,
    duration: float,
    options: SimulationOptions | None = None,
    resolved: bool = False,
) -> Pair:
    """D_x (n, n) and D_u (n, m) of the flow over a duration [s] with the input held.

    From the closed form, or from the variational equations (3.1). ``resolved`` is as
    in ``flow_state``.
    """
    return _along(jacobians, mode, (t, x, u, duration), options, resolved, derivatives=True)


def _along(
    kernel: Any, mode: Mode, at: tuple[float, Array, Array, float],
    options: SimulationOptions | None, resolved: bool, derivatives: bool = False,
) -> Any:  # fmt: skip
    """Result of a kernel along the flow of a mode, in a system that has this mode only."""
    (t, x, u, duration), system = at, getattr(mode, "_system", None)
    if system is None:
        system = vars(mode)["_system"] = System({0: mode}, ())
    tables, limits = callback_tables(system), Limits.of(options or SimulationOptions())
    u = u[: mode.input_dim]  # an input is as wide as that of the mode that takes most
    spacing = np.inf if resolved else abs(duration) / RESOLUTION
    at = float(t), x, u, float(duration)
    result = tables.call(kernel, 0, *at, spacing, limits, derivatives=derivatives)
    tables.callbacks.raise_errors()
    return result
