"""A particle filter for hybrid systems, after Koutsoukos, Kurien and Zhao (2002).

Each particle is a mode and a state. It is simulated through guards and resets with noise of its
own, and weighed by the likelihood of the measurement in its own mode.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from saltation.filters.consistency import ConsistencyOptions
from saltation.filters.draws import python_subkey
from saltation.filters.interface import Belief, Coordinates, HybridFilter, Status
from saltation.filters.kernels import cloud
from saltation.filters.kernels.cloud import Cloud
from saltation.filters.model import FilterModel, covariance_root
from saltation.filters.tables import model_tables
from saltation.options import check
from saltation.systems import Array
from saltation.threads import in_threads

# ruff: noqa: N803, N806 (the letters are the thesis's)


@dataclass(frozen=True)
class ParticleOptions:
    """Number of particles, and the times at which they are drawn anew.

    Raises:
        ValueError: there is no particle, or no thread.
    """

    particles: int = 1000
    resample_below: float = 0.5  # effective size over their number; 1 for every step, 0 for never
    seed: int = 0
    threads: int = 1  # the result does not depend on it; functions in Python take one
    compiled: bool = True  # where the model compiles

    def __post_init__(self) -> None:
        """Check the numbers."""
        check(self, whole="particles threads")


class ParticleFilter(HybridFilter):
    """A hybrid particle filter.

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
        consistency: ConsistencyOptions | None = None,
    ) -> None:
        """Draw the particles from a Gaussian; arguments as of ``SaltedKalmanFilter``.

        Raises:
            ValueError: as there, and where a mode lives on a manifold, or a V is singular.
        """
        check_densities(model)
        super().__init__(model, mode, mean, Sigma, time, consistency)
        start = self._belief
        self._options = options or ParticleOptions()
        self._tables = model_tables(model, self._options.compiled)
        threads = self._options.threads if self._tables.in_threads else 1
        self._of_thread = [self._tables.with_disturbance() for _ in range(threads)]
        self._dims = [mode.state_dim for mode in model.system.modes.values()]
        self._key, self._steps = python_subkey(np.uint64(self._options.seed), 0), 0
        self._cloud = Cloud.empty(self._options.particles, model.system.state_dim)
        cloud.draw_cloud(
            self._cloud, self._modes.index(mode), start.mean, covariance_root(start.Sigma),
            python_subkey(self._key, -1),
        )  # fmt: skip
        self._summarise(start.time, "ok", "")

    @property
    def weights(self) -> Array:
        """Weights (N,) of the particles, with the sum 1."""
        return np.exp(self._cloud.log_weights)

    @property
    def mode_probabilities(self) -> dict[int, float]:
        """Weight of the particles in each mode; the sum is 1."""
        shares = np.bincount(self._cloud.modes, self.weights, len(self._modes))
        return dict(zip(self._modes, shares.tolist(), strict=True))

    def particles(self) -> list[tuple[int, Array]]:
        """Mode and state (n,) of every particle."""
        pairs = zip(self._cloud.modes, self._cloud.states, strict=True)
        return [(self._modes[mode], state[: self._dims[mode]].copy()) for mode, state in pairs]

    def mean_of(self, coordinates: Coordinates) -> Array:
        """Mean (d,) over all particles, of whatever mode, in coordinates that modes share."""
        values = np.array([coordinates(mode, state) for mode, state in self.particles()])
        return self.weights @ values

    def step(self, u: Array, y: Array | None, duration: float) -> Belief:
        """Predict, and correct where particles could be followed; see ``HybridFilter``."""
        belief = self.predict(u, duration)
        return belief if y is None or belief.status != "ok" else self.correct(u, y)

    def predict(self, u: Array, duration: float) -> Belief:
        """Draw the particles anew where few have weight, and move them over a duration [s]."""
        u, message = self._input(u)
        if not (0.0 <= duration < np.inf and np.isfinite(u).all()):
            message = message or f"duration {duration} s or the input {u} is not finite"
            self._belief = self._belief._replace(
                transitions=0, status="not_finite", message=message
            )
            return self._belief
        key, time = python_subkey(self._key, self._steps), self._belief.time + float(duration)
        self._steps += 1
        share, size = self._options.resample_below, cloud.effective_size(self._cloud.log_weights)
        if share >= 1.0 or size < share * self._options.particles:
            cloud.resample(self._cloud, python_subkey(key, 0))
        before = self._cloud.copy()
        self._move(u, time, python_subkey(key, 1))
        if cloud.drop_failed(self._cloud):
            return self._summarise(time, "ok", "")
        self._cloud = before
        self._cloud.events[:] = 0
        message = self._tables.errors() or "no particle could be followed to the end"
        return self._summarise(time, "simulation_failed", message)

    def correct(self, u: Array, y: Array) -> Belief:
        """Weigh the particles by their likelihoods of y (p,); as they are, where there are none."""
        y, (u, message) = np.ascontiguousarray(y, float), self._input(u)
        status: Status = "rejected"
        if not np.isfinite(y).all():
            status, message = "not_finite", "the measurement is not finite, and not used"
        elif y.ndim != 1:
            message = f"the measurement has shape {y.shape}; give a vector"
        else:
            likely, squared = cloud.weigh(self._of_thread[0], self._belief.time, u, y, self._cloud)
            if likely:
                self._test.add(squared, len(y))
                message = self._test.result.message
                status = "inconsistent" if message else "ok"
            else:
                message = message or "no particle explains the measurement: check its size and V"
        return self._summarise(self._belief.time, status, message)

    def _move(self, u: Array, end: float, key: np.uint64) -> None:
        """Each thread moves every n-th particle to ``end`` [s]."""
        t, count = self._belief.time, len(self._of_thread)

        def move(first: int) -> None:
            own = self._of_thread[first % count]
            cloud.move_all(own, t, u, end, key, (first, count), self._cloud)

        in_threads(move, range(count), len(self._cloud.modes))

    def _summarise(self, time: float, status: Status, message: str) -> Belief:
        """Believe mean and covariance of the particles in the most probable mode."""
        probable = max(self.mode_probabilities.items(), key=lambda item: item[1])[0]
        index, weights = self._modes.index(probable), self.weights
        inside = self._cloud.modes == index
        share = weights[inside] / weights[inside].sum()
        states = self._cloud.states[inside, : self._dims[index]]
        mean = share @ states
        d = states - mean
        Sigma = (d * share[:, None]).T @ d
        events = round(float(weights @ self._cloud.events))
        Sigma = 0.5 * (Sigma + Sigma.T)
        self._belief = Belief(time, probable, mean, Sigma, events, status, message)
        return self._belief


def check_densities(model: FilterModel) -> None:
    """Refuse models that particles cannot take.

    Raises:
        ValueError: a mode lives on a manifold, or a V is not positive definite.
    """
    if any(model.guard_noise.values()):
        raise ValueError("guard_noise: particles know where guards are; make the offset a state")
    if model.manifolds:
        raise ValueError(
            f"modes {sorted(model.manifolds)} live on manifolds; particles take states of R^n:"
            " give coordinates without constraints, or use SaltedKalmanFilter"
        )
    for mode, one in model.measurements.items():
        try:
            np.linalg.cholesky(one.V)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"measurement noise V of mode {mode} is not positive definite: particles are"
                " weighed by its density; give every measurement some noise"
            ) from None
