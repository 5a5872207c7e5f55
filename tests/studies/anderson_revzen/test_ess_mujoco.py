"""The hopper and the plate as MuJoCo models: the same physics as ours."""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

from studies.anderson_revzen.ess_contacts import plate_model
from studies.anderson_revzen.systems.spring_bed import SpringBed, depths, spring_bed


@pytest.mark.parametrize("springs", [1, 3, 40])
def test_accelerations_are_those_of_the_springs(springs):
    """Among them tilted plates, tips sunk in, and tips that leave fast and still push."""
    bed = SpringBed(springs, 340.0)
    system, model = spring_bed(bed), plate_model(bed)
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    touched = 0
    for x in rng.normal([0.0, 0.95, 0.0, 0.0, 0.0, 0.0], [0.1, 0.1, 0.2, 1.0, 3.0, 1.0], (30, 6)):
        data.qpos[:], data.qvel[:] = x[:3], x[3:]
        mujoco.mj_forward(model, data)
        ours = system.flow(x, system.side(x), system.parameters)[3:]
        assert_allclose(data.qacc, ours, rtol=1e-5, atol=1e-4)
        touched += np.sum(depths(bed, x) > 0.0)
        assert data.ncon == np.sum(depths(bed, x) > 0.0)
    assert touched > 5 * springs
