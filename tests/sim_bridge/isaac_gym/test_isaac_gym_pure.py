"""The server's own arithmetic is ours, re-stated for another Python: states, policies, motors."""

import numpy as np
from numpy.testing import assert_allclose
from pytest import approx
from scipy.spatial.transform import Rotation

from robots.state import difference_batch
from robots.urdf import urdf_of
from sim_bridge.isaac_gym import server
from sim_bridge.motors import motor_torques
from tests.a1 import A1


def states(count, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 37))
    x[:, 3:7] /= np.linalg.norm(x[:, 3:7], axis=1, keepdims=True)
    return x


def test_difference_is_ours():
    x, y = states(200), states(200, 1)
    y[:50, 3:7] = x[:50, 3:7] + 1e-7 * y[:50, 3:7]  # small angles
    y[:50, 3:7] /= np.linalg.norm(y[:50, 3:7], axis=1, keepdims=True)
    y[50, 3:7], y[51, 3:7] = x[50, 3:7], -x[51, 3:7]  # none, and the long way round
    expected = difference_batch(x[:, :19], x[:, 19:], y[:, :19], y[:, 19:])
    assert_allclose(server.difference(x, y), expected, atol=1e-12)


def test_the_root_s_velocity_is_that_of_its_point_and_ours_that_of_the_origin():
    x, point = states(20), np.array([0.1, -0.2, 0.3])
    root = server.root_from_x(x, point)
    at_point = x[:, 19:22] + np.cross(x[:, 22:25], point)
    assert_allclose(root[:, 7:10], Rotation.from_quat(x[:, 3:7]).apply(at_point), atol=1e-12)
    assert_allclose(server.x_from_root(root, x[:, 7:19], x[:, 25:], point), x, atol=1e-12)


def test_motors_are_the_simulated_robot_s():
    rng, limits = np.random.default_rng(4), (33.5, 10.5, 21.0)
    for _ in range(200):
        command = rng.normal(size=(5, 12)) * np.array([[1.0], [5.0], [60.0], [2.0], [20.0]])
        command[rng.integers(5), rng.integers(12)] = rng.choice([np.nan, np.inf, -np.inf, 0.0])
        q, dq, expected = rng.normal(size=12), 15.0 * rng.normal(size=12), np.empty(12)
        motor_torques(command, q, dq, np.outer(limits, np.ones(12)), expected)
        given = server.motor_torque(command, q, dq, server.MotorLimits(*limits))
        assert_allclose(given, expected, atol=1e-13)


def test_the_urdf_with_other_masses():
    urdf = urdf_of(A1)
    assert server.total_mass(urdf) == approx(13.741)
    changed = server.changed_urdf(urdf, mass_scale=1.2, payload=3.0)
    assert server.total_mass(changed) == approx(1.2 * 13.741 + 3.0)
    trunk = server.ElementTree.fromstring(changed).find("link[@name='trunk']/inertial")
    assert float(trunk.find("mass").get("value")) == approx(1.2 * 6.0 + 3.0)
    assert trunk.find("origin").get("xyz") == "0 0.0041 -0.0005"
    assert float(trunk.find("inertia").get("iyy")) == approx(1.2 * 0.0377999)  # a point
