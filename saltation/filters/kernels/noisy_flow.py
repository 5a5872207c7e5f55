"""Kernel of a timestep with noise: of a particle, or of a truth that filters are tried on.

A held disturbance (power 2) is drawn for each timestep and again after each transition (4.12), for
the new mode has a noise of its own. White noise (power 1) acts as impulses at the nodes of a Gauss
quadrature of Van Loan's integral: their covariance is that integral up to the sixth power of the
timestep, and it adds up alike in long and in short steps. Noise of power 0 acts at the end.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.arrays import Array
from saltation.compiled.calls import put, reset
from saltation.compiled.limits import NOT_FINITE, OK, WRONG_DIMENSION
from saltation.compiled.runge_kutta import finite
from saltation.filters.draws import normals, subkey
from saltation.filters.kernels.path import inactive_guards, to_event
from saltation.filters.kernels.process_noise import EACH_TIMESTEP, HELD, WHITE
from saltation.kernels import kernel

PIECES = 3  # of a timestep's flow that have draws of their own in a table; later ones use the last
NODES = 0.5 + 0.5 * np.array([-np.sqrt(0.6), 0.0, np.sqrt(0.6)])  # Gauss and Legendre on [0, 1]
WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0


class Draws(NamedTuple):
    """Standard normal numbers of one timestep: from tables, or by a key where they are empty."""

    key: np.uint64
    process: Array  # (PIECES, n) of pieces of flow
    reset: Array  # (PIECES, n) of transitions


@kernel
def draw(draws: Draws, table, piece, number, z):
    """Fill z (n,) with the draw of a piece of the timestep."""
    if len(table) > 0:
        put(z, table[min(piece, len(table) - 1)])
    else:
        normals(subkey(draws.key, number), z)


@kernel
def scatter(out, S, z, factor):
    """out (n,) += factor S z."""
    for i in range(len(out)):
        total = 0.0
        for j in range(len(z)):
            total += S[i, j] * z[j]
        out[i] += factor * total


@kernel
def hold_disturbance(f, mode, z, h):
    """Set the disturbance of the flow that is held for h [s]; none where the noise is another."""
    f.system.disturbance[:] = 0.0
    if f.noise.power[mode] == HELD and h > 0.0:
        scatter(f.system.disturbance, f.noise.Q_root[mode], z, 1.0)


@kernel
def noisy_step(f, mode, t, x, u, end, draws: Draws):
    """Until ``end`` [s] with noise, (4.6) and (4.12): (mode, state, transitions, code).

    The disturbance is written into ``f.system.disturbance``, which must be the caller's own.
    """
    s, limits, start, events, node = f.system, f.limits, t, 0, 0
    z = np.empty(len(s.disturbance))
    draw(draws, draws.process, 0, 0, z)
    hold_disturbance(f, mode, z, end - t)
    inactive = inactive_guards(s, mode, -1, t, x, u)
    nodes = len(NODES) if np.any(f.noise.power == WHITE) else 0
    while True:
        until = start + NODES[node] * (end - start) if node < nodes else end
        x, t, e, code, _ = to_event(s, mode, t, x, u, until, inactive, events, limits)
        if code != OK:
            return mode, x, events, code
        if e < 0:
            last = node == nodes
            white = f.noise.power[mode] == (EACH_TIMESTEP if last else WHITE)
            if white and end > start:
                draw(draws, draws.process, node, -2 - node, z)
                weight = 1.0 if last else WEIGHTS[node] * (end - start)
                x = x.copy()
                scatter(x, f.noise.Q_root[mode], z, np.sqrt(weight))
                behind = inactive_guards(s, mode, -1, t, x, u)
                inactive = np.where(s.on_edge, inactive, behind)
            if last:
                return mode, x, events, OK
            node += 1
            continue
        origin, mode, events = mode, s.target[e], events + 1
        x = reset(s, e, t, x, u)
        if len(x) != s.dims[mode]:
            return mode, x, events, WRONG_DIMENSION
        draw(draws, draws.reset, events - 1, 2 * events, z)
        scatter(x, f.noise.W_R_root[e], z, 1.0)
        if not finite(x):
            return mode, x, events, NOT_FINITE
        inactive |= inactive_guards(s, mode, origin, t, x, u)
        draw(draws, draws.process, events, 2 * events + 1, z)
        hold_disturbance(f, mode, z, end - t)
