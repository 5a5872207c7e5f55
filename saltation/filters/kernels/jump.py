"""Kernel of a transition: the state after it, and the map of the covariance through it (3.2)."""

# ruff: noqa: N806 (the letters are the thesis's)

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from saltation.compiled.calls import flow, guard, reset
from saltation.filters.kernels.functions import (
    derivatives_by_time,
    guard_gradient,
    on_manifold,
    part,
    reset_jacobian,
    tangent_map,
)
from saltation.filters.kernels.matrices import add, product, sandwich, times
from saltation.filters.kernels.path import (
    SLOWEST,
    active_transition,
    guard_set,
    inactive_guards,
    rate_of,
)
from saltation.kernels import kernel
from saltation.saltations import JUMPED
from saltation.systems import Array


class Jump(NamedTuple):
    """A transition, and those that its reset sets off, as one."""

    mode: Any  # index of the mode after it
    x: Array  # state after it
    D: Array  # Xi or D_x R (k_target, k) of tangent vectors
    noise: Array  # W_R of the resets together (k_target, k_target)
    origin: Any  # mode before the last of the resets
    transitions: int
    cycle: bool  # whether it led to a mode that was visited before
    transverse: bool


@kernel
def is_deep_inside(f, e, t, x, u):
    """Whether a state lies so deep inside a guard that it did not get there by the flow."""
    rate = rate_of(f.system, f.system.source[e], e, t, x, u)
    return guard(f.system, e, t, x, u) < -JUMPED * max(1.0, abs(rate))


@kernel
def next_transition(f, mode, origin, t, x, u, by_flow):
    """Transition that a reset to x sets off at once: its guard is jumped over; -1 if none is."""
    s = f.system
    if by_flow:
        inactive = inactive_guards(s, mode, origin, t, x, u)
        e = active_transition(s, mode, t, x, u, inactive)
    else:
        e = guard_set(s, mode, t, x, u)
    return e if e >= 0 and is_deep_inside(f, e, t, x, u) else -1


@kernel
def jump(f, e, t, x, u, by_flow, visited):
    """Transition e from the state x, and what it sets off, as one (``saltation.chains``).

    Where the flow led to the guard, ``by_flow``, a state deep inside it jumped over it; else a
    measurement put it there, and Xi is that of the state as it is (4.18). The chain then ends with
    the return to a mode that was ``visited`` (modes,), which is updated.
    """
    s, first, before = f.system, e, x
    mode, origin, cycle, transitions = s.source[e], -1, False, 0
    D, D_t = np.eye(len(x)), np.zeros(len(x))
    noise = np.zeros((f.tangent[mode], f.tangent[mode]))
    for _ in range(f.limits.zeno_events):
        after, target = reset(s, e, t, x, u), s.target[e]
        D_xR, D_tR = reset_jacobian(f, e, t, x, u), derivatives_by_time(f, e, t, x, u)[1]
        D, D_t = product(D_xR, D), times(D_xR, D_t) + D_tR
        noise = sandwich(tangent_map(f, D_xR, mode, x, target, after), noise)
        add(noise, f.noise.W_R[e], 1.0)
        x, origin, mode, transitions = after, mode, target, transitions + 1
        cycle, visited[mode] = visited[mode], True
        e = next_transition(f, mode, origin, t, x, u, by_flow)
        if e < 0 or (cycle and not by_flow):
            break
    transverse = not (by_flow and is_deep_inside(f, first, t, before, u))
    transverse = transverse and saltation(f, first, t, before, u, D, D_t, mode, x, noise)
    D = tangent_map(f, D, s.source[first], before, mode, x)
    return Jump(mode, x, D, noise, origin, transitions, cycle, transverse)


@kernel
def saltation(f, e, t, x, u, D, D_t, mode, after, noise):
    """Make D_x R in D Xi of (3.2), in place where ``f.salted``; whether (3.11) holds.

    An offset of the guard of variance W_g makes the event later by offset / rate, and the state
    after it different by the same change of flow: that is added to ``noise`` (k_target, k_target).
    """
    gradient, F = guard_gradient(f, e, t, x, u), flow(f.system, f.system.source[e], t, x, u)
    rate = derivatives_by_time(f, e, t, x, u)[0]
    for i in range(len(x)):
        rate += gradient[i] * F[i]
    if not rate < -SLOWEST:
        return False
    if f.salted:
        change = flow(f.system, mode, t, after, u) - times(D, F) - D_t
        for i in range(D.shape[0]):
            for j in range(len(x)):
                D[i, j] += change[i] * gradient[j] / rate
        late = times(part(f, mode, after), change) if on_manifold(f, mode) else change
        add(noise, np.outer(late, late), f.noise.W_g[e] / (rate * rate))
    return True
