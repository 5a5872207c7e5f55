"""`hilqr.derivatives` in a launch file: which derivatives it gives, and what is refused."""

import numpy as np
import pytest

from controller.rigid_derivatives import RigidDerivatives
from saltation.hilqr import Trajectory
from saltus.configuration.launch import load_launch
from saltus.launch import planners
from sim_bridge.rollouts.derivatives import DifferenceDerivatives, RolloutDerivatives
from tests.a1 import A1
from tests.sim_bridge.rollouts.motions import STAND

KINDS = {
    "rigid": RigidDerivatives,
    "rollout": RolloutDerivatives,
    "differences": DifferenceDerivatives,
}


def make(*assignments):
    search = "hilqr.paused={threads: 1, substeps: 4}"
    config = load_launch("sim", [search, "hilqr.period=0.02", *assignments])
    return planners.make_derivatives(planners.planning(config), A1)


def still():
    """One knot of a robot a millimetre above the ground."""
    x = STAND.copy()
    x[2] += 0.001
    return Trajectory(np.array([x, x]), np.zeros((1, 12)), 0.0, np.zeros((1, 4)))


@pytest.mark.parametrize("name", KINDS)
def test_every_name_gives_its_derivatives(name):
    derivatives = make(f"hilqr.derivatives={name}")
    assert type(derivatives) is KINDS[name]
    linear = derivatives.linearise(still())
    assert linear.A.shape == (1, 36, 36) and linear.B.shape == (1, 36, 12)
    assert np.isfinite(linear.A).all() and np.isfinite(linear.B).all()


@pytest.mark.parametrize("rollout, search", [("mujoco", "backtracking"), ("warp", "exhaustive")])
def test_a_device_gets_all_step_sizes_in_one_call(rollout, search):
    config = load_launch("push", [f"rollout={rollout}"])
    assert planners.planning(config).search.line_search == search
