"""Hybrid tracking cost: (6.1) where the modes match, the extension of 6.4.1 where they do not."""

import numpy as np
import pytest
from pytest import approx

from saltation.examples.bouncing_ball import FALLING, GRAVITY, bouncing_ball
from saltation.hilqr.cost import QuadraticCost
from saltation.hilqr.event_driven import EventDrivenModel
from saltation.hilqr.extension import Modes
from saltation.hilqr.tracking_cost import HybridReference, HybridTrackingCost
from tests.saltation import rollouts

DT, STEPS = 0.01, 60
Q = np.array([[2.0, 0.3], [0.3, 1.5]])
R, Q_N = np.array([[0.02]]), np.diag([5.0, 4.0])
X0 = np.array([1.0, 0.0])
NOMINAL = 0.5 * np.sin(0.2 * np.arange(STEPS))[:, None]


def roll(x0, inputs, mode=FALLING):
    cost = QuadraticCost(np.zeros(2), np.zeros((2, 2)), np.eye(1), np.zeros((2, 2)))
    return rollouts.roll(EventDrivenModel(bouncing_ball(), mode, DT, cost), x0, inputs)


@pytest.fixture(scope="module")
def target():
    return roll(X0, NOMINAL)


def tracking(target, hybrid_update=True):
    reference = HybridReference(bouncing_ball(), DT, target)
    return HybridTrackingCost(reference, Q, R, Q_N, hybrid_update)


def impact_knot(trajectory):
    return trajectory.aux.events[0].knot


def value(cost, trajectory):
    return cost.value(trajectory.states, trajectory.inputs, trajectory.aux)


def printed(trajectory, x_hat, u_hat):
    """(6.1), knot by knot."""
    total = 0.0
    for x, x_r in zip(trajectory.states[:-1], x_hat, strict=False):
        total += (x - x_r) @ Q @ (x - x_r)
    for u, u_r in zip(trajectory.inputs, u_hat, strict=False):
        total += (u - u_r) @ R @ (u - u_r)
    e = trajectory.states[-1] - x_hat[len(trajectory.states) - 1]
    return total + e @ Q_N @ e


@pytest.mark.parametrize("height", [0.85, 1.15])
def test_over_a_mismatch_the_error_is_taken_to_the_extension(target, height):
    """Closed form of both extensions: ballistic flight with the input of the event's timestep."""
    other = roll(np.array([height, 0.0]), NOMINAL)
    own, theirs = impact_knot(target), impact_knot(other)
    assert abs(own - theirs) >= 3
    x_hat, u_hat = target.states.copy(), target.inputs.copy()
    _, event = target.aux.events[0]
    late = theirs > own
    held = NOMINAL[own] if late else NOMINAL[own + 1]
    start = event.state_before if late else event.state_after
    for k in range(min(own, theirs) + 1, max(own, theirs) + 1):
        h, a = k * DT - event.time, held[0] - GRAVITY
        x_hat[k] = start[0] + h * start[1] + 0.5 * h * h * a, start[1] + h * a
        u_hat[k] = held
    expected = printed(other, x_hat, u_hat)
    assert value(tracking(target), other) == approx(expected, rel=1e-9)
    plain = printed(other, target.states, target.inputs)
    assert value(tracking(target, False), other) == approx(plain, rel=1e-12)
    assert plain > 3.0 * expected


@pytest.mark.parametrize("height", [0.85, 1.0, 1.15])
@pytest.mark.parametrize("update", [True, False])
def test_gradients_are_those_of_the_value_with_the_modes_held(target, height, update):
    other, cost, h = roll(np.array([height, 0.0]), NOMINAL + 0.2), tracking(target, update), 1e-5
    expansion = cost.expand(other.states, other.inputs, other.aux)
    rng = np.random.default_rng(4)
    for _ in range(20):
        dx, du = rng.standard_normal(other.states.shape), rng.standard_normal(other.inputs.shape)
        ahead = cost.value(other.states + h * dx, other.inputs + h * du, other.aux)
        behind = cost.value(other.states - h * dx, other.inputs - h * du, other.aux)
        here = value(cost, other)
        slope = np.sum(expansion.l_x * dx) + np.sum(expansion.l_u * du)
        curvature = np.einsum("ki,kij,kj", dx, expansion.l_xx, dx)
        curvature += np.einsum("ki,kij,kj", du, expansion.l_uu, du)
        assert slope == approx((ahead - behind) / (2 * h), rel=1e-6, abs=1e-6)
        assert curvature == approx((ahead - 2 * here + behind) / h**2, rel=1e-2)


@pytest.mark.parametrize("height", [0.85, 1.0, 1.15])
@pytest.mark.parametrize("update", [True, False])
def test_windows_add_up_to_the_whole(target, height, update):
    """Cut anywhere, the impact of the system itself behind or before the reference's."""
    other, cost = roll(np.array([height, 0.0]), NOMINAL - 0.1), tracking(target, update)
    whole, error = value(cost, other), None
    for cut in range(0, STEPS + 1, 4):
        knots, events = other.aux
        behind = tuple(e for e in events if e.knot < cut)
        ahead = tuple(e._replace(knot=e.knot - cut) for e in events if e.knot >= cut)
        rest = cost.window(cut, len(behind))
        states, inputs = other.states[cut:], other.inputs[cut:]
        error, effort = cost.errors(
            other.states[: cut + 1], other.inputs[:cut], Modes(knots[: cut + 1], behind)
        )
        first = np.einsum("ki,ij,kj", error[:-1], Q, error[:-1])
        first += np.einsum("ki,ij,kj", effort, R, effort)
        total = first + rest.value(states, inputs, Modes(knots[cut:], ahead))
        assert total == approx(whole, rel=1e-12)


def test_a_reference_without_modes_is_refused(target):
    with pytest.raises(ValueError, match="EventDrivenModel"):
        HybridReference(bouncing_ball(), DT, target._replace(aux=None))
