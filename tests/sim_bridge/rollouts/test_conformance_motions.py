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
    backend.assert_close(found, wanted)
    torques = np.abs(found.inputs - wanted.inputs).max()
    # What the feedback makes of a deviation, no more.
    assert torques <= 100.0 * backend.close.angle + 10.0 * backend.close.velocity, torques
