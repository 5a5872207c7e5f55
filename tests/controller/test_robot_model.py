"""The A1 as the solver sees it: a backend's rollouts with their cost, and given derivatives."""

import numpy as np
import pytest

from controller.planner_options import CostOptions
from controller.references import make_reference
from controller.robot_model import RobotModel
from hybrid.hilqr import Linearisation, Policies
from robots.state import integrate
from sim_bridge.rollouts.batch import RolloutBatch
from tests.a1 import A1

PERIOD, KNOTS = 0.01, 6
COST = CostOptions()


class Replay:
    """A backend that answers with what it was given; a server that takes 3 ms to ask."""

    round_trip_s = 0.003

    def __init__(self, batch):
        self._batch = batch

    def roll_out(self, x0, policies):
        return self._batch


class Recorder:
    """Derivatives that tell what they were asked."""

    def __init__(self):
        self.asked = []

    def linearise(self, trajectory):
        self.asked.append(trajectory)
        return Linearisation(np.zeros((KNOTS, 36, 36)), np.zeros((KNOTS, 36, 12)))


@pytest.fixture
def window():
    return make_reference(A1, "walk", 0.2, PERIOD).window(300, KNOTS)


def batch_about(window, count=2):
    """Candidate 0 is the reference itself; the others stray from it."""
    rng = np.random.default_rng(4)
    states = np.tile(np.hstack([window.q, window.v]), (count, 1, 1))
    inputs = np.tile(window.inputs, (count, 1, 1))
    for c in range(1, count):
        inputs[c] += rng.normal(size=inputs[c].shape)
        for x in states[c]:
            x[:] = np.concatenate(integrate(x[:19], x[19:], 0.02 * rng.normal(size=36)))
    forces = 30.0 * np.tile(window.contacts[:-1], (count, 1, 1))
    return RolloutBatch(states, inputs, forces, np.ones(count, dtype=bool))


POLICIES = Policies(*(np.zeros(1),) * 4, np.zeros(1, dtype=np.int64), np.zeros(1))


def test_the_reference_costs_nothing_and_what_strays_from_it_something(window):
    batch = batch_about(window, 3)
    model = RobotModel(A1, Replay(batch), Recorder(), COST)
    model.track(window)
    rollouts = model.roll_out(batch.states[0, 0], POLICIES)
    assert rollouts.cost[0] == pytest.approx(0.0, abs=1e-12) and (rollouts.cost[1:] > 0.1).all()
    assert rollouts.aux is batch.normal_forces and rollouts.states is batch.states


def test_the_gradient_is_the_slope_of_the_cost_by_the_inputs(window):
    batch = batch_about(window)
    model = RobotModel(A1, Replay(batch), Recorder(), COST)
    model.track(window)
    expansion = model.quadratise(model.roll_out(batch.states[1, 0], POLICIES).select(1))
    h, change = 1e-4, np.random.default_rng(0).normal(size=batch.inputs[1].shape)

    def cost(sign):
        moved = batch._replace(inputs=batch.inputs + sign * h * change)
        model.backend = Replay(moved)
        return model.roll_out(batch.states[1, 0], POLICIES).cost[1]

    slope = (cost(1.0) - cost(-1.0)) / (2.0 * h)
    assert (expansion.l_u * change).sum() == pytest.approx(slope, rel=1e-8)
