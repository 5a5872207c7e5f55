"""Kernels of the bank of salted filters: one Gaussian and its weight for each mode."""

# ruff: noqa: N803, N806, N815 (the letters are the thesis's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.arrays import Integers
from saltation.compiled.calls import guard
from saltation.compiled.limits import OK
from saltation.compiled.piece import flow_for
from saltation.compiled.runge_kutta import finite
from saltation.filters.interface import NO_LIKELIHOOD, NOT_TRANSVERSE, WRONG_SIZE
from saltation.filters.kernels.functions import difference, retract, tangent_gradient
from saltation.filters.kernels.kalman import (
    Gaussian,
    after_jump,
    innovation,
    instant_transitions,
    nis,
    predict,
    update,
)
from saltation.filters.kernels.path import (
    flow_to,
    guard_set,
    is_transverse,
    moved_through,
    rate_of,
)
from saltation.filters.kernels.process_noise import add_timestep_noise, flow_covariance
from saltation.filters.kernels.truncation import Side, sides
from saltation.filters.tables import ModelTables
from saltation.kernels import kernel
from saltation.systems import Array

NEWTON = 20  # steps that find when a state behind a guard crossed it


class Mixture(NamedTuple):
    """At most one Gaussian a mode."""

    weights: Array  # (modes,), zero where there is none
    means: Array  # (modes, n)
    Sigmas: Array  # (modes, k, k)
    transitions: Integers  # (modes,) in the last step
    codes: Integers  # (modes,) how the last step went

    @staticmethod
    def empty(model: ModelTables) -> Mixture:
        """Without any Gaussian."""
        dims, k = model.base.system.dims, model.own.tangent.max()
        modes, zero = len(dims), np.zeros(len(dims), int)
        means, Sigmas = np.zeros((modes, dims.max())), np.zeros((modes, k, k))
        return Mixture(np.zeros(modes), means, Sigmas, zero, zero.copy())


class Split(NamedTuple):
    """``BankOptions`` as kernels take them."""

    certain: float
    minimum_weight: float
    max_hypotheses: int


@kernel
def clear(mixture: Mixture):
    """Leave no Gaussian."""
    mixture.weights[:] = 0.0
    mixture.transitions[:] = 0
    mixture.codes[:] = OK


@kernel
def gaussian(f, mixture: Mixture, mode, t):
    """The Gaussian of a mode."""
    n, k = f.system.dims[mode], f.tangent[mode]
    x, Sigma = mixture.means[mode, :n].copy(), mixture.Sigmas[mode, :k, :k].copy()
    return Gaussian(mode, t, x, Sigma)


@kernel
def merge(f, mixture: Mixture, g: Gaussian, weight, transitions, code):
    """Merge a Gaussian with that of its mode, as one with the mean and covariance of both."""
    mode, k, before = g.mode, f.tangent[g.mode], mixture.weights[g.mode]
    S, share = mixture.Sigmas[mode], weight / (before + weight) if before > 0.0 else 1.0
    if not before > weight:
        mixture.transitions[mode], mixture.codes[mode] = transitions, code
    mixture.weights[mode] = before + weight
    if not before > 0.0:
        S[:k, :k], mixture.means[mode, : len(g.x)] = g.Sigma, g.x
        return
    mean = mixture.means[mode, : len(g.x)].copy()
    d = difference(f, mode, g.x, mean)
    for i in range(k):
        for j in range(k):
            spread = (1.0 - share) * d[i] * d[j]
            S[i, j] = (1.0 - share) * S[i, j] + share * (g.Sigma[i, j] + spread)
    mixture.means[mode, : len(g.x)] = retract(f, mode, mean, share * d)


@kernel
def make_one(f, mixture: Mixture, g: Gaussian):
    """Make a mixture one Gaussian."""
    clear(mixture)
    merge(f, mixture, g, 1.0, 0, OK)


@kernel
def normalise(mixture: Mixture, split: Split):
    """Drop light Gaussians and those beyond ``max_hypotheses``; scale the others to the sum 1."""
    weights, total = mixture.weights, 0.0
    order = np.argsort(-weights)
    for rank in range(len(weights)):
        light = weights[order[rank]] <= split.minimum_weight
        if rank >= split.max_hypotheses or (rank > 0 and light):
            weights[order[rank]] = 0.0
        total += weights[order[rank]]
    for i in range(len(weights)):
        weights[i] /= total


@kernel
def sides_of_guard(f, e, g: Gaussian, u, certain):
    """Whether guard e splits a Gaussian, and its parts in front and behind."""
    D = tangent_gradient(f, e, g.t, g.x, u)
    over, under = sides(guard(f.system, e, g.t, g.x, u), D, g.Sigma)
    crosses = not f.system.rest[e] and is_transverse(f.system, g.mode, e, g.t, g.x, u)
    return crosses and certain < under.probability < 1.0 - certain, over, under


@kernel
def part_of(f, g: Gaussian, one: Side):
    """A Gaussian's part on one side of a guard."""
    return Gaussian(g.mode, g.t, retract(f, g.mode, g.x, one.shift), one.Sigma)


@kernel
def crossing(f, e, g: Gaussian, u):
    """Time [s] and state on guard e from which a state behind it comes."""
    t, x = g.t, g.x
    for _ in range(NEWTON):
        back = -guard(f.system, e, t, x, u) / rate_of(f.system, g.mode, e, t, x, u)
        if not np.isfinite(back) or t + back > g.t:  # not behind a guard that is curved
            break
        x = flow_for(f.system, g.mode, t, x, u, back, np.inf, f.limits)
        t += back
        if abs(back) < 1e-13 * max(1.0, abs(t)):
            return t, x
    return g.t, g.x


