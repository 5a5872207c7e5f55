"""Particles followed through events, and their covariance predicted to first order (3.8.5)."""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from hybrid.batch import simulate_batch
from hybrid.derivatives import jacobian
from hybrid.examples import bouncing_ball
from hybrid.systems import Array, System
from hybrid.variational import fundamental_matrix, propagate_covariance
from studies.kong.systems import aslip, constant_flow, pendulum

Level = Literal["low", "high"]


def kl_divergence(Sigma_0: Array, Sigma_1: Array) -> float:
    """(tr(Sigma_1^-1 Sigma_0) - n + ln |Sigma_1| / |Sigma_0|) / 2: the divergence (3.161).

    Of two Gaussians with one mean [nat]: the information lost if Sigma_1 is used for Sigma_0. Zero
    where the two are equal, infinite where either (n, n) matrix is not positive definite. The
    print has an error: docs/errata.md.

    Raises:
        ValueError: the matrices are not square and of one size.
    """
    Sigma_0, Sigma_1 = np.asarray(Sigma_0), np.asarray(Sigma_1)
    n = len(Sigma_0)
    if Sigma_0.shape != (n, n) or Sigma_1.shape != (n, n):
        raise ValueError(
            f"covariances of shapes {Sigma_0.shape} and {Sigma_1.shape}: give two (n, n) of one n"
        )
    try:
        actual, estimate = np.linalg.cholesky(Sigma_0), np.linalg.cholesky(Sigma_1)
    except np.linalg.LinAlgError:
        return float(np.inf)
    trace = np.trace(cho_solve((estimate, True), Sigma_0))
    log_ratio = 2.0 * np.sum(np.log(np.diag(estimate) / np.diag(actual)))
    return float(max(0.0, 0.5 * (trace - n + log_ratio)))  # rounding may leave it below zero


def _itself(coordinates: Array) -> Array:
    return coordinates


def _state(mode: int, state: Array) -> Array:
    return state


class Case(NamedTuple):
    """A system, where its particles start, and for how long they are followed.

    Particles are drawn, and covariances compared, in ``coordinates`` of which none depends on the
    others; where the state has no such dependence they are the state itself.
    """

    name: str
    system: System
    mode: int  # at the start
    mean: Array  # in coordinates (d,)
    low: float  # variance of each coordinate
    high: float
    duration: float  # [s]
    state: Callable[[Array], Array] = _itself  # at the start, from coordinates
    coordinates: Callable[[int, Array], Array] = _state  # of (mode, state), at the end

    @property
    def input(self) -> Array:
        """Input that is held: zero (m,)."""
        return np.zeros(self.system.modes[self.mode].input_dim)


def cases() -> tuple[Case, ...]:
    """All four, in the order of the table."""
    return (_constant_flow(), _bouncing_ball(), _pendulum(), _aslip())


def _constant_flow() -> Case:
    system, mean = constant_flow.constant_flow(), np.array([-2.5, 0.0])
    return Case("constant_flow", system, constant_flow.LEFT, mean, 0.005, 0.1, 5.0)


def _bouncing_ball() -> Case:
    system, mean = bouncing_ball.bouncing_ball(restitution=0.75), np.array([3.0, -2.0])
    return Case("bouncing_ball", system, bouncing_ball.FALLING, mean, 0.001, 0.05, 1.0)


def _pendulum() -> Case:
    system, mean = pendulum.pendulum(), np.array([np.pi / 4, -3.7])
    return Case("pendulum", system, pendulum.FREE, mean, 0.001, 0.05, 0.3)


def _aslip() -> Case:
    """Drawn and compared in the body's configuration and velocity (6,).

    The toe follows from the body ("no additional noise ... constrained to the body states"), so
    the covariance of the eight states has rank six and no density: the divergence is that of the
    body's six, at the end too, where stance is taken there by (4.28).

    The printed mean ends "0 - 10", read as 0, -1, 0: x_b, y_b, theta_b at rates 0, -1 m/s, 0. So
    the toe meets the ground at 0.175 s and leaves it at 0.282 s, and 0.55 s end in flight, not in
    mode 2 as the text has it. None of the readings of those digits ends in stance (one would need
    1.5 to 2.1 m/s upwards, where neither map predicts well), so the printed numbers are kept.
    """
    system = aslip.aslip()
    liftoff = system.outgoing(aslip.STANCE)[0]

    def body(mode: int, state: Array) -> Array:
        flight = state if mode == aslip.FLIGHT else liftoff.reset(0.0, state, np.zeros(0))
        return flight[[0, 1, 2, 5, 6, 7]]

    mean = np.array([0.0, 1.8, 5.0 * np.pi / 12.0, 0.0, -1.0, 0.0])
    return Case("aslip", system, aslip.FLIGHT, mean, 0.00005, 0.001, 0.55, aslip.at_rest, body)


@dataclass(frozen=True)
class DivergenceRow:
    """KL divergence of the actual covariance from either prediction [nat]."""

    system: str
    covariance: str
    kl_reset: float
    kl_saltation: float


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

    def row(self) -> DivergenceRow:
        """The row: KL(actual || predicted) for either prediction."""
        return DivergenceRow(
            system=self.case.name,
            covariance=self.level,
            kl_reset=kl_divergence(self.Sigma_actual, self.Sigma_reset),
            kl_saltation=kl_divergence(self.Sigma_actual, self.Sigma_saltation),
        )


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
    solution = fundamental_matrix(
        case.system, case.mode, case.state(mean), case.duration,
        with_reset_jacobian=with_reset_jacobian,
    )  # fmt: skip
    if not solution.ok:
        raise RuntimeError(f"no first-order map along the mean of {case.name}: {solution.message}")
    before = jacobian(case.state, mean)
    after = jacobian(lambda state: case.coordinates(solution.mode, state), solution.state)
    return after @ solution.Phi @ before, case.coordinates(solution.mode, solution.state)
