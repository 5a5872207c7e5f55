"""A rigid body over one unilateral constraint, as plain data (3.6.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from saltation.mode import LEFT_OUT, complete

OfPosition = Callable[[Any], Any]  # of q (m,)
OfPositionAndMore = Callable[[Any, Any], Any]  # of q (m,) and qd (m,), or u
WEIGHTS = ((1, 3.0 / 4.0), (2, -3.0 / 20.0), (3, 1.0 / 60.0))  # of differences of sixth order
STEP = 3e-3  # rounding 1e-13, truncation h^6 / 140 of the seventh derivative


class Default(NamedTuple):
    """A function that was left out; ``dataclasses.replace`` derives it anew."""

    function: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        """Its value, from the body's other functions."""
        return self.function(*arguments)


@dataclass(frozen=True)
class RigidBody:
    """M(q) qdd + C(q, qd) qd + N(q, qd) = Y(q, u) + contact forces, over g_n(q) >= 0.

    The state is x = [q, qd] (2 m,). g_n should be a distance [m] on the surface and J_t the
    velocity along it [m/s]: friction coefficients refer to these. Functions should take complex
    arguments (``sqrt`` of a sum of squares, not ``norm``): then derivatives are exact to rounding.
    The constraint may not depend on time.

    Raises:
        ValueError: a coefficient is out of its range.
    """

    dof: int  # m
    input_dim: int
    mass: OfPosition  # M(q) (m, m)
    other_forces: OfPositionAndMore  # N(q, qd) (m,), gravity and damping, not friction
    input_forces: OfPositionAndMore  # Upsilon(q, u) (m,), Y in (3.60)
    gap: OfPosition  # g_n(q)
    tangent: OfPosition  # J_t(q) (m,)
    normal: OfPosition = LEFT_OUT  # J_n(q) = D_q g_n (m,)
    coriolis: OfPositionAndMore = LEFT_OUT  # C(q, qd) (m, m)
    normal_rate: OfPositionAndMore = LEFT_OUT  # dJ_n/dt (q, qd) (m,)
    tangent_rate: OfPositionAndMore = LEFT_OUT  # dJ_t/dt (q, qd) (m,)
    mu_s: float = 0.0  # static friction, of the cone (3.90)
    mu_k: float = 0.0  # kinetic friction, mu_s in (3.64)
    impact_friction: float = 0.0  # of impulses; 0 is (3.67), which does not slow the sliding
    restitution: float = 0.0  # e

    def __post_init__(self) -> None:
        """Check the coefficients and derive the functions that were left out."""
        if not 0.0 <= self.mu_k <= self.mu_s < np.inf:
            raise ValueError(
                f"friction mu_k = {self.mu_k}, mu_s = {self.mu_s}: give finite numbers with"
                " 0 <= mu_k <= mu_s (a body that slides with more friction than it sticks with"
                " has states without a motion)"
            )
        if not 0.0 <= self.impact_friction < np.inf or not 0.0 <= self.restitution <= 1.0:
            raise ValueError(
                f"impact_friction = {self.impact_friction}, restitution = {self.restitution}:"
                " give impact_friction >= 0, finite, and restitution in [0, 1]"
            )
        complete(self, "normal", Default(lambda q: gradient(self.gap, q)))
        complete(self, "coriolis", Default(lambda q, qd: christoffel(self.mass, q, qd)))
        complete(self, "normal_rate", Default(lambda q, qd: directional(self.normal, q, qd)))
        complete(self, "tangent_rate", Default(lambda q, qd: directional(self.tangent, q, qd)))

    def split(self, x: Any) -> tuple[Any, Any]:
        """Positions q (m,) and velocities qd (m,) of a state."""
        return x[: self.dof], x[self.dof :]

    def bias(self, q: Any, qd: Any, u: Any) -> Any:
        """Upsilon - N - C qd (m,): what accelerates the body where nothing touches it."""
        inertial = self.coriolis(q, qd) @ qd
        return self.input_forces(q, u) - self.other_forces(q, qd) - inertial


def directional(function: Callable[[Any], Any], q: Any, direction: Any) -> Any:
    """Derivative of a function of q (m,) along a direction (m,), by differences of sixth order.

    Unlike ``saltation.derivatives`` it takes complex arguments and is analytic in them, so that
    flows and guards that contain it can be differentiated by complex step.
    """
    h = STEP / (float(np.max(np.abs(np.real(direction)))) or 1.0)
    total = 0.0
    for k, weight in WEIGHTS:
        shift = (k * h) * direction
        total = total + weight * (function(q + shift) - function(q - shift))
    return total / h


def gradient(function: Callable[[Any], Any], q: Any) -> Any:
    """Derivative of a function of q (m,): the function's shape with an axis (m,) behind."""
    return np.stack([directional(function, q, e) for e in np.eye(len(q))], -1)


def christoffel(mass: Callable[[Any], Any], q: Any, qd: Any) -> Any:
    """Coriolis matrix C(q, qd) (m, m) of a mass matrix, for which dM/dt - 2 C is skew."""
    slope = gradient(mass, q)  # dM_ij / dq_k
    slope_qd = np.einsum("ikj,k->ij", slope, qd)
    return 0.5 * (slope @ qd + slope_qd - slope_qd.T)
