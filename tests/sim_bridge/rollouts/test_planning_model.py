"""The planner's lean model moves as the whole one does."""

import mujoco
import numpy as np
from numpy.testing import assert_allclose

from robots.mujoco_model import load_mujoco
from sim_bridge.rollouts.planning_model import planning_model, touch_slice
from tests.a1 import A1

TIMESTEP = 0.005


def simulate(model, steps=60):
    """Positions and touch forces of a robot that is dropped, lands on its feet and is shaken."""
    data, touch = mujoco.MjData(model), touch_slice(model)
    rng = np.random.default_rng(3)
    data.qpos[2], data.qpos[7:] = 0.33, A1.stand
    data.qvel[:] = 0.2 * rng.normal(size=18)
    positions, forces = [], []
    for _ in range(steps):
        data.ctrl[:] = 60.0 * (A1.stand - data.qpos[7:]) - 1.5 * data.qvel[6:]
        data.ctrl += rng.normal(size=12)
        mujoco.mj_step(model, data)
        positions.append(data.qpos.copy())
        forces.append(data.sensordata[touch].copy())
    return np.array(positions), np.array(forces)


def test_planning_model_moves_as_the_whole_model_does():
    feet_alone = load_mujoco(A1, TIMESTEP)
    feet_alone.geom_conaffinity[feet_alone.geom_group == 3] = 0
    whole = simulate(feet_alone)
    lean = simulate(planning_model(A1, TIMESTEP))
    assert_allclose(lean[0], whole[0], rtol=0, atol=1e-9)
    assert_allclose(lean[1], whole[1], rtol=0, atol=1e-6)
    assert (whole[1] > 1.0).any(axis=0).all()  # every foot must have landed
