"""How a covariance is carried along a mean's path: flows (4.8) and transitions (4.14)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from hybrid.chains import chains, merge_chain
from hybrid.filters.guard_sets import Path
from hybrid.filters.model import FilterModel
from hybrid.filters.tangent import tangent_map
from hybrid.integration import flow_jacobians
from hybrid.saltations import Saltation
from hybrid.simulation import Event
from hybrid.systems import Array, System, Transition
from hybrid.variational import propagate_covariance

# ruff: noqa: N803, N806 (the letters are the thesis's)

Sensitivity = Literal["saltation", "reset"]  # Xi, or D_x R in its place: the JRKF
JumpMap = Callable[[System, Transition, float, Array, Array], Saltation]


class Carried(NamedTuple):
    """A covariance at the end of a path."""

    Sigma: Array  # (k, k), symmetric
    transverse: bool  # whether every event was; where not, D_x R stood in for Xi


def carry(
    model: FilterModel,
    mode: int,
    t: float,
    x: Array,
    Sigma: Array,
    u: Array,
    path: Path,
    sensitivity: Sensitivity,
    jump_map: JumpMap,
) -> Carried:
    """Sigma (k, k) about x (n,) along its path with the input u (m,) held: (4.16), any number of
    events.

    ``jump_map`` gives an event's Xi and D_x R.
    """
    transverse = True
    for chain in chains(model.system, path.events, u):
        event = merge_chain(chain)
        Sigma = _flowed(model, mode, t, x, Sigma, u, event.time - t, event.state_before)
        jump = jump_map(model.system, event.transition, event.time, event.state_before, u)
        Xi = jump.matrix if sensitivity == "saltation" else jump.reset_jacobian
        Xi = _of_tangents(model, event, Xi)
        Sigma = propagate_covariance(Sigma, Xi) + _reset_noise(model, chain, u)
        transverse = transverse and jump.ok
        mode, t, x = event.transition.target, event.time, event.state_after
    return Carried(_flowed(model, mode, t, x, Sigma, u, path.time - t, path.state), transverse)


def _flowed(
    model: FilterModel, mode: int, t: float, x: Array, Sigma: Array, u: Array, h: float, end: Array
) -> Array:
    """A Sigma A' + W(h) of a flow over h [s] from x to ``end`` (n,), (4.8)."""
    if h == 0.0:
        return Sigma
    A, _ = flow_jacobians(model.system.modes[mode], t, x, u, h, model.options)
    manifold = model.manifolds.get(mode)
    A = tangent_map(A, x, manifold, end, manifold)
    return propagate_covariance(Sigma, A) + _symmetric(model.process[mode].over(h))


def _reset_noise(model: FilterModel, chain: Sequence[Event], u: Array) -> Array | float:
    """W_R of (4.14); in a chain each reset's noise goes through the resets after it."""
    noise: Array | float = 0.0
    for event in chain:
        edge = event.transition
        if np.ndim(noise):
            D_xR = _of_tangents(model, event, edge.reset_state(event.time, event.state_before, u))
            noise = propagate_covariance(np.asarray(noise), D_xR)
        noise = noise + _symmetric(model.reset_noise.get((edge.source, edge.target), 0.0))
    return noise


def _of_tangents(model: FilterModel, event: Event, M: Array) -> Array:
    """An event's Jacobian M (n_target, n_source) as one of tangent vectors."""
    edge, before = event.transition, model.manifolds.get(event.transition.source)
    after = model.manifolds.get(edge.target)
    return tangent_map(M, event.state_before, before, event.state_after, after)


def _symmetric(M: Array | float) -> Array:
    return 0.5 * (np.asarray(M) + np.transpose(M))
