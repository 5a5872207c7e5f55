"""A driven reference on rough ground: feet on it, swings over it, the trunk along it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from controller.driving.commands import CommandScript, ScriptStep
from controller.driving.footholds import edge_at
from controller.driving.reference import DrivenReference
from controller.options import DriveOptions
from robots.rotations import rotation_from_quaternion
from robots.terrain import Box, height_at, make_ground
from tests.a1 import A1, feet_in_world

PERIOD = 0.01
RAMP = Box((0.0, 0.0, 0.0), (5.0, 5.0, 0.1), 0.4, -0.2)  # up along 0.4 rad
STAIRS = tuple(Box((5.5 + 0.3 * i, 0.0, 0.0), (5.0, 5.0, 0.08 * (i + 1)), 0.0) for i in range(3))
GROUNDS = {"ramp": make_ground((RAMP,)), "stairs": make_ground(STAIRS)}


def walk(ground, gait="trot", seconds=4.0):
    """The whole way as one window."""
    options, steps = DriveOptions(), (ScriptStep(at=0.0, velocity_x=0.3, gait=gait),)
    reference = DrivenReference(options, A1, PERIOD, CommandScript(steps, options, gait), ground)
    return reference.window(0, round(seconds / PERIOD))


@pytest.mark.parametrize("gait", ["walk", "trot"])
@pytest.mark.parametrize("name", GROUNDS)
def test_feet_stand_on_the_ground_and_swing_over_it(name, gait):
    ground = GROUNDS[name]
    window = walk(ground, gait)
    feet = np.array([feet_in_world(q) for q in window.q])
    above = np.array([[p[2] - height_at(ground, p[0], p[1]) for p in each] for each in feet])
    standing = window.contacts > 0.5
    # On stairs a leg that is about to leave a step may be too short for it.
    assert np.quantile(np.abs(above[standing] - A1.legs.foot_radius), 0.98) < 1e-3
    middle = ~standing[:-8] & ~standing[8:]  # of the swings: 40 ms from either end
    assert above[4:-4][middle].min() > A1.legs.foot_radius
    stands = feet[standing]
    edges = [edge_at(ground, p[0], p[1]) for p in stands[::7]]
    assert max(edges) < 0.01


def test_the_trunk_is_parallel_to_a_slope_and_above_it():
    ground = GROUNDS["ramp"]
    window = walk(ground)
    for q in window.q[::20]:
        up = rotation_from_quaternion(q[3:7])[:, 2]
        assert_allclose(up, RAMP_NORMAL, atol=1e-6)
        assert q[2] - height_at(ground, q[0], q[1]) == approx(window.q[0, 2], abs=1e-6)


RAMP_NORMAL = np.array([-np.sin(0.2) * np.cos(0.4), -np.sin(0.2) * np.sin(0.4), np.cos(0.2)])


def test_swings_over_unknown_ground_are_higher_by_three_deviations():
    flat = make_ground((Box((0.0, 0.0, -0.5), (9.0, 9.0, 0.5)),))
    known, unknown = (
        np.array([feet_in_world(q) for q in walk(ground, seconds=2.0).q])
        for ground in (flat, flat._replace(roughness=0.02))
    )
    assert np.abs(known[..., :2] - unknown[..., :2]).max() < 1e-9
    assert unknown[..., 2].max() - known[..., 2].max() == approx(0.06, abs=2e-3)
