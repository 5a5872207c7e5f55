"""The compiled derivatives of whole trajectories are those of the contact dynamics."""

import numpy as np
import pinocchio as pin
import pytest

from robots.a1.models import foot_frame_ids
from robots.leg_tree import leg_tree
from robots.touchdown import touchdown
from robots.trajectory_derivatives import TrajectoryDerivatives

DT = 0.01
SUBSETS = np.array([[float(mask >> i & 1) for i in range(4)] for mask in range(16)])


def trajectory(random_state):
    """Random states, one for each set of feet on the ground."""
    q, v, tau = (
        np.array(column) for column in zip(*(random_state() for _ in SUBSETS), strict=True)
    )
    return np.hstack([q, v]), tau


@pytest.mark.parametrize("threads", [1, 3])
def test_equal_the_contact_dynamics(model, dynamics, random_state, threads):
    states, inputs = trajectory(random_state)
    derivatives = TrajectoryDerivatives(model, foot_frame_ids(model), threads)
    A, B = derivatives.compute(states, inputs, SUBSETS, DT, 0.05)[:2]
    for k, (x, tau, contacts) in enumerate(zip(states, inputs, SUBSETS, strict=True)):
        A_k, B_k = dynamics.step_derivatives(x[:19], x[19:], tau, contacts, DT)
        assert np.abs(A[k] - A_k).max() < 1e-9 * np.abs(A_k).max()
        assert np.abs(B[k] - B_k).max() < 1e-9 * np.abs(B_k).max()


def test_threads_do_not_change_a_bit(model, random_state):
    states, inputs = trajectory(random_state)
    frames = foot_frame_ids(model)
    one, three = (TrajectoryDerivatives(model, frames, threads) for threads in (1, 3))
    for left, right in zip(
        one.compute(states, inputs, SUBSETS, DT, 0.05),
        three.compute(states, inputs, SUBSETS, DT, 0.05),
        strict=True,
    ):
        np.testing.assert_array_equal(left, right)


def test_a_state_that_is_not_finite_spoils_its_own_knot_alone(model, random_state):
    states, inputs = trajectory(random_state)
    derivatives = TrajectoryDerivatives(model, foot_frame_ids(model))
    A, _ = derivatives.compute(states, inputs, SUBSETS, DT, 0.05)[:2]
    states[5] = np.nan
    spoilt, _ = derivatives.compute(states, inputs, SUBSETS, DT, 0.05)[:2]
    assert not np.isfinite(spoilt[5]).all()
    np.testing.assert_array_equal(np.delete(spoilt, 5, 0), np.delete(A, 5, 0))


def test_a_stretched_leg_gives_no_exception(model, random_state):
    states, inputs = trajectory(random_state)
    states[:, 7:19] = 0.0  # each foot's Jacobian is singular
    TrajectoryDerivatives(model, foot_frame_ids(model)).compute(states, inputs, SUBSETS, DT, 0.05)


def test_another_tree_is_refused():
    arm = pin.buildSampleModelManipulator()
    with pytest.raises(ValueError, match="four legs"):
        leg_tree(arm, (0, 0, 0, 0))


def test_landings_are_those_of_touchdown(model, dynamics, random_state):
    """Single feet, two at once, one that is too slow, at random states."""
    contacts = np.array([[0, 1, 1, 0], [1, 1, 1, 0], [1, 0, 0, 1], [1, 1, 1, 1], [1, 1, 0, 0]] * 3)
    contacts = contacts.astype(float)
    q, v, inputs = (
        np.array(column) for column in zip(*(random_state() for _ in range(16)), strict=True)
    )
    states = np.hstack([q, v])
    found = TrajectoryDerivatives(model, foot_frame_ids(model), 2).compute(
        states, inputs[:15], contacts, DT, 1.0
    )
    expected, statuses = [], set()
    for k in range(14):
        feet = np.flatnonzero(contacts[k + 1] > contacts[k])
        if not feet.size:
            continue
        before = contacts[k].copy()
        _, velocity = dynamics.step(q[k], v[k], inputs[k], before, DT)
        for foot in feet:
            after = inputs[k + 1] if foot == feet[-1] else inputs[k]
            hit = touchdown(dynamics, q[k + 1], velocity, inputs[k], before, foot, 1.0, after)
            expected.append((k, foot, hit.saltation, hit.reset_jacobian))
            statuses.add(hit.status)
            velocity, before[foot] = hit.v_plus, 1.0
    assert "ok" in statuses and len(statuses) > 1
    assert len(found.knot) == len(expected) > 8
    for k, foot, xi, reset, wanted in zip(*found[2:], expected, strict=True):
        assert (k, foot) == wanted[:2]
        assert np.abs(xi - wanted[2]).max() < 1e-8 * np.abs(wanted[2]).max()
        assert np.abs(reset - wanted[3]).max() < 1e-8 * np.abs(wanted[3]).max()
