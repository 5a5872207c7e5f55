"""The two systems of 4.6.2 as filters know them, and where their trials start.

Initial means are not printed in chapter 4: those of 3.8.5 are taken. That of the constant flow is
confirmed by table 4.1: ||Sigma(t_i)|| = 0.16 at a timestep of 5 s is 0.1 + 0.01 * 2.5^2, so the
guard is 2.5 s away, the initial covariance 0.1 I (as 4.7.1 has it for the particles), and the
process noise 0.01 dt^2 (its caption's 0.1 dt^2 would make it 0.73).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from hybrid.derivatives import jacobian
from hybrid.filters.interface import Belief
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.systems import Array, VectorFunction
from studies.kong.systems import aslip, constant_flow

FLOW_DURATION, FLOW_MEAN, FLOW_VARIANCE = 5.0, np.array([-2.5, 0.0]), 0.1  # 4.7.1, 3.8.5
ASLIP_DURATION, ASLIP_VARIANCE = 1.25, 1e-4  # 4.7.2
ASLIP_BODY = np.array([0.0, 1.8, 5.0 * np.pi / 12.0, 0.0, -1.0, 0.0])  # 3.8.5, see table_3_1_cases
_BODY_LENGTH = aslip.AslipParameters().body_length


class Level(NamedTuple):
    """One set of a grid: the timestep, and how much noise."""

    dt: float  # [s]
    process: float  # ||W|| / dt^2
    measurement: float  # ||V||


class Problem(NamedTuple):
    """What the filters of one set are given, and B trials to start."""

    model: FilterModel
    start: Belief
    states: Array  # (B, n) true initial states
    level: Level
    steps: int
    coordinates: Mapping[int, VectorFunction] | None  # in which errors are taken; None: the states


def flow_problem(level: Level, trials: int, seed: int) -> Problem:
    """Constant flow, both states measured: h_I(x) = x (4.6.2)."""
    system = constant_flow.constant_flow()
    process = dict.fromkeys(system.modes, ProcessNoise(level.process * np.eye(2)))
    measured = Measurement(_itself, level.measurement * np.eye(2), _identity)
    model = FilterModel(system, process, dict.fromkeys(system.modes, measured))
    start = Belief(0.0, constant_flow.LEFT, FLOW_MEAN, FLOW_VARIANCE * np.eye(2), 0, "ok")
    drawn = np.random.default_rng(seed).standard_normal((trials, 2))
    states = FLOW_MEAN + np.sqrt(FLOW_VARIANCE) * drawn
    return Problem(model, start, states, level, round(FLOW_DURATION / level.dt), None)


def aslip_problem(level: Level, trials: int, seed: int) -> Problem:
    """ASLIP, the body's configuration and velocity measured in both modes (4.6.2).

    In flight the leg is held to the body, so the process noise moves the toe along with it, as the
    initial covariance does ("set to match the constraint"): Q = w T T', with T the derivative of
    the eight states by the body's six. In stance the toe stands on the ground, and has none; the
    three leg coordinates and their rates have w each. Errors are of the eight states of flight,
    into which (4.28) takes those of stance; the source does not say in which its are. With noise
    on the toe of its own, or none, the SKF is better too, by less (tried on 8 sets each).
    """
    system, start = aslip.aslip(), aslip.at_rest(ASLIP_BODY)
    T = jacobian(aslip.at_rest, ASLIP_BODY)
    legs = np.diag([1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    flight, stance = (ProcessNoise(level.process * Q) for Q in (T @ T.T, legs))
    V = level.measurement * np.eye(6)
    model = FilterModel(
        system,
        {aslip.FLIGHT: flight, aslip.STANCE: stance},
        {aslip.FLIGHT: Measurement(_body, V), aslip.STANCE: Measurement(_body_on_leg, V)},
    )
    belief = Belief(0.0, aslip.FLIGHT, start, ASLIP_VARIANCE * T @ T.T, 0, "ok")
    drawn = np.random.default_rng(seed).standard_normal((trials, 6))
    bodies = ASLIP_BODY + np.sqrt(ASLIP_VARIANCE) * drawn
    states = np.array([aslip.at_rest(body) for body in bodies])
    shared = {aslip.FLIGHT: _itself, aslip.STANCE: system.outgoing(aslip.STANCE)[0].reset}
    steps = int(ASLIP_DURATION / level.dt + 1e-9)  # 1.25 s is no multiple of 0.03 s
    return Problem(model, belief, states, level, steps, shared)


def _itself(t: float, x: Array, u: Array) -> Array:
    return x.copy()


def _identity(t: float, x: Array, u: Array) -> Array:
    return np.eye(2)


def _body(t: float, x: Array, u: Array) -> Array:
    """h_1: q_b and its rate."""
    return np.array([x[0], x[1], x[2], x[5], x[6], x[7]])


def _body_on_leg(t: float, x: Array, u: Array) -> Array:
    """h_2: q_b and its rate, from the leg's angles and length (4.28)."""
    theta, spin = x[0] + x[1], x[5] + x[6]
    leg_x, leg_y = np.cos(x[0]), np.sin(x[0])
    arm_x, arm_y = _BODY_LENGTH * np.cos(theta), _BODY_LENGTH * np.sin(theta)
    return np.array(
        [
            x[3] + x[2] * leg_x + arm_x,
            x[4] + x[2] * leg_y + arm_y,
            theta,
            x[7] * leg_x - x[2] * x[5] * leg_y - spin * arm_y,
            x[7] * leg_y + x[2] * x[5] * leg_x + spin * arm_x,
            spin,
        ]
    )
