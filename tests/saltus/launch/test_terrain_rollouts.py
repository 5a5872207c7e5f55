"""A walk on terrain is the same whatever rolls out: the ground reaches a server, and a device."""

import pytest
from numpy.testing import assert_array_equal

from saltus.configuration.launch import make_config
from saltus.launch.lock_step import LockStep
from sim_bridge.physics_service import PhysicsService
from sim_bridge.rollouts.threaded import ThreadedRollout
from tests.a1 import A1
from tests.sim_bridge.physics.served_world import served

SLOPE = {"kind": "slope", "angle": 0.1745, "length": 20.0, "at": [-10.0, 0.0]}
STEPS = {"kind": "boxes", "heights": [0.0, 0.05], "at": [0.3, 0.0], "seed": 1}


@pytest.fixture(scope="module")
def address():
    """Of a server of MuJoCo's rollouts."""

    def serve(knots, period, substeps, ground):
        return ThreadedRollout(A1, knots, period, substeps, 2, ground)

    with served(PhysicsService("mujoco", "here", 64, serve)) as address:
        yield address


def walk(**keys):
    """A tenth of a second of trot."""
    fields = {"reference": "trot", "mode": "paused", "duration": 0.1}
    fields["command"] = {"velocity_x": 0.3}
    run = LockStep(make_config(fields | keys, "file"))
    run.run()
    return run


@pytest.mark.parametrize("belief", ["known", "estimated"])
def test_a_run_with_a_server_is_the_same_to_the_bit(belief, address):
    """By finite differences: analytic derivatives take one more step where a server rolled out.

    A server gets all step sizes at once, so the run here searches them in this way too.
    """
    ground = {"terrain": [SLOPE, STEPS], "terrain_belief": belief}
    ground["hilqr"] = {"derivatives": "differences", "paused": {"line_search": "exhaustive"}}
    here = walk(**ground)
    there = walk(rollout="remote", remote={"address": address}, **ground)
    assert_array_equal(there.simulation.truth().q, here.simulation.truth().q)
    rollouts = there.planner.statistics()["rollouts"]
    assert rollouts["requests"] > 10 and rollouts["fallbacks"] == 0
