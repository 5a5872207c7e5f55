"""Derivatives along a walk are those of the rollouts themselves, whoever computes them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from robots.state import difference
from saltation.hilqr import Policies, Trajectory
from sim_bridge.rollouts.derivatives import DifferenceDerivatives, RolloutDerivatives
from sim_bridge.rollouts.threaded import ThreadedRollout
from tests.a1 import A1
from tests.differences import assert_joints_drift, error, moved
from tests.sim_bridge.rollouts.motions import STAND, on_its_feet

KNOTS, PERIOD = 45, 0.01
KINDS = {"rollout": RolloutDerivatives, "differences": DifferenceDerivatives}
PAIRS = [[0, 3], [1, 2]]  # of the feet that a trot lifts in turns


def walk(substeps=2):
    """A trot on the spot, rolled out: feedback follows legs that bend in turns."""
    states = np.tile(STAND, (1, KNOTS + 1, 1))
    for k in range(KNOTS + 1):
        phase = 2.0 * np.pi * k / 20
        for feet, side in zip(PAIRS, (1.0, -1.0), strict=True):
            bend = 0.35 * max(0.0, side * np.sin(phase))
            for foot in feet:
                states[0, k, 7 + 3 * foot : 10 + 3 * foot] += [0.0, bend, -2.0 * bend]
    gains = np.zeros((1, KNOTS, 12, 36))
    gains[:, :, range(12), range(6, 18)] = -80.0
    gains[:, :, range(12), range(24, 36)] = -2.0
    inputs = np.zeros((1, KNOTS, 12))
    policies = Policies(states, inputs, inputs, gains, np.zeros(1, dtype=np.int64), np.ones(1))
    rolled = ThreadedRollout(A1, KNOTS, PERIOD, substeps).roll_out(on_its_feet(), policies)
    assert rolled.finite.all()
    return Trajectory(rolled.states[0], rolled.inputs[0], 0.0, rolled.normal_forces[0])


@pytest.fixture(scope="module")
def trajectory():
    return walk()


@pytest.mark.parametrize("saltation", [False, True])
def test_the_joints_drift_in_one_step(saltation):
    """Two steps drift with two velocities."""
    linear = RolloutDerivatives(A1, PERIOD, 1, 1, saltation).linearise(walk(1))
    assert_joints_drift(linear, PERIOD)


def landings(trajectory):
    """Knots in which a foot begins to carry, or the one before: the force is of a knot's end."""
    down = trajectory.aux > 0.0
    begins = np.zeros(KNOTS, dtype=bool)
    begins[1:] = (down[1:] & ~down[:-1]).any(axis=1)
    begins[:-1] |= begins[1:]
    return begins


def one_knot(rollout, x, torque):
    """State after one knot of the rollouts' own, under a constant torque."""
    zero = np.zeros((1, 1, 12))
    states = np.tile(x, (1, 2, 1))
    policies = Policies(
        states, torque.reshape(1, 1, 12), zero, np.zeros((1, 1, 12, 36)),
        np.zeros(1, dtype=np.int64), np.ones(1),
    )  # fmt: skip
    return rollout.roll_out(x, policies).states[0, 1]


def slopes(rollout, x, torque):
    """A, B of one knot: forward and backward differences of the rollouts, (2, 36, 48)."""
    middle, sides = one_knot(rollout, x, torque), []
    for sign in (1.0, -1.0):
        columns = []
        for e in sign * 1e-6 * np.eye(48):
            end = one_knot(rollout, moved(x, e[:36]), torque + e[36:])
            columns.append(difference(middle[:19], middle[19:], end[:19], end[19:]))
        sides.append(sign * np.array(columns).T / 1e-6)
    return np.array(sides)


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_gives_the_same_bits(kind, trajectory):
    expected = KINDS[kind](A1, PERIOD, 2, 1).linearise(trajectory)
    assert expected.A.shape == (KNOTS, 36, 36) and expected.B.shape == (KNOTS, 36, 12)
    for first, threads in ((0, 3), (KNOTS - 2, 4)):  # a knot depends on none before it
        part = Trajectory(trajectory.states[first:], trajectory.inputs[first:], 0.0)
        found = KINDS[kind](A1, PERIOD, 2, threads).linearise(part)
        assert_array_equal(found.A, expected.A[first:])
        assert_array_equal(found.B, expected.B[first:])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("substeps", [1, 2])
def test_they_map_a_small_change_of_a_knot_to_the_rollouts_next_one(kind, substeps):
    trajectory, rollout = walk(substeps), ThreadedRollout(A1, 1, PERIOD, substeps, 1)
    linear = KINDS[kind](A1, PERIOD, substeps, 2).linearise(trajectory)
    checked = 0
    for k in np.flatnonzero(~landings(trajectory))[::4]:
        x, torque = trajectory.states[k], trajectory.inputs[k]
        end = one_knot(rollout, x, torque)
        assert_allclose(end, trajectory.states[k + 1], atol=1e-11)  # a last digit of x
        ahead, back = slopes(rollout, x, torque)
        if error(ahead, back) < 1e-4:
            assert error(np.hstack([linear.A[k], linear.B[k]]), (ahead + back) / 2.0) < 1e-4
            checked += 1
    assert checked >= 4


def test_saltation_changes_knots_with_a_landing_alone(trajectory):
    plain, salted = (
        RolloutDerivatives(A1, PERIOD, 2, 1, saltation=on).linearise(trajectory)
        for on in (False, True)
    )
    changed = (plain.A != salted.A).any(axis=(1, 2))
    assert changed.sum() >= 4
    assert not changed[~landings(trajectory)].any()


@pytest.mark.parametrize(
    "first, number, change, kept",
    [(1, 9, 1e-4, True), (2, 9, 1e-4, True), (1, 9, 0.1, False), (1, 30, 0.5, False),
     (1, None, 50.0, False), (0, 9, 1e-4, False)],
    ids=["near", "two knots on", "far joint", "far velocity", "far force", "same solve"],
)  # fmt: skip
def test_a_knot_near_one_of_the_last_solve_keeps_its_derivatives(
    first, number, change, kept, trajectory
):
    knot, derivatives = 12, RolloutDerivatives(A1, PERIOD, 2, 1, replay=False)
    last = derivatives.linearise(trajectory)
    states, forces = trajectory.states[first:].copy(), trajectory.aux[first:].copy()
    if number is None:
        forces[knot] += change * (forces[knot] > 0.0)
    else:
        states[knot, number] += change
    later = Trajectory(states, trajectory.inputs[first:], 0.0, forces)
    found = derivatives.linearise(later)
    exact = RolloutDerivatives(A1, PERIOD, 2, 1, replay=False).linearise(later)
    for ours, theirs, own in ((found.A, last.A, exact.A), (found.B, last.B, exact.B)):
        assert_array_equal(ours[knot], (theirs[first:] if kept else own)[knot])
        assert_array_equal(ours[knot + 1 :], theirs[first + knot + 1 :])


@pytest.mark.parametrize("kind", KINDS)
def test_a_trajectory_that_diverged_gives_no_numbers_and_spoils_nothing_after_it(kind, trajectory):
    derivatives = KINDS[kind](A1, PERIOD, 2, 2)
    expected = derivatives.linearise(trajectory)
    A, states = expected.A.copy(), trajectory.states.copy()
    states[7:12] = np.nan
    found = derivatives.linearise(trajectory._replace(states=states))
    assert_array_equal(expected.A, A)
    for k in range(KNOTS):
        if 7 <= k < 12:
            assert not np.isfinite(found.A[k]).all()
        else:
            assert_array_equal(found.A[k], A[k])
