"""Every backend: half a second of free fall, standing and sliding as plain MuJoCo has it."""

from functools import cache

import numpy as np
import pytest

from tests.sim_bridge.rollouts import plain
from tests.sim_bridge.rollouts.backends import KNOTS
from tests.sim_bridge.rollouts.conftest import PERIOD, SUBSTEPS
from tests.sim_bridge.rollouts.motions import MOTIONS


@cache
def expected():
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
