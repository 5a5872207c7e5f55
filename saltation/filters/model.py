"""Model of a system for filters: flows, guards and resets with their noises, measurements.

In mode I the state follows x' = F_I(t, x, u) and is measured by y = h_I(t, x, u) + v,
v ~ N(0, V_I), (4.22). The flow over a time h adds a noise of covariance W_I(h), (4.5), a reset one
of W_R, (4.12). A guard may be uncertain: g + w falls through zero, with w of a given variance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from saltation.mode import Derivative, complete
from saltation.options import SimulationOptions
from saltation.systems import Array, System, VectorFunction

# ruff: noqa: N815 (the letters are the thesis's)


class Manifold(Protocol):
    """Space of a mode's states when it is not R^n: tangent vectors have k numbers.

    The state keeps its n coordinates; errors, covariances and Jacobians are of tangent vectors.
    """

    tangent_dim: int  # k

    def plus(self, x: Array, d: Array) -> Array:
        """The state (n,) that lies a tangent vector d (k,) from x (n,)."""

    def minus(self, y: Array, x: Array) -> Array:
        """The tangent vector (k,) that leads from x (n,) to y (n,)."""


@dataclass(frozen=True)
class Measurement:
    """y = h(t, x, u) + v with v ~ N(0, V), in one mode (4.22)."""

    function: VectorFunction  # h (p,)
    V: Array  # (p, p)
    state: VectorFunction = None  # type: ignore[assignment]  # C = D_x h (p, n), (4.23)

    def __post_init__(self) -> None:
        """Fill in the derivative that was left out."""
        complete(self, "state", Derivative(self.function, "state"))


@dataclass(frozen=True)
class ProcessNoise:
    """Noise W(h) of the flow over h seconds.

    - ``power`` 2: a disturbance of the flow that is held, W(h) = h^2 Q as in (4.6), drawn at the
      start of a timestep and again after each transition (4.12).
    - ``power`` 1: white noise of intensity Q [1/s], W(h) = int_0^h A(h, s) Q A(h, s)' ds with A of
      the flow's linearisation (Van Loan 1978). It adds up alike in long and in short steps.
    - ``power`` 0: Q at the end of each timestep, whatever its length and its events.

    Raises:
        ValueError: ``power`` is none of these, or Q is no covariance.
    """

    Q: Array  # (k, k), of the mode's tangent vectors
    power: int = 2

    def __post_init__(self) -> None:
        """Check the noise."""
        if self.power not in (0, 1, 2):
            raise ValueError(
                f"process noise of power {self.power}: give 2 (held disturbance), 1 (white noise)"
                " or 0 (noise of each timestep)"
            )
        check_covariance(self.Q, len(self.Q), "process noise Q")


@dataclass(frozen=True)
class FilterModel:
    """A hybrid system with its noises and measurements, by mode.

    Raises:
        ValueError: a mode has no process noise or no measurement, or one of the wrong shape.
    """

    system: System
    process: Mapping[int, ProcessNoise]
    measurements: Mapping[int, Measurement]
    reset_noise: Mapping[tuple[int, int], Array] = field(default_factory=dict)  # W_R (k, k)
    manifolds: Mapping[int, Manifold] = field(default_factory=dict)  # R^n where there is none
    options: SimulationOptions = field(default_factory=SimulationOptions)
    guard_noise: Mapping[tuple[int, int], float] = field(default_factory=dict)  # of w, a variance

    def __post_init__(self) -> None:
        """Check that every mode has what it needs."""
        for mode in self.system.modes:
            for name, table in (("process", self.process), ("measurements", self.measurements)):
                if mode not in table:
                    raise ValueError(f"mode {mode} is missing in {name}: give one for every mode")
            k = self.tangent_dim(mode)
            check_covariance(self.process[mode].Q, k, f"process noise Q of mode {mode}")
            V = self.measurements[mode].V
            check_covariance(V, len(V), f"measurement noise V of mode {mode}")
        for (source, target), noise in self.reset_noise.items():
            k = self.tangent_dim(target)
            check_covariance(noise, k, f"reset noise of ({source}, {target})")
        for edge, variance in self.guard_noise.items():
            check_covariance(np.reshape(variance, (1, -1)), 1, f"guard noise of {edge}")

    def tangent_dim(self, mode: int) -> int:
        """Number k of a mode's tangent vectors; the state's own dimension in R^n."""
        manifold = self.manifolds.get(mode)
        return self.system.modes[mode].state_dim if manifold is None else manifold.tangent_dim


def check_covariance(matrix: Array, size: int, name: str) -> None:
    """Refuse what is no covariance (size, size).

    Raises:
        ValueError: wrong shape, numbers that are not finite, not symmetric, or with a negative
            eigenvalue.
    """
    matrix = np.asarray(matrix, float)
    if matrix.shape != (size, size):
        raise ValueError(f"{name} has shape {matrix.shape}; give ({size}, {size})")
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} is not finite: give numbers")
    values = np.linalg.eigvalsh(0.5 * matrix + 0.5 * matrix.T)
    least, largest = values.min(initial=0.0), values.max(initial=0.0)
    if not np.allclose(matrix, matrix.T) or least < -1e-9 * largest:
        raise ValueError(
            f"{name} is no covariance, its smallest eigenvalue is {least:.3g}: give a symmetric"
            " positive semidefinite matrix"
        )


def covariance_root(covariance: Array) -> Array:
    """S (k, k) with S S' = covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))