@kernel
def through_guard(f, e, g: Gaussian, u, h):
    """A Gaussian behind a guard, taken back to it, through it, and on to its own time.

    Returns it, its transitions, and whether it could be followed.
    """
    t, x = crossing(f, e, g, u)
    if g.t - t > 2.0 * h:  # long before this step: it is taken where it is, (4.17)
        t, x = g.t, g.x
    no_noise, Sigma = np.bool_(False), g.Sigma
    if t < g.t:
        Sigma = flow_covariance(f, g, u, t - g.t, x, h, no_noise)
    visited = np.zeros(len(f.system.dims), np.bool_)
    y, j = after_jump(f, Gaussian(g.mode, t, x, Sigma), e, u, np.bool_(True), visited)
    result = predict(f, y, u, g.t, no_noise)
    success = result.code in (OK, NOT_TRANSVERSE) and finite(y.x)
    return result.g, j.transitions + result.transitions, success


@kernel
def branch(f, g: Gaussian, weight, u, end, certain, out: Mixture):
    """Predict a Gaussian, in parts where a guard splits it, into ``out``.

    The flow is followed to the end of the step as if there were no guards. There, a guard that
    falls along it has been crossed with probability Phi(-g / sigma_g), where
    sigma_g^2 = D_x g Sigma D_x g'. Where that is neither below ``certain`` nor above 1 - certain,
    the Gaussian is cut: what is behind the guard is led back to it, and through it by Xi. The
    noise of the whole step is that of the mode which it began in, and of the reset.
    """
    h, rest = end - g.t, weight
    x, longest = flow_to(f.system, g.mode, g.t, g.x, u, end, f.limits)
    if h > 0.0 and finite(x):
        Sigma = flow_covariance(f, g, u, h, x, longest, np.bool_(True))
        ahead = Gaussian(g.mode, end, x, Sigma)
        for e in range(len(f.system.source)):
            if f.system.source[e] != g.mode or not finite(Sigma.ravel()):
                continue
            if f.system.on_edge[e] and guard(f.system, e, g.t, g.x, u) <= 0.0:
                continue
            splits, over, under = sides_of_guard(f, e, ahead, u, certain)
            if splits:
                y, transitions, success = through_guard(f, e, part_of(f, ahead, under), u, h)
                if success:
                    add_timestep_noise(f, y.mode, y.Sigma, h)
                    merge(f, out, y, rest * under.probability, transitions, OK)
                    ahead, rest = part_of(f, ahead, over), rest * over.probability
        if rest < weight:
            add_timestep_noise(f, ahead.mode, ahead.Sigma, h)
            merge(f, out, ahead, rest, 0, OK)
            return
    result = predict(f, g, u, end, np.bool_(True))
    merge(f, out, result.g, weight, result.transitions, result.code)


@kernel
def predict_mixture(f, mixture: Mixture, t, u, end, split: Split, out: Mixture):
    """Predict every Gaussian from t to ``end`` [s] into ``out``, and merge what meets there."""
    clear(out)
    for mode in range(len(mixture.weights)):
        if mixture.weights[mode] > 0.0:
            g = gaussian(f, mixture, mode, t)
            branch(f, g, mixture.weights[mode], u, end, split.certain, out)
    normalise(out, split)


@kernel
def transitions_unless_split(f, before: Gaussian, g: Gaussian, u, certain):
    """Transitions after a correction; none while a guard splits the Gaussian.

    It is then on both sides, and the next prediction cuts it there.
    """
    first = moved_through(f.system, g.mode, g.t, before.x, g.x, u)
    if first < 0 and guard_set(f.system, g.mode, g.t, g.x, u) < 0:
        return g, 0
    for e in range(len(f.system.source)):
        if f.system.source[e] == g.mode and sides_of_guard(f, e, g, u, certain)[0]:
            return g, 0
    result = instant_transitions(f, g, u, first)
    return result.g, result.transitions


@kernel
def correct_mixture(f, mixture: Mixture, t, u, y, split: Split, out: Mixture):
    """Correct each Gaussian with y (p,) into ``out``, and weigh it by the likelihood.

    Returns a code, OK or why nothing was done, and the squared innovation (see ``nis``).
    """
    modes, p = len(mixture.weights), len(y)
    logs, expected, S = np.full(modes, -np.inf), np.zeros((modes, p)), np.zeros((modes, p, p))
    code, weights = WRONG_SIZE, mixture.weights.copy()
    for mode in range(modes):
        if f.noise.size[mode] != p:
            weights[mode] = 0.0
        elif weights[mode] > 0.0:
            nu = innovation(f, gaussian(f, mixture, mode, t), u, y, 1.0)[0]
            logs[mode], code = nu.log_likelihood + np.log(weights[mode]), NO_LIKELIHOOD
            expected[mode], S[mode] = y - nu.residual, nu.S
    best = np.max(logs)
    if not np.isfinite(best):
        return code, np.nan
    clear(out)
    for mode in range(modes):
        if logs[mode] > -np.inf:
            before = gaussian(f, mixture, mode, t)
            result = update(f, before, u, y, 1.0)[0]
            g, more = transitions_unless_split(f, before, result.g, u, split.certain)
            status = mixture.codes[mode] if result.code == OK else result.code
            transitions = mixture.transitions[mode] + more
            merge(f, out, g, np.exp(logs[mode] - best), transitions, status)
    normalise(out, split)
    return OK, nis(weights, np.arange(modes), expected, S, y)
