"""Where the robot will be when a plan begins: each plan is followed from its own start on."""

from typing import NamedTuple

import numpy as np
from pytest import approx

from controller.rollout_planner import predict
from saltation.hilqr import Trajectory
from tests.a1 import A1


class Policy(NamedTuple):
    start: int
    trajectory: Trajectory
    gains: np.ndarray


class Physics:
    """Keeps what it was asked for; the base moves by the first torque times the duration."""

    def __init__(self):
        self.asked = []

    def advance(self, x, torque, duration):
        self.asked.append((round(float(torque[0]), 9), approx(duration)))
        x = x.copy()
        x[0] += torque[0] * duration
        return x


def policy(start, torque, knots=5):
    state = np.zeros(37)
    state[2], state[6], state[7:19] = A1.stand_height, 1.0, A1.stand
    states = np.tile(state, (knots + 1, 1))
    inputs = np.outer(torque + 0.1 * np.arange(knots), np.ones(12))
    return Policy(start, Trajectory(states, inputs, 0.0), np.zeros((knots, 12, 36)))


FIRST, SECOND = policy(10, 1.0), policy(13, 5.0)


def test_a_plan_that_has_not_begun_is_not_followed():
    physics = Physics()
    x = FIRST.trajectory.states[0]
    moved = predict(physics, x, [FIRST, SECOND], 11.5, 14.5, 0.01, A1.torque_limit)
    assert physics.asked == [(1.1, 0.005), (1.2, 0.01), (5.0, 0.01), (5.1, 0.005)]
    assert moved[0] == approx(0.0055 + 0.012 + 0.05 + 0.0255)
