"""Rollouts by the server behind the stand-in; the conformance suite holds them to MuJoCo's."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from runtime.physics_messages import Hello, Refusal, ServerInfo, decode_reply
from runtime.wire import encode
from tests.sim_bridge.isaac_gym.stand_in import StandInRollout, make_front
from tests.sim_bridge.physics.requests import rollout_request
from tests.sim_bridge.rollouts.motions import on_its_feet, policies

KNOTS, PERIOD = 8, 0.01
STAND = on_its_feet()


def ask(front, knots=KNOTS, candidates=4, **changes):
    request = rollout_request(policies(knots, candidates), **changes)
    return decode_reply(front.answer(encode(request)))


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"candidates": 5}, "1 to 4"),
        ({"candidates": 0}, "1 to 4"),
        ({"policy_index": [0, 0, 2, 0]}, "policy index"),
        ({"policy_index": [0, 0, -1, 0]}, "policy index"),
        ({"policy_index": [0, 0, 0]}, "step sizes"),
        ({"knots": 0}, "knots"),
        ({"substeps": 0}, "substeps"),
        ({"knots": 11, "substeps": 1000}, "up to 10000 steps"),
        ({"period": 0.0}, "period"),
        ({"period": float("nan")}, "period"),
    ],
    ids=str,
)
def test_what_it_cannot_do_it_refuses(changes, named):
    reply = ask(make_front("--envs", "4"), **changes)
    assert isinstance(reply, Refusal) and reply.id == 7
    assert named in reply.reason and "\n" not in reply.reason


@pytest.mark.parametrize("pipeline", ["cpu", "gpu"])
def test_a_policy_that_is_no_number_ends_its_candidate_alone_at_its_knot(pipeline):
    policy, backend = policies(KNOTS, 4), StandInRollout(PERIOD, pipeline=pipeline)
    good = backend.roll_out(STAND, policy)
    policy.gains[1, 3] = np.nan
    batch = backend.roll_out(STAND, policy)
    assert_array_equal(batch.finite, policy.policy_index == 0)
    assert np.isfinite(batch.states[1, :4]).all() and np.isnan(batch.states[1, 4:]).all()
    assert_array_equal(batch.states[0], good.states[0])


def test_joints_may_turn_faster_than_the_urdf_says_and_physx_s_fastest_has_diverged():
    backend, start = StandInRollout(PERIOD), STAND.copy()
    start[2], start[25] = 50.0, 60.0
    assert backend.roll_out(start, policies(1, 1, held=False)).states[0, 1, 25] > 50.0
    start[19] = 999.5
    assert not backend.roll_out(start, policies(KNOTS, 4)).finite.any()


def test_it_says_what_it_offers_and_a_process_that_fails_is_made_anew():
    front, hello = make_front("--envs", "5"), encode(Hello(id=2, protocol=3))
    assert decode_reply(front.answer(hello)) == ServerInfo(
        id=2, protocol=3, backend="isaacgym", device="cpu", most_candidates=5, rollouts=True,
        robot=False, moves_ground=False,
    )  # fmt: skip
    assert ask(front).finite == [True] * 4 and front.restarts == 0
    assert ask(front, period=0.02).finite == [True] * 4 and front.restarts == 1
