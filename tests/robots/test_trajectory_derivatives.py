"""The compiled derivatives of whole trajectories are those of the contact dynamics."""

import numpy as np
import pinocchio as pin
import pytest

from robots.a1.models import foot_frame_ids
from robots.leg_tree import leg_tree
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
    A, B = derivatives.start(states, inputs, SUBSETS, DT).finish()
    for k, (x, tau, contacts) in enumerate(zip(states, inputs, SUBSETS, strict=True)):
        A_k, B_k = dynamics.step_derivatives(x[:19], x[19:], tau, contacts, DT)
        assert np.abs(A[k] - A_k).max() < 1e-9 * np.abs(A_k).max()
        assert np.abs(B[k] - B_k).max() < 1e-9 * np.abs(B_k).max()


def test_threads_do_not_change_a_bit(model, random_state):
    states, inputs = trajectory(random_state)
    frames = foot_frame_ids(model)
    one, three = (TrajectoryDerivatives(model, frames, threads) for threads in (1, 3))
    for left, right in zip(
        one.start(states, inputs, SUBSETS, DT).finish(),
        three.start(states, inputs, SUBSETS, DT).finish(),
        strict=True,
    ):
        np.testing.assert_array_equal(left, right)


def test_a_state_that_is_not_finite_spoils_its_own_knot_alone(model, random_state):
    states, inputs = trajectory(random_state)
    derivatives = TrajectoryDerivatives(model, foot_frame_ids(model))
    A, _ = derivatives.start(states, inputs, SUBSETS, DT).finish()
    states[5] = np.nan
    spoilt, _ = derivatives.start(states, inputs, SUBSETS, DT).finish()
    assert not np.isfinite(spoilt[5]).all()
    np.testing.assert_array_equal(np.delete(spoilt, 5, 0), np.delete(A, 5, 0))


def test_a_stretched_leg_gives_no_exception(model, random_state):
    states, inputs = trajectory(random_state)
    states[:, 7:19] = 0.0  # each foot's Jacobian is singular
    TrajectoryDerivatives(model, foot_frame_ids(model)).start(states, inputs, SUBSETS, DT).finish()


def test_another_tree_is_refused():
    arm = pin.buildSampleModelManipulator()
    with pytest.raises(ValueError, match="four legs"):
        leg_tree(arm, (0, 0, 0, 0))
