"""Kernels of Algorithm 1: one prediction, one correction, transitions at one instant."""

# ruff: noqa: N803, N806, N815 (the letters are the thesis's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.compiled.calls import guard
from saltation.compiled.limits import OK
from saltation.compiled.runge_kutta import finite
from saltation.filters.interface import (
    NO_GAIN,
    NOT_TRANSVERSE,
    RESULT_NOT_FINITE,
    WRONG_SIZE,
    Belief,
)
from saltation.filters.kernels.functions import (
    measurement,
    measurement_jacobian,
    project,
    retract,
    tangent_gradient,
    transport_covariance,
)
from saltation.filters.kernels.jump import jump
from saltation.filters.kernels.matrices import add, cholesky, product, sandwich, solve, times
from saltation.filters.kernels.path import (
    SLOWEST,
    guard_set,
    inactive_guards,
    is_transverse,
    moved_through,
    rate_of,
    to_event,
)
from saltation.filters.kernels.process_noise import (
    add_noise_without_flow,
    add_timestep_noise,
    flow_covariance,
)
from saltation.kernels import kernel
from saltation.systems import Array

HALVINGS = 50  # that find the share of a measurement which leads to a guard
SPLIT = 3.09  # standard deviations: a guard within them has 0.1 % of the Gaussian behind it


class Gaussian(NamedTuple):
    """One Gaussian in one mode."""

    mode: int  # index
    t: float  # [s]
    x: Array  # mean (n,)
    Sigma: Array  # covariance (k, k) of tangent vectors


def gaussian_of(belief: Belief, modes: list[int]) -> Gaussian:
    """A belief's Gaussian; ``modes`` has the numbers of modes by index."""
    return Gaussian(modes.index(belief.mode), belief.time, belief.mean, belief.Sigma)


class Result(NamedTuple):
    """A Gaussian after an operation."""

    g: Gaussian
    transitions: int
    code: int  # how it went, see ``interface.status_of``
    split: float  # time [s] until which a guard that was crossed still splits the Gaussian


class Innovation(NamedTuple):
    """Difference of a measurement from the expected one."""

    residual: Array  # y - h (p,)
    S: Array  # its covariance C Sigma C' + V (p, p)
    squared: float  # residual' S^-1 residual, chi-squared with p degrees of freedom
    log_likelihood: float  # of the measurement before it was used [nat]; -inf where it has none


@kernel
def predict(f, g: Gaussian, u, end, noisy):
    """Lines 2-12 until ``end`` [s]: (4.8) along the flow, (4.14) at transitions.

    Where the mean cannot be followed it stays where it came to, and W grows on.
    """
    s, before, transitions, code, split = f.system, g, 0, OK, -np.inf
    visited = np.zeros(len(s.dims), np.bool_)
    inactive = inactive_guards(s, g.mode, -1, g.t, g.x, u)
    inside = np.any(inactive)
    for count in range(f.limits.zeno_events + 2):
        x, t, e, status, longest = to_event(s, g.mode, g.t, g.x, u, end, inactive, count, f.limits)
        if finite(x) and t > g.t:
            g = Gaussian(g.mode, t, x, flow_covariance(f, g, u, t - g.t, x, longest, noisy))
        if status != OK:
            code, Sigma = status, g.Sigma.copy()
            if noisy:
                add_noise_without_flow(f, g.mode, Sigma, end - g.t)
            g = Gaussian(g.mode, g.t, g.x, Sigma)
            break
        if e < 0:
            if noisy:
                add_timestep_noise(f, g.mode, g.Sigma, end - before.t)
            break
        split = max(split, split_until(f, e, g, u))
        g, j = after_jump(f, g, e, u, np.bool_(True), visited)
        transitions += j.transitions
        code = code if j.transverse else NOT_TRANSVERSE
        inactive |= inactive_guards(s, g.mode, j.origin, t, g.x, u)
    g = Gaussian(g.mode, end, g.x, g.Sigma)
    if inside and code in (OK, NOT_TRANSVERSE):
        r = instant_transitions(f, g, u, -1)
        g, transitions, split = r.g, transitions + r.transitions, max(split, r.split)
        code = r.code if code == OK else code
    return keep_finite(f, before, Result(g, transitions, code, split))


