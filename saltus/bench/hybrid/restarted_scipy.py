"""SciPy as a simulator of a hybrid system with one mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from hybrid.systems import Array


def restarted_scipy(
    flow: Callable[..., Any], guard: Any, reset: Callable[[Array], Array], start: Array,
    duration: float, **options: Any,
) -> tuple[Array, Array]:  # fmt: skip
    """Run ``solve_ivp``, stopped where the guard falls through zero, restarted from the reset.

    Args:
        flow: (t, x) -> dx/dt.
        guard: function (t, x) -> number, which is made a terminal event.
        reset: state before an event -> state after it.
        start: state at time 0.
        duration: [s]
        options: of ``solve_ivp``.

    Returns:
        The times of the events [s], and the state at the end.
    """
    guard.terminal, guard.direction = True, -1.0
    t, x, times = 0.0, start, []
    while True:
        run: Any = solve_ivp(flow, (t, duration), x, events=guard, **options)
        t, x = run.t[-1], run.y[:, -1]
        if run.status != 1:
            return np.array(times), x
        times.append(t)
        x = reset(x)
