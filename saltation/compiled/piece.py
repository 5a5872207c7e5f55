"""Kernels of one integration step of a mode's flow: taken, cut shorter, asked for any state."""

# ruff: noqa: N803, N806 (K is the table of Runge-Kutta slopes, C the step's polynomial)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.compiled.calls import SLOPES, has_solution, put, rate, solution, solution_slopes
from saltation.compiled.limits import EPSILON, Limits
from saltation.compiled.rosenbrock import ORDER as IMPLICIT_ORDER
from saltation.compiled.rosenbrock import rosenbrock
from saltation.compiled.runge_kutta import (
    ALL,
    DEGREE,
    LAST,
    ORDER,
    PASSING,
    allowed_error,
    dense_output,
    dense_slope,
    dormand_prince,
    error_ratio,
    estimate_errors,
    finite,
    first_step,
    polynomial,
    resized,
)
from saltation.compiled.tables import ABSENT, CompiledDerivatives, CompiledSystem
from saltation.kernels import inlined_kernel, kernel, unlocked_kernel
from saltation.systems import Array

ROUNDING = 100.0  # times the rounding that was found: what is allowed from then on
DEFECT = 1e2  # times the tolerance: a step whose dense output defies the flow by more is unresolved


class Piece(NamedTuple):
    """A step from (time, start) with the input held."""

    time: float  # [s]
    start: Array  # (n,)
    input: Array  # (m,)
    length: float  # [s]
    end: Array  # (n,)
    slope: Array  # F (n,) at the start
    C: Array  # (DEGREE, n) of the dense output; not used in closed form
    span: float  # [s] of the dense output: the length of the step before it was cut
    look: Array  # (n,) room for a state within the step
    meeting: Array  # (n,) end of the step made anew up to a guard
    typical: Array  # (n,) largest size of each state so far


@inlined_kernel
def look_at(s: CompiledSystem, mode, t, x, u, C, part, h, state):
    """Write the state h seconds, a part of the dense output, after the start x of a step."""
    if has_solution(s, mode):
        put(state, solution(s, mode, t, x, u, h))
    else:
        dense_output(x, C, part, state)


@kernel
def end_after(s: CompiledSystem, mode, p: Piece, h, limits: Limits):
    """End (n,) of the same step made with another length h [s], as accurate as the integrator."""
    if has_solution(s, mode):
        return solution(s, mode, p.time, p.start, p.input, h)
    n = len(p.start)
    if limits.implicit:
        C, errors = np.empty((DEGREE, n)), np.empty(n)
        return rosenbrock(s, mode, p.time, p.start, p.input, h, p.slope, C, p.typical, errors)
    K = np.empty((ALL, n))
    put(K[0], p.slope)
    return dormand_prince(s, mode, p.time, p.start, p.input, h, K)


@kernel
def cut_to(p: Piece, h, end):
    """The same step with another length h [s] and its end (n,); the dense output stays."""
    return Piece(
        p.time, p.start, p.input, h, end, p.slope, p.C, p.span, p.look, p.meeting, p.typical
    )  # fmt: skip


@kernel
def cut(s: CompiledSystem, mode, p: Piece, h, limits: Limits):
    """The same step made with another length h [s]."""
    return cut_to(p, h, end_after(s, mode, p, h, limits))


@kernel
def rounding(x, slope, h):
    """Largest rounding of a state, by the sizes of all of them and of their changes in h [s]."""
    size, change = 0.0, 0.0
    for i in range(len(x)):
        size, change = max(size, abs(x[i])), max(change, abs(slope[i]))
    return 16.0 * EPSILON * (size + abs(h) * change)


@kernel
def grow(typical, x):
    """Make ``typical`` (n,) the largest sizes so far."""
    for i in range(len(x)):
        typical[i] = max(typical[i], abs(x[i]))


@kernel
def learn(x, end, errors, typical, limits: Limits):
    """Make ``typical`` (n,) so large that errors which are rounding, and more, are allowed."""
    for i in range(len(x)):
        if errors[i] > allowed_error(x[i], end[i], typical[i], 0.0, limits):
            typical[i] = ROUNDING * errors[i] / (PASSING * limits.relative)


@kernel
def integrate(s, mode, t, x, u, trial, typical, limits: Limits, K, C):
    """First step of at most ``trial`` [s] within the tolerance: (end, its length, next to try).

    K (ALL, n) must begin with F(t, x); without an implicit method it is filled, else C (DEGREE, n).
    The next to try is zero where even the shortest step makes too large an error. An error that
    does not fall with the step is taken for rounding, and allowed more and more of it.
    """
    h, floor, last = np.copysign(min(abs(trial), limits.max_step), trial), 0.0, np.inf
    order, shortest = (IMPLICIT_ORDER if limits.implicit else ORDER), 4.0 * EPSILON * abs(t)
    shortest = max(shortest, 1e-14 * abs(trial))
    errors = np.empty(len(x))
    while True:
        if limits.implicit:
            end = rosenbrock(s, mode, t, x, u, h, K[0], C, typical, errors)
        else:
            end = dormand_prince(s, mode, t, x, u, h, K)
            estimate_errors(h, K, errors)
        size = error_ratio(x, end, errors, typical, floor, limits)
        if size <= 1.0:
            if floor > 0.0:
                learn(x, end, errors, typical, limits)
            return end, h, h * resized(size, order)
        if not abs(h) > shortest:
            return end, h, 0.0
        if size > 0.1 * last:
            floor = max(10.0 * floor, rounding(x, K[0], h))
        else:
            floor = 0.0
        last = size
        h *= resized(size, order)


