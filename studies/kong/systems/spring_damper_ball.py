"""A ball that falls on a spring-damper, which releases it as a spring (5.4.2).

State x = [height z [m], velocity [m/s]], input u = [force [N]]. The ground's force is
-k z - d dz/dt. All resets are the identity. The force jumps by d dz/dt at touchdown and is
continuous at the other two, so only touchdown has a saltation matrix that is not the identity. The
print has an error: docs/errata.md.
"""

from __future__ import annotations

import math

import numpy as np

from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.hilqr.event_linearisation import Placement
from hybrid.systems import Array, FlowMap, Mode, System, Transition

AERIAL = 1  # mode numbers of 5.4.2
SPRING_DAMPER = 2
SPRING = 3
MASS = 1.0  # [kg], 5.4
GRAVITY = 9.8  # [m/s^2], 5.4
STIFFNESS = 100.0  # k [N/m], 5.4.2
DAMPING = 5.0  # d [N s/m], 5.4.2
START = (3.0, -2.0)  # x0, 5.4.2
TARGET = (1.0, 0.0)  # x_des, 5.4.2
INPUT_WEIGHT = 1e-4  # R at each timestep, 5.4.2
TERMINAL_WEIGHT = 100.0  # Q_N / I, 5.4.2
TIMESTEP = 1e-3  # [s], 5.4
STEPS = 1000  # N, 5.4


def spring_damper_ball(
    mass: float = MASS,
    gravity: float = GRAVITY,
    stiffness: float = STIFFNESS,
    damping: float = DAMPING,
) -> System:
    """Modes AERIAL, SPRING_DAMPER and SPRING, left at z = 0, at dz/dt = 0 and at z = 0 (5.4.2).

    Raises:
        ValueError: the spring-damper does not oscillate, d^2 >= 4 k m.
    """
    if damping**2 >= 4.0 * stiffness * mass:
        raise ValueError(
            f"damping {damping} is not below 2 sqrt(k m) = {2.0 * math.sqrt(stiffness * mass)}:"
            " the closed form here is that of an oscillation; lower the damping"
        )
    modes = {
        AERIAL: _aerial(mass, gravity),
        SPRING_DAMPER: _contact("spring-damper", mass, gravity, stiffness, damping),
        SPRING: _contact("spring", mass, gravity, stiffness, 0.0),
    }
    transitions = (
        _transition(AERIAL, SPRING_DAMPER, "touchdown", 1.0, 0.0),
        _transition(SPRING_DAMPER, SPRING, "turn", 0.0, -1.0),
        _transition(SPRING, AERIAL, "release", -1.0, 0.0),
    )
    return System(modes, transitions, "spring-damper ball")


def spring_damper_problem(
    timestep: float = TIMESTEP,
    input_weight: float = INPUT_WEIGHT,
    event_at: Placement = "end",
) -> EventDrivenModel:
    """Trajectory optimisation of 5.4.2, from START: be at rest at one metre with little force.

    ``input_weight`` is R at one timestep; the same problem at another timestep keeps R / timestep.
    """
    cost = QuadraticCost.reaching(
        np.array(TARGET), np.array([[input_weight]]), TERMINAL_WEIGHT * np.eye(2)
    )
    return EventDrivenModel(spring_damper_ball(), AERIAL, timestep, cost, event_at=event_at)


def _transition(source: int, target: int, name: str, height: float, velocity: float) -> Transition:
    """Identity reset at the guard ``height z + velocity dz/dt``."""
    return Transition.continuous(
        source,
        target,
        lambda t, x, u: height * x[0] + velocity * x[1],
        name,
        time_invariant=True,
    )


def _aerial(mass: float, gravity: float) -> Mode:
    """Ballistic flow (5.35)."""

    def flow(t: float, x: Array, u: Array) -> Array:
        return np.array([x[1], u[0] / mass - gravity])

    def solution(t: float, x: Array, u: Array, h: float) -> Array:
        a = u[0] / mass - gravity
        return np.array([x[0] + h * (x[1] + 0.5 * h * a), x[1] + h * a])

    def jacobians(t: float, x: Array, u: Array, h: float) -> tuple[Array, Array]:
        return np.array([[1.0, h], [0.0, 1.0]]), np.array([[0.5 * h * h / mass], [h / mass]])

    return Mode("aerial", 2, 1, flow, flow_map=FlowMap(solution, jacobians))


def _contact(name: str, mass: float, gravity: float, stiffness: float, damping: float) -> Mode:
    """Flow on the ground, m d2z/dt2 = u - m g - k z - d dz/dt, an oscillation about rest."""
    square, decay = stiffness / mass, 0.5 * damping / mass
    frequency = math.sqrt(square - decay**2)

    def flow(t: float, x: Array, u: Array) -> Array:
        return np.array([x[1], u[0] / mass - gravity - square * x[0] - 2.0 * decay * x[1]])

    def fundamental(h: float) -> Array:
        shrink = math.exp(-decay * h)
        c, s = shrink * math.cos(frequency * h), shrink * math.sin(frequency * h) / frequency
        return np.array([[c + decay * s, s], [-square * s, c - decay * s]])

    def solution(t: float, x: Array, u: Array, h: float) -> Array:
        rest = np.array([(u[0] - mass * gravity) / stiffness, 0.0])
        return rest + fundamental(h) @ (x - rest)

    def jacobians(t: float, x: Array, u: Array, h: float) -> tuple[Array, Array]:
        change = fundamental(h)
        return change, (np.eye(2) - change)[:, :1] / stiffness

    return Mode(name, 2, 1, flow, flow_map=FlowMap(solution, jacobians))
