"""Where the robot will be when a plan begins: the plans in force until then, followed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from controller.robot_model import RolloutBackend
from hybrid.hilqr import Trajectory
from robots.state import difference

Array = NDArray[np.float64]
ON_KNOT = 1e-6  # of a knot: instants that differ by less are the same


class Policy(Protocol):
    """What the tracker follows from a knot of the reference on."""

    @property
    def start(self) -> int:
        """Reference knot at which it takes effect."""
        ...

    @property
    def trajectory(self) -> Trajectory:
        """Nominal states and inputs, on knots."""
        ...

    @property
    def gains(self) -> Array:
        """Feedback (N, 12, 36)."""
        ...


def predict(
    backend: RolloutBackend,
    x0: Array,
    policies: Sequence[Policy],
    begin: float,
    until: float,
    period: float,
    torque_limit: Array,
) -> Array:
    """State after following policies from one instant to another, each from its own start on.

    Args:
        backend: the physics.
        x0: state [q, v] at `begin` (37,).
        policies: in order of their start, one at least; the first is followed before its start too.
        begin, until: instants in knots of the reference; not whole numbers in general.
        period: time between knots [s].
        torque_limit: of the motors (12) [N m].

    Returns:
        x (37,) at `until`; x0 itself when the physics diverges.
    """
    x, now = x0, begin
    while until - now > ON_KNOT:
        stop = min(until, np.floor(now + ON_KNOT) + 1.0)
        torque = np.clip(_torque(in_force(policies, now), x, now), -torque_limit, torque_limit)
        x = backend.advance(x, torque, (stop - now) * period)
        now = stop
    return x if np.isfinite(x).all() else x0


def in_force(policies: Sequence[Policy], now: float) -> Policy:
    """The newest policy that has begun by `now` [knots]; the oldest where none has."""
    begun = [policy for policy in policies if policy.start <= now + ON_KNOT]
    return begun[-1] if begun else policies[0]


def _torque(policy: Policy, x: Array, now: float) -> Array:
    """Torque (12,) [N m] of a policy at the state x (37,) and the instant `now` [knots]."""
    since = now - policy.start
    k = int(np.clip(np.floor(since + ON_KNOT), 0, len(policy.gains) - 1))
    states = policy.trajectory.states
    nominal = states[k] if since - k < 0.5 else states[k + 1]
    dx = difference(nominal[:19], nominal[19:], x[:19], x[19:])
    return policy.trajectory.inputs[k] + policy.gains[k] @ dx
