"""`hilqr.derivatives` and `rollout` in a launch file: which derivatives and search they give."""

import pytest

from controller.rigid_derivatives import RigidDerivatives
from saltus.configuration.launch import load_launch
from saltus.launch import planners
from sim_bridge.rollouts.derivatives import DifferenceDerivatives, RolloutDerivatives
from tests.a1 import A1

KINDS = {
    "rigid": RigidDerivatives,
    "rollout": RolloutDerivatives,
    "differences": DifferenceDerivatives,
}


@pytest.mark.parametrize("name", KINDS)
def test_every_name_gives_its_derivatives(name):
    config = load_launch("sim", [f"hilqr.derivatives={name}", "hilqr.paused.threads=1"])
    assert type(planners.make_derivatives(planners.planning(config), A1)) is KINDS[name]


@pytest.mark.parametrize("rollout, search", [("mujoco", "backtracking"), ("warp", "exhaustive")])
def test_a_device_gets_all_step_sizes_in_one_call(rollout, search):
    config = load_launch("push", [f"rollout={rollout}"])
    assert planners.planning(config).search.line_search == search
