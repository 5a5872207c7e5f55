"""Limits of the forces of four feet [N], and a second solver within them."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.linalg import block_diag
from scipy.optimize import minimize

from controller.centroidal.qp import ForceLimits
from robots.conventions import GRAVITY
from tests.a1 import A1

WEIGHT = A1.mass * GRAVITY
LIMITS = FRICTION, FORCE_MIN, FORCE_MAX = ForceLimits(0.6, 5.0, 200.0)
FEET = np.array(
    [[0.18, -0.13, -0.3], [0.18, 0.13, -0.3], [-0.18, -0.13, -0.3], [-0.18, 0.13, -0.3]]
)


def within(forces, contacts, rounding=0.0):
    """Whether forces (..., 3), normal last, keep all limits: feet in the air have none."""
    on, normal = contacts > 0.5, forces[..., 2]
    tangents = np.abs(forces[..., :2]).max(axis=-1)
    return bool(
        (forces[~on] == 0.0).all()
        and (tangents <= FRICTION * normal + 1e-9).all()
        and (normal[on] >= FORCE_MIN - rounding).all()
        and (normal[on] <= FORCE_MAX + rounding).all()
    )


def best_forces(cost, contacts, axes):
    """The cheapest forces (..., 3) by SLSQP, from evenly shared ones.

    `axes` (..., 3, 3): rows are the axes of the ground below each foot, its normal last.
    """
    on = contacts > 0.5
    count, forces = int(on.sum()), np.zeros((*on.shape, 3))
    side = np.array([[s, 0, FRICTION] for s in (1, -1)] + [[0, s, FRICTION] for s in (1, -1)])
    sides = block_diag(*(side @ each for each in axes[on]))
    normal = block_diag(*(each[2:] for each in axes[on]))
    rows = np.vstack((sides, normal, -normal))
    limits = np.repeat([0.0, -FORCE_MIN / WEIGHT, FORCE_MAX / WEIGHT], [4 * count, count, count])

    def scaled(f):
        forces[on] = WEIGHT * f.reshape(-1, 3)
        return 1e3 * cost(forces)

    best = minimize(
        scaled, np.tile([0.0, 0.0, 0.25], count), method="SLSQP",
        constraints={"type": "ineq", "fun": lambda f: rows @ f + limits, "jac": lambda f: rows},
        options={"ftol": 1e-13, "maxiter": 200},
    )  # fmt: skip
    forces[on] = WEIGHT * best.x.reshape(-1, 3)
    return forces


def assert_forgets(solve, given, contacts, bad, place, allowed=False):
    """A bad last number of `given[place]` is a status, keeps all limits, and leaves no trace."""
    good, broken = solve(*given), [np.array(each) for each in given]
    broken[place].ravel()[-1] = bad
    found = solve(*broken)
    assert found.status == "failed" or allowed
    assert within(found.forces, contacts)
    again = solve(*given)
    assert again.status == "ok"
    assert_allclose(again.forces, good.forces, atol=0.5)