@kernel
def after_jump(f, g: Gaussian, e, u, by_flow, visited):
    """The Gaussian after transition e, (4.13) and (4.14), and the jump."""
    j = jump(f, e, g.t, g.x, u, by_flow, visited)
    Sigma = sandwich(j.D, g.Sigma)
    add(Sigma, j.noise, 1.0)
    return Gaussian(j.mode, g.t, j.x, Sigma), j


@kernel
def instant_transitions(f, g: Gaussian, u, first):
    """Lines 16-20, (4.17) and (4.18): transition ``first`` if it is not -1, then by guard sets.

    Until no guard set holds the mean, or it is back in a mode that it came from.
    """
    visited, cycle, transitions, code = np.zeros(len(f.system.dims), np.bool_), False, 0, OK
    visited[g.mode], e, split = True, first, -np.inf
    while not cycle:
        e = e if e >= 0 else guard_set(f.system, g.mode, g.t, g.x, u)
        if e < 0:
            break
        if e != first:
            split = max(split, split_until(f, e, g, u))
        g, j = after_jump(f, g, e, u, np.bool_(False), visited)
        transitions, cycle, e = transitions + j.transitions, j.cycle, -1
        code = code if j.transverse else NOT_TRANSVERSE
    return Result(g, transitions, code, split)


@kernel
def guard_spread(f, e, g: Gaussian, u):
    """``SPLIT`` standard deviations of a guard's value, sqrt(D_x g Sigma D_x g'), and its mean."""
    D = tangent_gradient(f, e, g.t, g.x, u).reshape(1, -1)
    sigma = np.sqrt(max(0.0, sandwich(D, g.Sigma)[0, 0]))
    return SPLIT * sigma, guard(f.system, e, g.t, g.x, u)


@kernel
def split_until(f, e, g: Gaussian, u):
    """Time [s] at which all of a Gaussian, on or behind guard e, will have crossed it."""
    rate = rate_of(f.system, g.mode, e, g.t, g.x, u)
    if not rate < -SLOWEST:
        return g.t
    spread, value = guard_spread(f, e, g, u)
    return g.t + max(0.0, spread + value) / -rate


@kernel
def is_split(f, g: Gaussian, u):
    """Whether part of a Gaussian lies behind a guard that its mean has not crossed yet."""
    s = f.system
    for e in range(len(s.source)):
        if s.source[e] == g.mode and not s.rest[e]:
            if is_transverse(s, g.mode, e, g.t, g.x, u):
                spread, value = guard_spread(f, e, g, u)
                if value < spread:
                    return True
    return False


@kernel
def keep_finite(f, before: Gaussian, after: Result):
    """The result, on its manifold; the Gaussian before, at the new time, if it is not finite."""
    g = after.g
    x = project(f, g.mode, g.x)
    if finite(x) and finite(g.Sigma.ravel()):
        return Result(Gaussian(g.mode, g.t, x, g.Sigma), after.transitions, after.code, after.split)
    return Result(Gaussian(before.mode, g.t, before.x, before.Sigma), 0, RESULT_NOT_FINITE, -np.inf)


@kernel
def innovation(f, g: Gaussian, u, y, share):
    """Innovation of a measurement y (p,), C (p, k) and the Cholesky factor of S (p, p).

    Of a ``share`` of a measurement, whose noise is V / share: shares of 1 in all are the whole.
    """
    p = f.noise.size[g.mode]
    expected, C = measurement(f, g.mode, g.t, g.x, u), measurement_jacobian(f, g.mode, g.t, g.x, u)
    S = sandwich(C, g.Sigma)
    add(S, f.noise.V[g.mode], 1.0 / share)
    L, definite = cholesky(S)
    residual = y - expected
    if not (definite and finite(residual)):
        return Innovation(residual, S, np.nan, -np.inf), C, L
    scaled, squared, volume = solve(L, residual.reshape(-1, 1)), 0.0, p * np.log(2.0 * np.pi)
    for i in range(p):
        squared += residual[i] * scaled[i, 0]
        volume += 2.0 * np.log(L[i, i])
    return Innovation(residual, S, squared, -0.5 * (squared + volume)), C, L