@kernel
def take_piece(s: CompiledSystem, mode, t, x, u, trial, slope, typical, limits: Limits):
    """A step of at most ``trial`` [s]: the piece, the slope at its end, and the next to try."""
    K, C = np.empty((ALL, len(x))), np.empty((DEGREE, len(x)))
    if has_solution(s, mode):
        h, last, following = min(trial, limits.max_step), slope, limits.max_step
        end = solution(s, mode, t, x, u, h)
    else:
        put(K[0], slope)
        end, h, following = integrate(s, mode, t, x, u, trial, typical, limits, K, C)
        if limits.implicit:
            last = rate(s, mode, t + h, end, u)
        else:
            last = K[LAST].copy()
            polynomial(s, mode, t, x, u, h, end, K, C)
    whole = Piece(t, x, u, h, end, slope, C, h, np.empty_like(x), np.empty_like(x), typical)
    return whole, last, following


@kernel
def obeys_flow(s, mode, p: Piece, until, spacing, limits: Limits):
    """Whether the slope of a step's dense output is ``rate``, up to ``until`` seconds.

    It is compared at points ``spacing`` [s] apart: a pulse that falls between the nodes of the
    method is found by that.
    """
    if abs(p.length) <= 2.0 * spacing:
        return True
    x, u, C, state, end = p.start, p.input, p.C, p.look, p.end  # once: each access counts
    points, floor = int(abs(until) / spacing) + 1, rounding(x, p.slope, p.length)
    for j in range(1, points + 1):
        part = j / (points + 1.0) * until / p.length
        dense_output(x, C, part, state)
        slope = rate(s, mode, p.time + part * p.length, state, u)
        for i in range(len(x)):
            scale = allowed_error(x[i], end[i], p.typical[i], floor, limits)
            if not abs(p.length * slope[i] - dense_slope(C, i, part)) <= DEFECT * scale:
                return False
    return True


@kernel
def flow_for(s: CompiledSystem, mode, t, x, u, duration, spacing, limits: Limits):
    """State after a duration [s], which may be negative, in one mode; NaN when it has none."""
    if has_solution(s, mode):
        return solution(s, mode, t, x, u, duration)
    return integrate_for(s, mode, t, x, u, duration, spacing, limits)


@kernel
def integrate_for(s, mode, t, x, u, duration, spacing, limits: Limits):
    """Integral of ``rate`` over a duration [s], which may be negative; NaN: nothing.

    ``spacing`` [s] is as in ``obeys_flow``; infinite, the whole duration is tried first.
    """
    h, end = duration, t + duration
    if t == end:
        return x.copy()
    K, C, typical = np.empty((ALL, len(x))), np.empty((DEGREE, len(x))), np.abs(x)
    put(K[0], rate(s, mode, t, x, u))
    if np.isfinite(spacing):
        h = first_step(s, mode, t, x, u, duration, K[0], limits)
    for _ in range(limits.max_steps):
        if t == end or not finite(x):
            return x
        left = end - t
        trial = left if abs(left) < abs(h) else h
        y, taken, h = integrate(s, mode, t, x, u, trial, typical, limits, K, C)
        if h == 0.0:
            break
        if abs(taken) > 2.0 * spacing and finite(y):
            if not limits.implicit:
                polynomial(s, mode, t, x, u, taken, y, K, C)
            room = np.empty((2, len(x)))
            p = Piece(t, x, u, taken, y, K[0], C, taken, room[0], room[1], typical)
            if not obeys_flow(s, mode, p, taken, spacing, limits):
                h = np.copysign(max(0.2 * abs(taken), 2.0 * spacing), taken)
                continue
        x, t = y, end if taken == left else t + taken
        grow(typical, x)
        put(K[0], rate(s, mode, t, x, u) if limits.implicit else K[LAST])
    return x if t == end else np.full_like(x, np.nan)


@kernel
def jacobians(d: CompiledDerivatives, mode, t, x, u, duration, spacing, limits: Limits):
    """D_x (n, n) and D_u (n, m) of the flow over a duration [s] with the input held.

    From the closed form, or from the variational equations (3.1), dA/dt = D_x F A and
    dB/dt = D_x F B + D_u F, integrated along with the state.
    """
    n, m = len(x), len(u)
    if d.slots[SLOPES, mode] != ABSENT and has_solution(d.system, mode):
        A, given = solution_slopes(d, mode, t, x, u, duration)
        B = np.zeros((n, m))
        for i in range(n):
            put(B[i], given[i])
        return A, B
    y = np.zeros(n + n * (n + m))
    put(y, x)
    for i in range(n):
        y[n + i * (n + m) + i] = 1.0
    both = integrate_for(d, mode, t, y, u, duration, spacing, limits)[n:].reshape((n, n + m))
    return both[:, :n].copy(), both[:, n:].copy()


@unlocked_kernel
def jacobians_all(d, modes, times, states, inputs, durations, limits, A, B):
    """Write A (K, n, n) and B (K, n, m) of K pieces of flow; they must come filled with zeros."""
    for k in range(len(modes)):
        n = d.system.dims[modes[k]]
        x = states[k, :n].copy()
        a, b = jacobians(d, modes[k], times[k], x, inputs[k], durations[k], np.inf, limits)
        for i in range(n):
            put(A[k, i], a[i])
            put(B[k, i], b[i])
