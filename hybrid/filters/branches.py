"""A Gaussian that a guard splits in a step: the side that crosses it, and the side that stays."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from hybrid.filters.guard_sets import Path
from hybrid.filters.interface import Belief
from hybrid.filters.model import FilterModel, ProcessNoise
from hybrid.filters.propagation import carry
from hybrid.filters.salted import SaltedKalmanFilter
from hybrid.filters.tangent import moved, tangent_basis
from hybrid.filters.truncation import Side, split
from hybrid.integration import flow_state
from hybrid.saltations import saltation
from hybrid.simulation import Event
from hybrid.systems import Array, Transition

# ruff: noqa: N803, N806 (the letters are the thesis's)

NEWTON = 20  # steps that find when a state behind a guard crossed it


class Branch(NamedTuple):
    """One of the Gaussians that a step leads to."""

    probability: float  # of all branches the sum is 1
    belief: Belief


def without_process_noise(model: FilterModel) -> FilterModel:
    """The model with Q = 0."""
    none = {
        mode: ProcessNoise(np.zeros_like(noise.Q), noise.power)
        for mode, noise in model.process.items()
    }
    return dataclasses.replace(model, process=none)


def branches(
    model: FilterModel, quiet: FilterModel, start: Belief, u: Array, h: float, certain: float
) -> list[Branch]:
    """What a Gaussian becomes over h [s] if a guard splits it; nothing if none does.

    The flow is followed to the end of the step as if there were no guards. There, a guard that
    falls along it has been crossed with probability Phi(-g / sigma_g), where
    sigma_g^2 = D_x g Sigma D_x g'. Where that is neither below ``certain`` nor above 1 - certain,
    the Gaussian is cut: what is behind the guard is led back to it, and through it by Xi. The
    noise of the whole step is that of the mode which it began in, and of the reset.

    ``quiet`` is the model without process noise; u (m,) is held.
    """
    t, mode, system = start.time + h, model.system.modes[start.mode], model.system
    x = flow_state(mode, start.time, start.mean, u, h, model.options)
    if not np.isfinite(x).all():
        return []
    path = Path(start.mode, t, x, (), True)
    Sigma = carry(
        model, start.mode, start.time, start.mean, start.Sigma, u, path, "saltation", saltation
    ).Sigma
    staying, left, crossed = Belief(t, start.mode, x, Sigma, 0, "ok"), 1.0, []
    for edge in system.outgoing(start.mode):
        sides = cut(model, edge, staying, u, certain)
        if sides is None:
            continue
        over, under = sides
        through = _through(model, quiet, edge, _side(model, staying, under), u, h)
        if through is None:
            continue
        crossed.append(Branch(left * under.probability, through))
        staying, left = _side(model, staying, over), left * over.probability
    return [*crossed, Branch(left, staying)] if crossed else []


def cut(
    model: FilterModel, edge: Transition, whole: Belief, u: Array, certain: float
) -> tuple[Side, Side] | None:
    """The sides of a guard in front of it and behind it; None where one of them has it all."""
    t, x = whole.time, whole.mean
    rate = model.system.guard_rate(edge, t, x, u)
    if not rate < -model.options.minimum_rate:
        return None
    manifold, D = model.manifolds.get(whole.mode), edge.guard_state(t, x, u)
    D = D if manifold is None else D @ tangent_basis(manifold, x)
    over, under = split(edge.guard(t, x, u), D, whole.Sigma)
    return (over, under) if certain < under.probability < 1.0 - certain else None


def _side(model: FilterModel, whole: Belief, side: Side) -> Belief:
    mean = moved(model.manifolds.get(whole.mode), whole.mean, side.mean)
    return whole._replace(mean=mean, Sigma=side.Sigma)


def _through(
    model: FilterModel, quiet: FilterModel, edge: Transition, behind: Belief, u: Array, h: float
) -> Belief | None:
    """A Gaussian behind a guard, taken back to it, through it, and on to its own time."""
    t, x = _when_crossed(model, edge, behind, u)
    if behind.time - t > 2.0 * h:  # long before this step: it is taken where it is, (4.17)
        t, x = behind.time, behind.mean
    after = np.asarray(edge.reset(t, x.copy(), u), dtype=np.float64)
    path = Path(edge.target, t, after, (Event(edge, t, x, after),), True)
    back = behind.mode, behind.time, behind.mean, behind.Sigma
    carried = carry(quiet, *back, u, path, "saltation", saltation)
    if not (np.isfinite(after).all() and np.isfinite(carried.Sigma).all()):
        return None
    ahead = SaltedKalmanFilter(quiet, edge.target, after, carried.Sigma, t)
    found = ahead.predict(u, behind.time - t)
    if found.status not in ("ok", "not_transverse"):
        return None
    return found._replace(time=behind.time, transitions=found.transitions + 1)


def _when_crossed(
    model: FilterModel, edge: Transition, behind: Belief, u: Array
) -> tuple[float, Array]:
    """Time [s] and state (n,) on the guard from which a state behind it comes."""
    mode, t, x = model.system.modes[edge.source], behind.time, behind.mean
    for _ in range(NEWTON):
        back = -edge.guard(t, x, u) / model.system.guard_rate(edge, t, x, u)
        if not np.isfinite(back) or t + back > behind.time:  # not behind a guard that is curved
            break
        x = flow_state(mode, t, x, u, back, model.options)
        t += back
        if abs(back) < model.options.event_time_tolerance * max(1.0, abs(t)):
            return t, x
    return behind.time, behind.mean
