"""What kernels of particles are told of noises and measurements, from a ``FilterModel``."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid.compiled.system import vector_table
from hybrid.filters.model import FilterModel
from hybrid.systems import Array, VectorFunction

# ruff: noqa: N802, N803, N806, N815 (the letters are the thesis's)


class Noises(NamedTuple):
    """Square roots S of covariances S S', by index of the mode or of the transition."""

    process: Array  # (modes, n, n) of Q
    power: Array  # (modes,) W(h) = h^power Q
    reset: Array  # (transitions, n, n) of W_R


class Likelihoods(NamedTuple):
    """Measurement noise of each mode: V = L L', and the log of the density's peak."""

    size: NDArray[np.int64]  # (modes,) p
    L: Array  # (modes, p, p) lower
    peak: Array  # (modes,) -ln sqrt |2 pi V|


def noises_of(model: FilterModel) -> Noises:
    """The model's noises, padded to the largest state.

    Raises:
        ValueError: a covariance has a negative eigenvalue, or a mode lives on a manifold.
    """
    system, n = model.system, model.system.state_dim
    if model.manifolds:
        raise ValueError(
            f"modes {sorted(model.manifolds)} live on manifolds; particles take states of R^n:"
            " give coordinates without constraints, or use SaltedKalmanFilter"
        )
    process, reset = np.zeros((len(system.modes), n, n)), np.zeros((len(system.transitions), n, n))
    for i, mode in enumerate(system.modes):
        _put(process[i], square_root(model.process[mode].Q, f"process noise Q of mode {mode}"))
    for i, edge in enumerate(system.transitions):
        noise = model.reset_noise.get((edge.source, edge.target))
        if noise is not None:
            _put(reset[i], square_root(noise, f"reset noise of {edge.label}"))
    power = np.array([float(model.process[mode].power) for mode in system.modes])
    return Noises(process, power, reset)


def likelihoods_of(model: FilterModel) -> Likelihoods:
    """The densities of the model's measurements.

    Raises:
        ValueError: a V is not positive definite: no state would have a likelihood.
    """
    every = [model.measurements[mode] for mode in model.system.modes]
    size = np.array([len(one.V) for one in every], dtype=np.int64)
    L, peak = np.zeros((len(every), size.max(), size.max())), np.zeros(len(every))
    for i, (mode, one) in enumerate(zip(model.system.modes, every, strict=True)):
        try:
            root = np.asarray(np.linalg.cholesky(one.V), dtype=np.float64)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"measurement noise V of mode {mode} is not positive definite: particles are"
                " weighed by its density; give every measurement some noise"
            ) from None
        _put(L[i], root)
        peak[i] = -np.sum(np.log(np.diag(root))) - 0.5 * len(root) * np.log(2.0 * np.pi)
    return Likelihoods(size, L, peak)


def measurement_table(model: FilterModel) -> tuple[Callable, ...] | None:
    """Compiled h of each mode; None where one of them does not compile."""
    return by_mode(model, {m: model.measurements[m].function for m in model.system.modes})


def by_mode(model: FilterModel, functions: dict[int, VectorFunction]) -> tuple | None:
    """Compiled functions (t, x, u) -> array, one a mode; None where one does not compile."""
    try:
        return vector_table([functions[mode] for mode in model.system.modes])
    except Exception:  # numba has no one error for what it cannot do
        return None


def square_root(covariance: Array, what: str) -> Array:
    """S (k, k) with S S' = covariance, which may be singular.

    Raises:
        ValueError: it is not symmetric positive semidefinite.
    """
    covariance = np.asarray(covariance, dtype=np.float64)
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    largest = max(values.max(initial=0.0), 1e-300)
    if not np.allclose(covariance, covariance.T) or values.min(initial=0.0) < -1e-9 * largest:
        raise ValueError(f"{what} is not symmetric positive semidefinite: it is no covariance")
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _put(room: Array, matrix: Array) -> None:
    room[: len(matrix), : len(matrix)] = matrix
