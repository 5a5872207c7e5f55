"""Every backend: half a second of free fall, standing and sliding as plain MuJoCo has it."""

from functools import cache

import numpy as np
import pytest

from robots.conventions import GRAVITY
from sim_bridge.rollouts.batch import RolloutBatch
from sim_bridge.rollouts.mujoco_batch import MujocoRollout
from tests.a1 import A1
from tests.sim_bridge.rollouts import plain
from tests.sim_bridge.rollouts.backends import KNOTS
from tests.sim_bridge.rollouts.conftest import PERIOD, SUBSTEPS
from tests.sim_bridge.rollouts.motions import MOTIONS, STAND, anywhere


@cache
def expected() -> dict[str, RolloutBatch]:
    """Every motion by plain MuJoCo."""
    return {
        name: plain.roll_out(start(), make(KNOTS), PERIOD, SUBSTEPS)
        for name, (start, make) in MOTIONS.items()
    }


@pytest.mark.parametrize("motion", MOTIONS)
def test_moves_as_plain_mujoco(backend, motion):
    start, make = MOTIONS[motion]
    found, wanted = backend.roll_out(start(), make(KNOTS)), expected()[motion]
    assert found.finite.all() and wanted.finite.all()
    states = np.abs(found.states - wanted.states).max(axis=(0, 1))
    forces = np.abs(found.normal_forces - wanted.normal_forces).max()
    torques = np.abs(found.inputs - wanted.inputs).max()
    strayed = states[:3].max(), states[3:19].max(), states[19:].max(), forces
    assert all(far <= near for far, near in zip(strayed, backend.close, strict=True)), strayed
    # What the feedback makes of a deviation, no more.
    assert torques <= 100.0 * backend.close.angle + 10.0 * backend.close.velocity, torques


def test_the_motions_are_what_they_are_called():
    momentum = plain.Momentum()
    feet = {
        name: np.array([[momentum.foot_positions(x) for x in states] for states in batch.states])
        for name, batch in expected().items()
    }
    fallen, standing, sliding = (expected()[name] for name in MOTIONS)
    assert (fallen.normal_forces == 0.0).all() and fallen.states[:, -1, 2].max() < 2.5
    turn = np.array([plain.difference(a[0], a[-1])[3:6] for a in fallen.states])
    assert (np.linalg.norm(turn, axis=1) > 0.5).all()
    weight = momentum.mass * GRAVITY
    assert np.abs(standing.normal_forces[:, -10:].sum(axis=2) - weight).max() < 0.2 * weight
    assert (standing.normal_forces[:, -10:] > 5.0).all()
    # A foot that carries load and moves slides; one that sticks goes nowhere.
    slid = np.linalg.norm(np.diff(feet["sliding"][..., :2], axis=1), axis=-1)
    assert (slid * (sliding.normal_forces > 5.0)).sum(axis=1).min() > 0.01
    stuck = np.linalg.norm(np.diff(feet["standing"][..., :2], axis=1), axis=-1)
    assert (stuck * (standing.normal_forces > 5.0)).sum(axis=1).max() < 0.01


def test_advance_is_the_same_motion_whatever_rolls_out(backend):
    """Between plans one state is taken along by MuJoCo here, to the bit, by every backend."""
    local, x = MujocoRollout(A1, KNOTS, PERIOD, SUBSTEPS), anywhere(7)
    for start, torque in ((x, np.linspace(-3.0, 3.0, 12)), (STAND.copy(), np.ones(12))):
        expected = local.advance(start, torque, 0.0125)
        np.testing.assert_array_equal(backend.at().advance(start, torque, 0.0125), expected)
