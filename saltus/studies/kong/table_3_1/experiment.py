"""Particles followed through events, and their covariance predicted to first order (3.8.5)."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from hybrid.batch import simulate_batch
from hybrid.derivatives import jacobian
from hybrid.systems import Array
from hybrid.variational import fundamental_matrix, propagate_covariance
from saltus.studies.kong.table_3_1.cases import Case
from saltus.studies.kong.table_3_1.kl_divergence import kl_divergence

# ruff: noqa: N806 (the letters are the thesis's)

Level = Literal["low", "high"]


class Experiment(NamedTuple):
    """One row of the table: N particles and three covariances, in a case's coordinates (d,)."""

    case: Case
    level: Level
    initial: Array  # (N, d)
    final: Array  # (N, d)
    mean: Array  # of the initial particles (d,)
    mean_end: Array  # where the trajectory from that mean ends (d,)
    Sigma_initial: Array  # of the particles (d, d), as are the next three
    Sigma_actual: Array
    Sigma_reset: Array  # predicted with D_x R
    Sigma_saltation: Array  # predicted with Xi
    lost: int  # particles whose simulation did not reach the end, left out

    def row(self) -> dict[str, str | float]:
        """The row: KL(actual || predicted) for either prediction."""
        return {
            "system": self.case.name,
            "covariance": self.level,
            "kl_reset": kl_divergence(self.Sigma_actual, self.Sigma_reset),
            "kl_saltation": kl_divergence(self.Sigma_actual, self.Sigma_saltation),
        }


def experiment(case: Case, level: Level, particles: int, seed: int = 0) -> Experiment:
    """Follow particles through the events, and their first covariance along their mean (3.37)."""
    spread = np.sqrt(case.low if level == "low" else case.high)
    noise = np.random.default_rng(seed).standard_normal((particles, len(case.mean)))
    initial = case.mean + spread * noise
    states = np.array([case.state(start) for start in initial])
    batch = simulate_batch(case.system, case.mode, states, case.duration, case.input)
    initial, ok = initial[batch.ok], batch.ok
    ends = zip(batch.modes[ok], batch.states[ok], strict=True)
    final = np.array([case.coordinates(int(mode), state) for mode, state in ends])
    mean, Sigma = initial.mean(axis=0), np.cov(initial.T)
    Phi, mean_end = _first_order(case, mean, with_reset_jacobian=False)
    Phi_reset, _ = _first_order(case, mean, with_reset_jacobian=True)
    return Experiment(
        case,
        level,
        initial,
        final,
        mean,
        mean_end,
        Sigma,
        np.cov(final.T),
        propagate_covariance(Sigma, Phi_reset),
        propagate_covariance(Sigma, Phi),
        int(np.sum(~ok)),
    )


def _first_order(case: Case, mean: Array, with_reset_jacobian: bool) -> tuple[Array, Array]:
    """Phi (d, d) from coordinates to coordinates, and where the mean ends (d,).

    Raises:
        RuntimeError: the mean fails or grazes a guard.
    """
    found = fundamental_matrix(
        case.system, case.mode, case.state(mean), case.duration,
        with_reset_jacobian=with_reset_jacobian,
    )  # fmt: skip
    if not found.ok:
        raise RuntimeError(f"no first-order map along the mean of {case.name}: {found.message}")
    before = jacobian(case.state, mean)
    after = jacobian(lambda state: case.coordinates(found.mode, state), found.state)
    return after @ found.Phi @ before, case.coordinates(found.mode, found.state)
