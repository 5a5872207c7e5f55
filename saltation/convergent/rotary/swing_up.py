"""Swing-up by trajectory optimisation, 2.6.2: five variables a waypoint, on CasADi and IPOPT.

Hermite-Simpson collocation in its compressed form, the torque straight between waypoints: each
interval's error is of the fifth order in its length. The cost is a mean over time,

    J = 1/T int ( w (tau / tau_0)^2 + gamma (tau' / tau_0)^2 + sigma D_a ) dt,   tau_0 = 0.1 N m

the terms of (2.19) that 2.6.2 keeps: energy in place of length, changes of torque in place of
changes of velocity, and the average divergence. w, gamma and sigma are parameters of the one
programme, so that each swing-up seeds the next in the thesis's order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from saltation.arrays import Pair
from saltation.convergent.nlp import ConstraintGroup, Nlp
from saltation.convergent.rotary.divergence import average_divergence
from saltation.convergent.rotary.model import flow
from saltation.convergent.rotary.parameters import QUBE_SERVO_2, RotaryPendulum
from saltation.convergent.rotary.trajectory import SwingUp
from saltation.options import check
from saltation.systems import Array

_TAU_0 = 0.1  # [N m], to make the weights comparable
_REMEDIES = {
    "infeasible": "; give a longer duration, a higher torque_limit or arm_limit, or a seed",
    "iteration_limit": "; give a seed, a lower sigma, or more max_iterations",
}
_STATES = ("arm angle", "pole angle", "arm speed", "pole speed")


@dataclass(frozen=True)
class SwingUpOptions:
    """The task: from hanging at rest to upright at rest, the arm back where it was.

    The thesis prints neither duration, nor N, nor the plan's torque limit. With 0.06 N m the
    voltage stays within the amplifier's 15 V, which it does not with 0.1 N m, the actuator's limit
    of 2.6.5, and 0.04 N m are left to the feedback.

    Raises:
        ValueError: a number is not positive, there are fewer than four waypoints, with which no
            swing-up has as many variables as constraints, or no iteration.
    """

    duration: float = 3.0  # [s]
    waypoints: int = 241  # 12.5 ms apart: see ``trajectory.accuracy``
    torque_limit: float = 0.06  # of the plan, tau_max [N m]
    arm_limit: float = 0.5 * np.pi  # of theta, either side [rad]: the encoder's cable
    max_iterations: int = 2000

    def __post_init__(self) -> None:
        """Check the numbers."""
        check(self, "duration torque_limit arm_limit", "waypoints max_iterations")
        if self.waypoints < 4:
            raise ValueError(f"waypoints {self.waypoints}: give a whole number, 4 or more")


class SwingUpCost(NamedTuple):
    """The weights of the cost."""

    w: float = 1.0  # of the energy
    gamma: float = 0.0  # of the changes of torque [s^2]
    sigma: float = 0.0  # of the average divergence [s]


class SwingUpPlanner:
    """Swing-ups of one pendulum and task, for any weights."""

    def __init__(
        self, options: SwingUpOptions | None = None, pendulum: RotaryPendulum = QUBE_SERVO_2
    ) -> None:
        """Build the programme.

        Raises:
            ValueError: a mass, length, moment or gravity is not positive, or a damping negative.
        """
        _check(pendulum)
        self.options, self.pendulum = options or SwingUpOptions(), pendulum
        N = self.options.waypoints
        states, torques, q = ca.SX.sym("x", 4, N), ca.SX.sym("tau", 1, N), ca.SX.sym("q", 3)
        defects, cost = _transcribe(self.pendulum, self.options, states, torques, q)
        self._nlp = Nlp(
            ca.vertcat(ca.vec(states), torques.T),
            cost,
            [
                ConstraintGroup(f"collocation of the {name}", defect.T, 0.0, 0.0)
                for name, defect in zip(_STATES, defects, strict=True)
            ],
            q,
            self.options.max_iterations,
        )
        self._low, self._high = _bounds(self.options)

    def __reduce__(self) -> tuple[Any, ...]:
        """Arguments that another process builds its own with: IPOPT's memory cannot be sent."""
        return SwingUpPlanner, (self.options, self.pendulum)

    def solve(self, cost: SwingUpCost, seed: SwingUp | None = None) -> SwingUp:
        """A local optimum near the seed; without one, from zeros as in 2.6.6.

        A seed of another length or duration is stretched to this one's waypoints, and one that
        failed is as good a guess as any.
        """
        N = self.options.waypoints
        guess = np.zeros(5 * N) if seed is None else _stretched(seed, N)
        found = self._nlp.solve(guess, self._low, self._high, np.array(cost))
        return SwingUp(
            found.status,
            np.linspace(0.0, self.options.duration, N),
            found.z[: 4 * N].reshape(N, 4),
            found.z[4 * N :],
            found.iterations,
            found.message + _REMEDIES.get(found.status, ""),
        )


