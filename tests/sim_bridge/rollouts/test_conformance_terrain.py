"""Backends that know terrain: motions on it are those of plain MuJoCo."""

import numpy as np
import pytest

from hybrid.hilqr import Trajectory
from robots.a1.constants import STAND_HEIGHT
from robots.terrain import Box, Ground, height_at, make_ground
from sim_bridge.rollouts.derivatives import DifferenceDerivatives, RolloutDerivatives
from sim_bridge.rollouts.mujoco_batch import MujocoRollout
from sim_bridge.rollouts.threaded import ThreadedRollout
from tests.sim_bridge.rollouts import plain
from tests.sim_bridge.rollouts.backends import DOUBLE, KNOTS
from tests.sim_bridge.rollouts.conftest import PERIOD, SUBSTEPS
from tests.sim_bridge.rollouts.motions import STAND, policies

TILTED = Box((0.0, 0.0, -0.5), (3.0, 3.0, 0.5), 0.3, 0.2)
STONES = tuple(
    Box((0.18 * i, 0.13 * j, 0.01 * (6 + i - j) - 0.3), (0.13, 0.08, 0.3), 0.0, 0.1 * j)
    for i in (-1, 1) for j in (-1, 1)
)  # one below each foot, in an attitude of its own  # fmt: skip
GROUNDS = {"slope": make_ground((TILTED,)), "stones": make_ground(STONES)}


def on(ground: Ground) -> np.ndarray:
    """A stand whose lowest point is about on the ground."""
    x = STAND.copy()
    x[2] = STAND_HEIGHT + max(height_at(ground, a, b) for a in (-0.2, 0.2) for b in (-0.15, 0.15))
    return x


@pytest.mark.parametrize("kind", [MujocoRollout, ThreadedRollout])
@pytest.mark.parametrize("name", GROUNDS)
def test_moves_as_plain_mujoco(name: str, kind: type[MujocoRollout]) -> None:
    ground = GROUNDS[name]
    x, candidates = on(ground), policies(KNOTS)
    found = kind(KNOTS, PERIOD, SUBSTEPS, 2, ground).roll_out(x, candidates)
    wanted = plain.roll_out(x, candidates, PERIOD, SUBSTEPS, ground)
    level = plain.roll_out(x, candidates, PERIOD, SUBSTEPS)
    assert found.finite.all() and (wanted.normal_forces[:, -10:].sum(axis=2) > 50.0).all()
    assert np.abs(level.states - wanted.states).max() > 0.01, "this ground changes nothing"
    assert np.abs(found.states - wanted.states)[..., :19].max() < 100.0 * DOUBLE.position
    assert np.abs(found.normal_forces - wanted.normal_forces).max() < 100.0 * DOUBLE.force
    advanced = kind(KNOTS, PERIOD, SUBSTEPS, 2, ground).advance(x, np.zeros(12), 0.05)
    assert not np.allclose(advanced, kind(KNOTS, PERIOD).advance(x, np.zeros(12), 0.05), atol=1e-6)


@pytest.mark.parametrize("name", GROUNDS)
def test_derivatives_are_those_of_finite_differences(name: str) -> None:
    ground = GROUNDS[name]
    x, candidates = on(ground), policies(30, 1)
    batch = ThreadedRollout(30, PERIOD, 1, 1, ground).roll_out(x, candidates)
    trajectory = Trajectory(batch.states[0], batch.inputs[0], 0.0)
    analytic = RolloutDerivatives(PERIOD, 1, 1, ground=ground).linearise(trajectory)
    differences = DifferenceDerivatives(PERIOD, 1, 1, 1e-6, True, ground).linearise(trajectory)
    size = np.linalg.norm(differences.A, axis=(1, 2))
    errors = np.linalg.norm(analytic.A - differences.A, axis=(1, 2)) / size
    assert (batch.normal_forces[0] > 1.0).any(axis=1).sum() > 15  # knots with feet on the ground
    assert np.quantile(errors, 0.8) < 1e-6, np.sort(errors)  # a foot may land within a difference
