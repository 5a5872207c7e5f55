"""Several feet that land within one knot: pieces of the Bouligand derivative, and their mean."""

from itertools import permutations
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from controller.rigid_derivatives import Landing, arrival_order, touchdown_jumps
from robots.contact_dynamics import ContactDynamics
from robots.legs import inverse_kinematics
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.rotations import (
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
)
from robots.state import difference, integrate
from robots.terrain import Box, make_ground
from robots.touchdown import impact
from tests.a1 import A1, feet_in_world
from tests.differences import flow, moved
from tests.robots.test_contact_dynamics import foot_jacobian

PAIRS = [(0, 3), (1, 2), (0, 1), (2, 3)]  # of trot and bound
SETS = [*PAIRS, (0, 1, 3)]


@pytest.fixture(scope="module")
def dynamics():
    model = load_pinocchio(A1)
    return ContactDynamics(model, foot_frame_ids(model))


class Feet(NamedTuple):
    """Height of the feet above the ground (4) [m] and its rate [m/s], by Pinocchio."""

    height: np.ndarray
    rate: np.ndarray


def feet_at(dynamics, q, v):
    rate = (foot_jacobian(dynamics.model, q) @ v)[2::3]
    return Feet(feet_in_world(q)[:, 2] - A1.legs.foot_radius, rate)


def corner(dynamics, feet):
    """A landing at whose end all `feet` meet the ground at once, briskly in every order."""
    rng = np.random.default_rng(1)
    contacts = np.array([float(foot not in feet) for foot in range(4)])
    while True:
        q, v = np.zeros(19), np.zeros(18)
        q[:7] = integrate(np.array([0.0, 0, 0.28, 0, 0, 0, 1] + 12 * [0.0]), v, np.concatenate(
            (np.zeros(3), 0.1 * rng.normal(size=3), np.zeros(30))))[0][:7]  # fmt: skip
        places = A1.legs.hip + np.outer(A1.legs.plane, [0.0, 1.0, 0.0])
        places[:, :2] += 0.03 * rng.normal(size=(4, 2))
        places[:, 2] = A1.legs.foot_radius - q[2]
        q[7:] = inverse_kinematics(A1.legs, places @ rotation_from_quaternion(q[3:7]))
        v = rng.normal(size=18) * np.repeat([0.3, 0.5, 2.0], [3, 3, 12])
        v = impact(dynamics, q, v, contacts).v_plus if contacts.any() else v
        ends = (np.concatenate((q, v)), np.concatenate((q, v)))
        found = Landing(7, *ends, *(5.0 * rng.normal(size=(2, 12))), contacts, feet, A1.legs)
        if all(falls(dynamics, found, order) for order in permutations(feet)):
            return found


def falls(dynamics, landing, order):
    """Whether every foot still comes down after those before it have landed."""
    q, v, contacts = landing.after[:19], landing.after[19:], landing.contacts.copy()
    for foot in order:
        if feet_at(dynamics, q, v).rate[foot] > -0.3:
            return False
        contacts[foot] = 1.0
        v = impact(dynamics, q, v, contacts).v_plus
    return True


def piece(dynamics, landing, order):
    """Products of Xi and of D_x R with the feet in a given order."""
    jumps = touchdown_jumps(dynamics, landing._replace(feet=order), 0.0, "index")
    product = np.eye(36), np.eye(36)
    for jump in jumps:
        assert jump.knot == landing.knot
        product = jump.saltation @ product[0], jump.reset_jacobian @ product[1]
    return product


def simulated(dynamics, landing, dx):
    """A neighbour of the corner: each foot lands when it does; the same time back at the end."""
    q, v = integrate(landing.after[:19], landing.after[19:], dx)
    contacts, clock, order, left = landing.contacts.copy(), 0.0, [], list(landing.feet)
    while left:
        times = np.zeros(4)
        for foot in left:
            for _ in range(4):  # Newton on the time of touchdown
                at = feet_at(dynamics, *flow(dynamics, q, v, landing.inputs, contacts, times[foot]))
                times[foot] -= at.height[foot] / at.rate[foot]
        foot = min(left, key=lambda i: times[i])
        q, v = flow(dynamics, q, v, landing.inputs, contacts, times[foot])
        clock += times[foot]
        left.remove(foot)
        order.append(foot)
        contacts[foot] = 1.0
        v = impact(dynamics, q, v, contacts).v_plus
    return tuple(order), flow(dynamics, q, v, landing.inputs_after, contacts, -clock)


@pytest.mark.parametrize("feet", SETS)
def test_the_order_selects_the_derivative_of_simulated_touchdowns(dynamics, feet):
    """One-sided differences in random directions; every order of the feet is met."""
    landing, rng, h = corner(dynamics, feet), np.random.default_rng(5), 1e-7
    pieces = {order: piece(dynamics, landing, order)[0] for order in permutations(feet)}
    _, end = simulated(dynamics, landing, np.zeros(36))
    met, furthest = set(), 0.0
    for _ in range(24 if len(feet) < 3 else 80):
        dx = rng.normal(size=36)
        order, neighbour = simulated(dynamics, landing, h * dx)
        slope = difference(*end, *neighbour) / h
        scale = np.abs(slope).max()
        assert np.abs(pieces[order] @ dx - slope).max() < 1e-4 * scale
        for other in pieces:
            furthest = max(furthest, np.abs(pieces[other] @ dx - slope).max() / scale)
        met.add(order)
        x = moved(landing.after, h * dx)
        assert arrival_order(dynamics, landing._replace(before=x)) == order
    assert met == set(pieces) and furthest > 0.05  # the wrong order is a wrong derivative


@pytest.mark.parametrize("feet", SETS)
def test_the_average_is_the_mean_over_all_orders(dynamics, feet):
    landing = corner(dynamics, feet)
    (mean,) = touchdown_jumps(dynamics, landing, 0.0, "average")
    products = [piece(dynamics, landing, order) for order in permutations(feet)]
    Xi, D_xR = (np.mean(matrices, axis=0) for matrices in zip(*products, strict=True))
    assert mean.knot == landing.knot
    assert_allclose(mean.saltation, Xi, atol=1e-9 * np.abs(Xi).max())
    assert_allclose(mean.reset_jacobian, D_xR, atol=1e-7)


def test_of_two_feet_the_same_is_first_on_level_ground_and_on_a_slope(dynamics):
    """Ground and robot are turned together."""
    slope, landing = make_ground((Box((0, 0, 1), (5, 5, 1), 0.7, 0.3),)), corner(dynamics, (0, 3))
    turn, met = slope.rotation[0], set()
    for dx in np.random.default_rng(2).normal(size=(24, 36)):
        x = moved(landing.after, 1e-3 * dx)
        met.add(order := arrival_order(dynamics, landing._replace(before=x)))
        x[:3] = turn @ x[:3]
        x[3:7] = quaternion_product(quaternion_from_rotation(turn), x[3:7])
        assert arrival_order(dynamics, landing._replace(before=x, ground=slope)) == order
    assert len(met) == 2
