"""Every backend: motions on terrain are those of plain MuJoCo, or it says that it has none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots.terrain import Box, Grid, height_at, make_ground
from saltation.hilqr import Trajectory
from sim_bridge.rollouts.derivatives import DifferenceDerivatives, RolloutDerivatives
from sim_bridge.rollouts.single import SingleSimulation
from sim_bridge.rollouts.threaded import ThreadedRollout
from tests.a1 import A1
from tests.sim_bridge.rollouts import plain
from tests.sim_bridge.rollouts.backends import KNOTS
from tests.sim_bridge.rollouts.conftest import PERIOD, SUBSTEPS
from tests.sim_bridge.rollouts.motions import STAND, policies

TILTED = Box((0.0, 0.0, -0.5), (3.0, 3.0, 0.5), 0.3, 0.2)
STONES = tuple(
    Box((0.18 * i, 0.13 * j, 0.01 * (6 + i - j) - 0.3), (0.13, 0.08, 0.3), 0.0, 0.1 * j)
    for i in (-1, 1) for j in (-1, 1)
)  # one below each foot, in an attitude of its own  # fmt: skip
# Each foot stands inside a triangle. Where it touches several, MuJoCo Warp merges contacts that
# MuJoCo keeps, and strays by 1 mm in half a second.
HEIGHTS = Grid(np.random.default_rng(2).uniform(0.0, 0.06, (7, 7)), (-0.9, -0.82), 0.3)
GROUNDS = {
    "slope": make_ground((TILTED,)),
    "stones": make_ground(STONES),
    "heights": make_ground((), HEIGHTS),
}


def on(ground):
    """A stand whose lowest point is about on the ground."""
    x = STAND.copy()
    x[2] = A1.stand_height + max(
        height_at(ground, a, b) for a in (-0.2, 0.2) for b in (-0.15, 0.15)
    )
    return x


def assert_as_plain(backend, made, ground):
    """The motion from a stand is that of plain MuJoCo on the ground, and so is `advance`."""
    x, candidates = on(ground), policies(KNOTS)
    found = made.roll_out(x, candidates)
    wanted = plain.roll_out(x, candidates, PERIOD, SUBSTEPS, ground, backend.vertical)
    level = plain.roll_out(x, candidates, PERIOD, SUBSTEPS)
    assert found.finite.all() and (wanted.normal_forces[:, -10:].sum(axis=2) > 50.0).all()
    assert np.abs(level.states - wanted.states).max() > 0.01  # this ground changes nothing
    backend.assert_close(found, wanted)
    expected = SingleSimulation(A1, ground).advance(x, np.ones(12), 0.05)
    advanced = made.advance(x, np.ones(12), 0.05)
    assert_allclose(advanced, expected, rtol=0, atol=1e-9)
    flat = SingleSimulation(A1).advance(x, np.ones(12), 0.05)
    assert np.abs(flat - expected).max() > 1e-4


@pytest.mark.parametrize("name", GROUNDS)
def test_moves_as_plain_mujoco(backend, name):
    assert_as_plain(backend, backend.on(GROUNDS[name]), GROUNDS[name])


def test_moves_as_plain_mujoco_where_the_ground_has_moved(backend):
    """There and back again: nothing of an earlier ground stays."""
    here = GROUNDS["stones"]
    there = make_ground(tuple(Box(box.centre, box.half, 0.4, -box.pitch) for box in STONES))
    assert here.floor == there.floor
    made = backend.on(here, moves=True)
    for ground in (there, here):
        made.move_ground(ground)
        assert_as_plain(backend, made, ground)


def test_far_from_the_origin_as_near_it(backend):
    ground, away = GROUNDS["slope"], np.array([40.0, -90.0, 0.0])
    far = ground._replace(centre=ground.centre + away)
    near, candidates = backend.on(ground).roll_out(on(ground), policies(KNOTS)), policies(KNOTS)
    candidates.states[..., :3] += away
    found = backend.on(far).roll_out(on(ground) + np.pad(away, (0, 34)), candidates)
    moved = np.abs(found.states - np.pad(away, (0, 34)) - near.states).max(axis=(0, 1))
    # 90 m have a digit of 1e-14 m in float64, 8e-6 m in float32.
    assert moved[:3].max() < backend.close.position + 100.0 * backend.digits


@pytest.mark.parametrize("name", ["slope", "stones"])
def test_derivatives_are_those_of_finite_differences(name):
    ground = GROUNDS[name]
    x, candidates = on(ground), policies(30, 1)
    batch = ThreadedRollout(A1, 30, PERIOD, 1, 1, ground).roll_out(x, candidates)
    trajectory = Trajectory(batch.states[0], batch.inputs[0], 0.0)
    analytic = RolloutDerivatives(A1, PERIOD, 1, 1, ground=ground).linearise(trajectory)
    differences = DifferenceDerivatives(A1, PERIOD, 1, 1, 1e-6, True, ground).linearise(trajectory)
    size = np.linalg.norm(differences.A, axis=(1, 2))
    errors = np.linalg.norm(analytic.A - differences.A, axis=(1, 2)) / size
    assert (batch.normal_forces[0] > 1.0).any(axis=1).sum() > 15  # knots with feet on the ground
    assert np.quantile(errors, 0.8) < 1e-6, np.sort(errors)  # a foot may land within a difference
