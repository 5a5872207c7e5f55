"""Every backend: candidates know nothing of one another, nor calls of the calls before them."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from saltation.hilqr import Policies
from sim_bridge.rollouts.batch import RolloutBatch
from tests.sim_bridge.rollouts.motions import anywhere, landing, on_its_feet, policies, standing

KNOTS = 15  # an odd number, which does not divide into equal parts


def pick(policy, chosen):
    """The same policies with only these candidates."""
    return Policies(
        policy.states, policy.inputs, policy.feedforward, policy.gains,
        policy.policy_index[chosen], policy.step_size[chosen],
    )  # fmt: skip


def assert_same(left, right, same):
    assert_allclose(left.states, right.states, rtol=0, atol=same)
    assert_allclose(left.inputs, right.inputs, rtol=0, atol=100.0 * same)
    assert_allclose(left.normal_forces, right.normal_forces, rtol=0, atol=1e4 * same)
    assert_array_equal(left.finite, right.finite)


def test_the_same_question_has_the_same_answer(backend):
    """Whatever was asked between, and the first answer stays what it was."""
    policy = policies(KNOTS, seed=11)
    answer = backend.roll_out(standing(), policy)
    kept = copy.deepcopy(answer)
    backend.roll_out(anywhere(2), policies(KNOTS, seed=12, held=False))
    for part, as_it_was in zip(answer, kept, strict=True):
        assert_array_equal(part, as_it_was)
    assert_same(backend.roll_out(standing(), policy), kept, backend.same)


def test_a_start_that_is_no_number_is_reported_and_forgotten(backend):
    """Afterwards fewer feet touch, so that what the others left behind is not written over."""
    policy = policies(KNOTS, seed=16)
    sound = backend.roll_out(landing(), policy)
    loaded = (sound.normal_forces > 0.0).sum(axis=2)
    assert sound.finite.all() and 0 < loaded.max() < 4
    for number in (0, 25):
        ill = on_its_feet()
        ill[number] = np.nan
        assert not backend.roll_out(ill, policy).finite.any()
        assert_same(backend.roll_out(landing(), policy), sound, backend.same)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numpy, where a backend computes in it
def test_a_candidate_whose_physics_blows_up_is_reported_and_leaves_the_others_alone(backend):
    """Feedback of the wrong sign, in steps of 20 ms: joints reach 1e30 rad/s within 0.6 s."""
    knots, period = 40, 0.02
    policy = policies(knots, 4, seed=15, held=False)
    policy.gains[0][:, range(12), range(6, 18)] = -8.0
    policy.gains[0][:, range(12), range(24, 36)] = -0.3
    sound = backend.roll_out(on_its_feet(), pick(policy, [0, 2]), period, 1)
    policy.gains[1][:, range(12), range(24, 36)] = 1000.0
    wild = backend.roll_out(on_its_feet(), policy, period, 1)
    assert_array_equal(wild.finite, [True, False, True, False])
    assert_same(RolloutBatch(*(part[::2] for part in wild)), sound, backend.same)


def test_candidates_may_stand_alone_in_any_order_and_share_policies(backend):
    policy = policies(KNOTS, seed=9, noise=2.0)
    together = backend.roll_out(standing(), policy)
    assert together.normal_forces.max() > 10.0
    assert np.abs(np.diff(together.states[:, -1], axis=0)).max(axis=1).min() > 1e-3
    for order in ([3], [4, 1, 1, 0, 2]):
        found = backend.roll_out(standing(), pick(policy, order))
        assert_same(found, RolloutBatch(*(part[order] for part in together)), backend.same)


@pytest.mark.parametrize("part", ["states", "feedforward"])
def test_a_candidate_that_is_no_number_is_reported_and_leaves_the_others_alone(backend, part):
    policy = policies(KNOTS, seed=14)
    policy.step_size[:] = 1.0
    sound, ill = backend.roll_out(standing(), policy), copy.deepcopy(policy)
    getattr(ill, part)[1, KNOTS // 2] = np.nan
    found, well = backend.roll_out(standing(), ill), policy.policy_index == 0
    assert sound.finite.all()
    assert_array_equal(found.finite, well)
    assert_same(*(RolloutBatch(*(p[well] for p in each)) for each in (found, sound)), backend.same)
    assert_same(backend.roll_out(standing(), policy), sound, backend.same)  # and it is forgotten
