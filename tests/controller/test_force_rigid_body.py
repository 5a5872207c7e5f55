"""The single rigid body's discretisation."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from controller.centroidal.rigid_body import discrete_step, standing_body
from robots.conventions import GRAVITY
from tests.a1 import A1

BODY = standing_body(A1)


def spd(rng):
    root = rng.normal(size=(3, 3))
    return root @ root.T + 0.1 * np.eye(3)


def accelerations(forces, arms, inverse, mass):
    angular = inverse @ np.cross(arms, forces).sum(axis=0)
    return angular, forces.sum(axis=0) / mass - [0.0, 0.0, GRAVITY]


def test_a_step_is_the_flow():
    rng = np.random.default_rng(2)
    x, forces, arms = rng.normal(size=12), 50.0 * rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    inverse, dt, moved = spd(rng), 0.07, np.empty(12)
    discrete_step(x, forces, arms, BODY.mass, inverse, dt, moved)
    angular, linear = accelerations(forces, arms, inverse, BODY.mass)
    flow = solve_ivp(
        lambda _, y: np.concatenate((y[6:], angular, linear)), (0.0, dt), x, rtol=1e-11, atol=1e-11
    )
    assert_allclose(moved, flow.y[:, -1], rtol=1e-9, atol=1e-9)
