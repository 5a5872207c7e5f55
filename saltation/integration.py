"""Flows of single modes, and their first-order maps (3.1), by the simulation's kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from saltation.arrays import Pair
from saltation.compiled.limits import RESOLUTION, Limits
from saltation.compiled.piece import flow_for, jacobians
from saltation.compiled.system import TableSet, callback_tables
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
    tables, limits = _alone(mode), Limits.of(options or SimulationOptions())
    u, spacing = u[: mode.input_dim], np.inf if resolved else abs(duration) / RESOLUTION
    end = tables.call(flow_for, 0, float(t), x, u, float(duration), spacing, limits)
    tables.callbacks.raise_errors()
    return end


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
    tables, limits = _alone(mode), Limits.of(options or SimulationOptions())
    u = u[: mode.input_dim]  # an input is as wide as that of the mode that takes most
    spacing = np.inf if resolved else abs(duration) / RESOLUTION
    A, B = tables.call(
        jacobians, 0, float(t), x, u, float(duration), spacing, limits, derivatives=True
    )
    tables.callbacks.raise_errors()
    return A, B


def _alone(mode: Mode) -> TableSet:
    """Tables of a system that has this mode only."""
    system = getattr(mode, "_system", None)
    if system is None:
        system = System({0: mode}, ())
        vars(mode)["_system"] = system
    return callback_tables(system)