def _check(pendulum: RotaryPendulum) -> None:
    """Refuse a machine that is none, as a ValueError."""
    for name, value in pendulum._asdict().items():
        damping = name in ("D_r", "D_p")
        if np.ndim(value) or not (value >= 0.0 if damping else value > 0.0) or value == np.inf:
            asked = "a number, 0 or more" if damping else "a number above 0"
            raise ValueError(f"{name} {value}: give {asked}")


def _stretched(seed: SwingUp, waypoints: int) -> Array:
    """The variables of a seed, straight between its waypoints where these are not as many."""
    own, wanted = (np.linspace(0.0, 1.0, N) for N in (len(seed.times), waypoints))
    states = np.stack([np.interp(wanted, own, state) for state in seed.states.T], 1)
    return np.concatenate([states.ravel(), np.interp(wanted, own, seed.torques)])


def _bounds(options: SwingUpOptions) -> Pair:
    """Bounds of the variables: start and end fixed, the arm and the torque within their limits."""
    high = np.full((options.waypoints, 4), np.inf)
    high[:, 0] = options.arm_limit
    low = -high
    low[0] = high[0] = 0.0
    low[-1] = high[-1] = [0.0, np.pi, 0.0, 0.0]
    torque = np.full(options.waypoints, options.torque_limit)
    return np.concatenate([low.ravel(), -torque]), np.concatenate([high.ravel(), torque])


def _transcribe(
    pendulum: RotaryPendulum, options: SwingUpOptions, states: Any, torques: Any, q: Any
) -> tuple[Sequence[Any], Any]:
    """The defects of the four states, (1, N - 1) each, and the cost."""
    h = options.duration / (options.waypoints - 1)
    before, after = ([states[i, part] for i in range(4)] for part in (slice(0, -1), slice(1, None)))
    tau_a, tau_b = torques[0, :-1], torques[0, 1:]
    rate_a, rate_b = flow(pendulum, before, tau_a), flow(pendulum, after, tau_b)
    ends = list(zip(before, after, rate_a, rate_b, strict=True))
    middle = [0.5 * (a + b) + h / 8.0 * (f_a - f_b) for a, b, f_a, f_b in ends]
    rate_m = flow(pendulum, middle, 0.5 * (tau_a + tau_b))
    defects = [
        b - a - h / 6.0 * (f_a + 4.0 * f_m + f_b)
        for (a, b, f_a, f_b), f_m in zip(ends, rate_m, strict=True)
    ]
    share = 1.0 / (options.waypoints - 1)  # of an interval, of the whole time
    scale = 1.0 / _TAU_0**2
    energy = share * scale / 3.0 * ca.sum2(tau_a * tau_a + tau_a * tau_b + tau_b * tau_b)
    rough = share * scale / h**2 * ca.sum2((tau_b - tau_a) ** 2)
    D_a, D_m, D_b = (average_divergence(pendulum, x) for x in (before, middle, after))
    divergence = share / 6.0 * ca.sum2(D_a + 4.0 * D_m + D_b)
    return defects, q[0] * energy + q[1] * rough + q[2] * divergence