@kernel
def update(f, g: Gaussian, u, y, share):
    """Lines 13-15 with Joseph's form of (4.11), and the ``innovation``; no guards are looked at.

    Sigma becomes (I - K C) Sigma (I - K C)' + K V K': symmetric and positive semidefinite
    whatever the rounding in K. The code is WRONG_SIZE where y is not of the mode's size, NO_GAIN
    where S is not positive definite or y not finite.
    """
    if len(y) != f.noise.size[g.mode]:
        nothing = Innovation(np.zeros(0), np.zeros((0, 0)), np.nan, -np.inf)
        return Result(g, 0, WRONG_SIZE, -np.inf), nothing
    nu, C, L = innovation(f, g, u, y, share)
    if not nu.log_likelihood > -np.inf:
        return Result(g, 0, NO_GAIN, -np.inf), nu
    K = solve(L, product(C, g.Sigma)).T.copy()  # (4.9)
    keep = np.eye(K.shape[0])
    add(keep, product(K, C), -1.0)
    Sigma = sandwich(keep, g.Sigma)
    add(Sigma, sandwich(K, f.noise.V[g.mode, : len(y), : len(y)].copy()), 1.0 / share)
    step = times(K, nu.residual)
    Sigma = transport_covariance(f, g.mode, g.x, step, Sigma)
    after = Gaussian(g.mode, g.t, retract(f, g.mode, g.x, step), Sigma)
    return keep_finite(f, g, Result(after, 0, OK, -np.inf)), nu


@kernel
def correct(f, g: Gaussian, u, y, split):
    """Lines 13-20: an update, then the transitions whose guard sets hold the mean.

    With ``split`` the update ends on the guard that the mean passes, and what is left of the
    measurement follows in the next mode (4.5.4).
    """
    s, left, transitions, code, late = f.system, 1.0, 0, OK, -np.inf
    result, nu = update(f, g, u, y, left)
    visited = np.zeros(len(s.dims), np.bool_)
    while result.code == OK:
        first = moved_through(s, g.mode, g.t, g.x, result.g.x, u)
        e = first if first >= 0 else guard_set(s, g.mode, g.t, result.g.x, u)
        if not split or e < 0 or guard(s, e, g.t, g.x, u) <= 0.0 or visited[g.mode]:
            r = instant_transitions(f, result.g, u, first)
            code = r.code if r.code != OK else code
            after = Result(r.g, transitions + r.transitions, code, max(late, r.split))
            return keep_finite(f, result.g, after), nu
        low, high, late = 0.0, left, max(late, split_until(f, e, result.g, u))
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if guard(s, e, g.t, update(f, g, u, y, middle)[0].g.x, u) > 0.0:
                low = middle
            else:
                high = middle
        visited[g.mode], on_guard = True, update(f, g, u, y, high)[0].g
        g, j = after_jump(f, on_guard, e, u, np.bool_(False), np.zeros_like(visited))
        transitions, left = transitions + j.transitions, max(left - high, 0.5**HALVINGS)
        code, result = code if j.transverse else NOT_TRANSVERSE, update(f, g, u, y, left)[0]
    return result if transitions == 0 else Result(g, transitions, code, late), nu


@kernel
def force(f, g: Gaussian, u, e):
    """Take transition e now, wherever the mean is."""
    return keep_finite(f, g, instant_transitions(f, g, u, e))


@kernel
def nis(weights, index, expected, S, y):
    """Normalised innovation squared of a mixture: (y - m)' M^-1 (y - m), whose mean is p.

    m (p,) and M (p, p) are mean and covariance of the mixture of the ``expected`` (N, p), each
    with the covariance S (p, p) of its ``index`` (N,).
    """
    total, p = np.sum(weights), len(y)
    m, M = np.zeros(p), np.zeros((p, p))
    for i in range(len(weights)):
        if weights[i] > 0.0:
            m += weights[i] / total * expected[i]
    for i in range(len(weights)):
        if weights[i] > 0.0:
            d = expected[i] - m
            for j in range(p):
                for k in range(p):
                    M[j, k] += weights[i] / total * (S[index[i], j, k] + d[j] * d[k])
    L, definite = cholesky(M)
    if not definite:
        return np.nan
    residual = (y - m).reshape(-1, 1)
    return np.sum(residual * solve(L, residual))
