"""Rollouts by the server behind the stand-in; the conformance suite holds them to MuJoCo's."""

import numpy as np
import pytest

from hybrid.hilqr import Policies
from runtime.physics_messages import Refusal, RolloutRequest, ServerInfo, decode_reply
from runtime.wire import encode
from sim_bridge.rollouts.mujoco_batch import MujocoRollout
from tests.a1 import A1
from tests.sim_bridge.isaac_gym.stand_in import StandInRollout, make_front

KNOTS, PERIOD = 8, 0.01
STAND = np.concatenate([[0, 0, A1.stand_height - 0.002, 0, 0, 0, 1], A1.stand, np.zeros(18)])


def policies(candidates=4, knots=KNOTS, seed=0):
    rng = np.random.default_rng(seed)
    gains = np.zeros((2, knots, 12, 36))
    gains[:, :, range(12), range(6, 18)] = -60.0
    gains[:, :, range(12), range(24, 36)] = -2.0
    return Policies(
        states=np.tile(STAND, (2, knots + 1, 1)),
        inputs=rng.normal(size=(2, knots, 12)),
        feedforward=rng.normal(size=(2, knots, 12)),
        gains=gains,
        policy_index=np.arange(candidates) % 2,
        step_size=np.linspace(0, 1, candidates),
    )


@pytest.mark.parametrize("pipeline", ["cpu", "gpu"])
def test_it_is_mujoco_to_float32(pipeline):
    ours = StandInRollout(PERIOD, 2, pipeline).roll_out(STAND, policies())
    reference = MujocoRollout(A1, KNOTS, PERIOD, 2).roll_out(STAND, policies())
    assert ours.finite.all()
    np.testing.assert_array_equal(ours.states[:, 0], np.tile(STAND, (4, 1)))  # x0 itself
    np.testing.assert_allclose(ours.states, reference.states, atol=2e-4)
    np.testing.assert_allclose(ours.inputs, reference.inputs, atol=2e-3)
    np.testing.assert_allclose(ours.normal_forces, reference.normal_forces, atol=2e-2)


def test_idle_robots_do_not_matter():
    wide, narrow = StandInRollout(PERIOD, envs=6), StandInRollout(PERIOD, envs=2)
    few = policies(2)
    for left, right in zip(wide.roll_out(STAND, few), narrow.roll_out(STAND, few), strict=True):
        np.testing.assert_array_equal(left, right)
    robots = [env.robot for env in wide.front._worker.service._rollouts.simulation._gym._envs]
    touching = [bool(robot.forces().any()) for robot in robots]
    assert touching == [True, True, False, False, False, False]


def test_joints_may_turn_faster_than_the_urdf_says():
    start = STAND.copy()
    start[2], start[25] = 2.0, 60.0
    policy = policies(1, 1)
    policy.gains[:] = 0.0
    assert StandInRollout(0.002, 1).roll_out(start, policy).states[0, 1, 25] > 55.0


def test_a_policy_that_is_no_number_ends_its_candidate_alone():
    policy = policies()
    policy.gains[1, 3] = np.nan
    backend = StandInRollout(PERIOD)
    batch = backend.roll_out(STAND, policy)
    np.testing.assert_array_equal(batch.finite, policy.policy_index == 0)
    assert np.isfinite(batch.states[1, :4]).all() and np.isnan(batch.states[1, 4:]).all()
    good = StandInRollout(PERIOD).roll_out(STAND, policies())
    np.testing.assert_array_equal(batch.states[0], good.states[0])
    again = backend.roll_out(STAND, policies())  # and nothing of it stays
    np.testing.assert_array_equal(again.states, good.states)


def test_a_start_that_is_no_state_is_no_candidate():
    start = STAND.copy()
    start[8] = np.nan
    assert not StandInRollout(PERIOD).roll_out(start, policies()).finite.any()


def test_a_candidate_at_physx_s_fastest_has_diverged():
    start = STAND.copy()
    start[2], start[19] = 50.0, 999.5
    batch = StandInRollout(PERIOD).roll_out(start, policies())
    assert not batch.finite.any()


def test_physics_that_stays_poisoned_is_started_afresh():
    backend = StandInRollout(PERIOD)
    good = backend.roll_out(STAND, policies())
    worker = backend.front._worker
    robot = worker.service._rollouts.simulation._gym._envs[1].robot
    robot.root = lambda: np.full(13, np.nan)  # for good, as PhysX may
    first = backend.roll_out(STAND, policies())
    np.testing.assert_array_equal(first.finite, [True, False, True, True])
    np.testing.assert_array_equal(first.states[0], good.states[0])
    again = backend.roll_out(STAND, policies())
    assert backend.front.restarts == 1 and again.finite.all()


def test_another_timestep_is_another_process_s():
    backend = StandInRollout(PERIOD)
    backend.roll_out(STAND, policies())
    backend.period = 0.02
    assert backend.roll_out(STAND, policies()).finite.all()
    assert backend.front.restarts == 1


def ask(front, **changes):
    policy = policies(changes.pop("candidates", 4), changes.pop("knots", KNOTS))
    fields = {
        "id": 9, "ground": "", "period": PERIOD, "substeps": 2, "x0": STAND,
        "states": policy.states, "inputs": policy.inputs, "feedforward": policy.feedforward,
        "gains": policy.gains,
        "policy_index": policy.policy_index.tolist(), "step_size": policy.step_size,
    }  # fmt: skip
    return decode_reply(front.answer(encode(RolloutRequest(**dict(fields, **changes)))))


@pytest.mark.parametrize(
    ("changes", "named"),
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
    assert isinstance(reply, Refusal) and reply.id == 9
    assert named in reply.reason and "\n" not in reply.reason


def test_it_says_what_it_offers():
    front = make_front("--envs", "5")
    frame = encode_hello()
    reply = decode_reply(front.answer(frame))
    expected = ServerInfo(
        id=2, protocol=3, backend="isaacgym", device="cpu", most_candidates=5, rollouts=True,
        robot=False, moves_ground=False,
    )  # fmt: skip
    assert reply == expected
    gpu = make_front("--device", "cuda:1", "--pipeline", "gpu")
    assert decode_reply(gpu.answer(frame)).device == "stand-in GPU 1"


def encode_hello():
    from runtime.physics_messages import Hello

    return encode(Hello(id=2, protocol=3))


def test_what_isaac_gym_raises_is_a_refusal_and_the_end_of_its_process():
    front = make_front("--envs", "4")
    ask(front)

    def fault(sim):
        raise RuntimeError("out of\nmemory")

    front._worker.service._rollouts.simulation._gym.simulate = fault
    reply = ask(front)
    assert isinstance(reply, Refusal) and "out of memory" in reply.reason
    assert isinstance(decode_reply(front.answer(encode_hello())), ServerInfo)
    assert front.restarts == 0, "a greeting waits for no new process"
    assert ask(front).finite == [True] * 4 and front.restarts == 1
