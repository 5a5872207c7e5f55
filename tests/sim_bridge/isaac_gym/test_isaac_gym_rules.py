"""The server keeps the rules of Isaac Gym's tensor API, which the stand-in enforces."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sim_bridge.isaac_gym import server
from tests.sim_bridge.isaac_gym.stand_in import make_api, make_options
from tests.sim_bridge.isaac_gym.stand_in_api import RuleBroken
from tests.sim_bridge.isaac_gym.stand_in_gym import Gym
from tests.sim_bridge.isaac_gym.stand_in_physics import MujocoRobot

OPTIONS = {
    "cpu": make_options("--envs", "2"),
    "gpu": make_options("--envs", "2", "--device", "cuda:0", "--pipeline", "gpu"),
}


@pytest.mark.parametrize("pipeline", ["cpu", "gpu"])
def test_the_server_keeps_the_rules_and_sets_what_no_motion_shows(pipeline):
    urdf = server.changed_urdf(OPTIONS["cpu"].urdf_text, feet_only=True)
    gym, steps = Gym(MujocoRobot), 3
    simulation = server.Simulation(
        make_api(gym=gym), server.Setup(0.005, 2, urdf, 0.7, 0.0, None), OPTIONS[pipeline]
    )
    x = np.zeros((2, 37))
    x[:, 2], x[:, 6], x[:, 7:19] = 2.0, 1.0, np.tile([0.0, 0.8, -1.6], 4)
    simulation.stage(x)
    for _ in range(steps):
        simulation.step(np.ones((2, 12)))
        x, _contacts = simulation.read()
    assert (x[:, 25:] > 0.0).all()
    assert gym.calls.count("simulate") == gym.calls.count("set_effort") == steps
    assert gym.calls.count("set_root") == gym.calls.count("set_dof") == 1
    with pytest.raises(RuleBroken, match="refreshed"):
        simulation.read()
    asset, shapes = gym.asset.options, gym.asset.shapes
    assert [(shape.friction, shape.restitution) for shape in shapes] == 4 * [(0.7, 0.0)]
    assert asset.collapse_fixed_joints and asset.replace_cylinder_with_capsule
    assert asset.armature == 0.0, "it would come on top of the joints' own"
    assert asset.max_linear_velocity == asset.max_angular_velocity == server.FASTEST


def test_robots_stand_apart_wherever_they_are_and_however_many():
    places = server.grid(4096)
    assert len({tuple(place) for place in places.tolist()}) == 4096 and places.max() == 63
    assert_array_equal(server.grid(9), places[:9])
    assert places[:9].max() == 2 and not places[0].any()
