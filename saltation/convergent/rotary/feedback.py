"""Controllers of the pole on its swing-up: LTV-LQR, then infinite-horizon LQR at the top, 2.6.3."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from saltation.arrays import Pair
from saltation.convergent.rotary.divergence import linearise
from saltation.convergent.rotary.ltv_lqr import infinite_horizon_lqr, ltv_lqr
from saltation.convergent.rotary.parameters import RotaryPendulum
from saltation.convergent.rotary.trajectory import SwingUp, interpolants
from saltation.systems import Array


@dataclass(frozen=True)
class Weights:
    """Q and R, the same for all swing-ups (2.6.5); Q_f is the cost-to-go at the top, so that the
    gains go over into those of the infinite horizon.

    The pole's angle is weighted most, as in 2.6.4; the thesis prints no numbers.
    """

    # (4,), the diagonal
    Q: Array = field(default_factory=lambda: np.array([1.0, 10.0, 0.01, 0.01]))
    R: float = 1000.0  # [1/(N m)^2]


@dataclass(frozen=True)
class Feedback:
    """The law at any time and for many pendulums at once."""

    times: Array  # (k,) [s], evenly spaced
    states: Array  # x_des (k, 4)
    torques: Array  # u_open (k,) [N m]
    gains: Array  # K (k, 4)
    top_gain: Array  # (4,), from the last time on, about the last state
    torque_limit: float  # [N m]

    def torque(self, time: float, x: Array) -> Array:
        """(2.31) within the limit [N m] for states (4, m), m pendulums."""
        end = self.times[-1]
        if time >= end:
            asked = self.top_gain @ (self.states[-1][:, None] - x)
        else:
            place = (time - self.times[0]) / (end - self.times[0]) * (len(self.times) - 1)
            i = min(int(place), len(self.times) - 2)
            gain, state, feedforward = (
                known[i] + (place - i) * (known[i + 1] - known[i])
                for known in (self.gains, self.states, self.torques)
            )
            asked = feedforward + gain @ (state[:, None] - x)
        return np.clip(asked, -self.torque_limit, self.torque_limit)


def design(
    pendulum: RotaryPendulum,
    swing: SwingUp,
    weights: Weights | None = None,
    torque_limit: float = 0.1,
    steps: int = 10,
) -> Feedback:
    """The feedback of a swing-up, its gains ``steps`` times between two waypoints.

    The torque limit [N m] is the actuator's, 2.6.5; the plan's own may be less.

    Raises:
        ValueError: the swing-up's status is not "ok", or the weights give no regulator.
    """
    if not swing.ok:
        raise ValueError(f"swing-up is {swing.status} ({swing.message}); give one that is ok")
    weights = weights or Weights()
    Q, R = np.diag(weights.Q), np.array([[weights.R]])
    state, torque = interpolants(pendulum, swing)
    top = infinite_horizon_lqr(*linearise(pendulum, swing.states[-1], 0.0), Q, R)
    times = np.linspace(swing.times[0], swing.times[-1], steps * (len(swing.times) - 1) + 1)

    def linear(time: float) -> Pair:
        at = np.array(time)
        return linearise(pendulum, state(at), float(torque(at)))

    gains = ltv_lqr(linear, times, Q, top.cost, R).gains[:, 0]
    return Feedback(times, state(times), torque(times), gains, top.gain[0], torque_limit)
