"""A particle filter for hybrid systems, after Koutsoukos, Kurien and Zhao (2002).

Each particle is a mode and a state. It is simulated through guards and resets with noise of its
own, and weighed by the likelihood of the measurement in its own mode.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hybrid.compiled.limits import OK
from hybrid.filters.draws import key_under, normals
from hybrid.filters.interface import Belief, Status
from hybrid.filters.model import FilterModel
from hybrid.filters.noises import square_root
from hybrid.filters.particle_engines import engine
from hybrid.filters.particle_kernels import Cloud, drop_failed, effective_size, resample
from hybrid.systems import Array

# ruff: noqa: N806 (the letters are the thesis's)

Coordinates = Callable[[int, Array], Array]  # of (mode, state (n,)), the same (d,) in every mode


@dataclass(frozen=True)
class ParticleOptions:
    """How many particles, and when they are drawn anew.

    Raises:
        ValueError: there is no particle, or no thread.
    """

    particles: int = 1000
    resample_below: float = 0.5  # effective size over their number; 1 for every step, 0 for never
    seed: int = 0
    threads: int = 1  # the result does not depend on it
    compiled: bool = True  # where the model compiles

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.particles < 1 or self.threads < 1:
            raise ValueError(
                f"{self.particles} particles on {self.threads} threads: give 1 or more of either"
            )


class ParticleFilter:
    """A hybrid particle filter; see ``HybridFilter``.

    ``belief`` has mean and covariance of the particles in the most probable mode. What is drawn
    depends on the seed, the step and the particle's number alone.
    """

    def __init__(
        self,
        model: FilterModel,
        mode: int,
        mean: Array,
        Sigma: Array,
        time: float = 0.0,
        options: ParticleOptions | None = None,
    ) -> None:
        """Draw the particles from a Gaussian.

        Args:
            model: the system with its noises and measurements.
            mode: number of the mode.
            mean: state (n,) of that mode.
            Sigma: covariance (n, n), which may be singular.
            time: [s].
            options: how many particles, and so on.

        Raises:
            ValueError: a mode lives on a manifold, there is no such mode, a shape is wrong, a
                covariance is none, or a V is singular.
        """
        self._model, self._options = model, options or ParticleOptions()
        self._engine = engine(model, self._options.threads, self._options.compiled)
        self._numbers = list(model.system.modes)
        self._dims = [mode.state_dim for mode in model.system.modes.values()]
        self._key, self._steps = key_under(np.uint64(self._options.seed), 0), 0
        self._cloud = self._drawn(mode, np.asarray(mean, dtype=np.float64), Sigma)
        self._belief = self._believed(time, "ok")

    @property
    def belief(self) -> Belief:
        """What is believed now."""
        return self._belief

    @property
    def weights(self) -> Array:
        """Weights (N,) of the particles, with the sum 1."""
        return np.exp(self._cloud.log_weights)

    @property
    def mode_probabilities(self) -> dict[int, float]:
        """Weight of the particles in each mode; the sum is 1."""
        shares = np.bincount(self._cloud.modes, self.weights, len(self._numbers))
        return {mode: float(share) for mode, share in zip(self._numbers, shares, strict=True)}

    def particles(self) -> list[tuple[int, Array]]:
        """Mode and state (n,) of every particle."""
        cloud = self._cloud
        return [
            (self._numbers[mode], state[: self._dims[mode]].copy())
            for mode, state in zip(cloud.modes, cloud.states, strict=True)
        ]

    def mean_of(self, coordinates: Coordinates) -> Array:
        """Mean (d,) over all particles, of whatever mode, in coordinates that modes share."""
        values = np.array([coordinates(mode, state) for mode, state in self.particles()])
        return self.weights @ values

    def step(self, u: Array, y: Array | None, duration: float) -> Belief:
        """Move over a duration [s] with u (m,) held, then weigh by y (p,); see ``HybridFilter``."""
        u = np.asarray(u, dtype=np.float64)
        if not (0.0 <= duration < np.inf and np.isfinite(u).all()):
            self._belief = self._belief._replace(transitions=0, status="not_finite")
            return self._belief
        key, time = key_under(self._key, self._steps), self._belief.time + duration
        self._steps += 1
        self._thin(key_under(key, 0))
        before = self._cloud.copied()
        self._engine.move(self._cloud, self._belief.time, u, duration, key_under(key, 1))
        if not drop_failed(self._cloud):
            self._cloud = before
            self._cloud.events[:] = 0
            status: Status = "simulation_failed"
        else:
            status = self._weighed(time, u, y)
        self._belief = self._believed(time, status)
        return self._belief

    def _thin(self, key: np.uint64) -> None:
        """Resample where few particles have most of the weight."""
        least = self._options.resample_below * self._options.particles
        if self._options.resample_below >= 1.0 or effective_size(self._cloud.log_weights) < least:
            resample(self._cloud, key)

    def _weighed(self, time: float, u: Array, y: Array | None) -> Status:
        if y is None:
            return "ok"
        y = np.asarray(y, dtype=np.float64)
        if not np.isfinite(y).all():
            return "not_finite"
        return "ok" if self._engine.weigh(self._cloud, time, u, y) else "rejected"

    def _drawn(self, mode: int, mean: Array, Sigma: Array) -> Cloud:
        """Particles of a Gaussian."""
        cloud = Cloud.empty(self._options.particles, self._model.system.state_dim)
        self._model.system.outgoing(mode)  # refuses a mode that is not there
        index = self._numbers.index(mode)
        S, n, z = square_root(Sigma, "Sigma"), self._dims[index], np.empty(len(mean))
        if mean.shape != (n,) or S.shape != (n, n):
            raise ValueError(
                f"mode {mode} has {n} states; the mean has shape {mean.shape} and Sigma {S.shape}"
            )
        cloud.modes[:], cloud.codes[:] = index, OK
        start = key_under(self._key, -1)
        for b in range(len(cloud.modes)):
            normals(key_under(start, b), z)
            cloud.states[b, :n] = mean + S @ z
        return cloud

    def _believed(self, time: float, status: Status) -> Belief:
        """Mean and covariance in the most probable mode."""
        probable = max(self.mode_probabilities.items(), key=lambda item: item[1])[0]
        index, weights = self._numbers.index(probable), self.weights
        inside = self._cloud.modes == index
        share = weights[inside] / weights[inside].sum()
        states = self._cloud.states[inside, : self._dims[index]]
        mean = share @ states
        apart = states - mean
        Sigma = (apart * share[:, None]).T @ apart
        events = round(float(weights @ self._cloud.events))
        return Belief(time, probable, mean, 0.5 * (Sigma + Sigma.T), events, status)
