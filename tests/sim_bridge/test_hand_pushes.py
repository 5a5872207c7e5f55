"""Pushes by hand: each once, at the start of the next tick; refused where it makes no sense."""

import numpy as np
import pytest

from runtime.messages import Push
from sim_bridge.hand_pushes import HandPushes
from tests.runtime.inbox import Inbox


def push(sequence=1, velocity=(0.0, 1.0, 0.0), body="base", time=5.0):
    return Push(sequence=sequence, time=time, body=body, velocity=np.array(velocity))


class Robot:
    """Notes how it is pushed."""

    def __init__(self):
        self.blows = []

    def add_base_velocity(self, velocity):
        self.blows.append(("base", *velocity))

    def add_foot_velocity(self, leg, velocity):
        self.blows.append((leg, *velocity))


def apply(*pushes):
    robot, by_hand = Robot(), HandPushes(Inbox(pushes))
    by_hand.apply(robot)
    by_hand.apply(robot)
    return robot.blows, by_hand.counts


@pytest.mark.parametrize(
    "body, target", [("base", "base"), ("FR", 0), ("FL", 1), ("RR", 2), ("RL", 3)]
)
def test_a_push_goes_to_its_body(body, target):
    assert apply(push(body=body, velocity=(1.0, 2.0, -3.0))) == (
        [(target, 1.0, 2.0, -3.0)], {"applied": 1},
    )  # fmt: skip


def test_a_push_that_comes_again_is_one_and_one_with_another_number_another():
    blows, counts = apply(push(1), push(1), push(2), push(2, time=5.5), push(3))
    assert len(blows) == 3 and counts == {"applied": 3}


@pytest.mark.parametrize(
    "velocity", [(np.nan, 0.0, 0.0), (0.0, np.inf, 0.0), (0.0, 0.0, -20.1), (15.0, 15.0, 0.0)]
)
@pytest.mark.parametrize("body", ["base", "RL"])
def test_what_is_not_finite_or_too_much_is_refused_and_the_next_push_counts(velocity, body):
    bad = push(1, velocity, body)
    assert apply(bad, bad, push(2)) == ([("base", 0.0, 1.0, 0.0)], {"refused": 1, "applied": 1})
