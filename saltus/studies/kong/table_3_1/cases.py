"""The four systems of 3.8.5, with the numbers that are printed there."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hybrid.examples import bouncing_ball
from hybrid.systems import Array, System
from saltus.studies.kong.systems import aslip, constant_flow, pendulum


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
