"""Convex MPC's problem: what its forces do, against a second solver and its closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from controller.centroidal.convex_mpc import ForceMpc
from controller.centroidal.qp import along_axes
from controller.centroidal.rigid_body import standing_body
from controller.planner_options import ForceMpcWeights
from robots.conventions import GRAVITY
from robots.rotations import exp3
from tests.a1 import A1
from tests.controller.foot_forces import FEET, LIMITS, WEIGHT, assert_forgets, best_forces, within

BODY = standing_body(A1)
INERTIA = BODY.inertia_in_base
AT_EASE = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.3] + 6 * [0.0])


def make(steps, **options):
    return ForceMpc(BODY, steps, ForceMpcWeights(), LIMITS, **options)


def problem(rng, steps, pushed=1.0):
    """A random state above feet that are somewhere near, with one to four of them standing."""
    x0 = AT_EASE + pushed * rng.normal(size=12) * np.repeat([0.1, 0.03, 0.8, 0.3], 3)
    x_ref = np.tile(AT_EASE, (steps, 1)) + 0.01 * rng.normal(size=(steps, 12))
    arms = FEET + 0.03 * rng.normal(size=(steps, 4, 3))
    contacts = (rng.random((steps, 4)) < 0.6).astype(float)
    return x0, x_ref, arms, contacts, INERTIA, rng.uniform(0.02, 0.05, steps)


def cost_of(forces, x0, x_ref, arms, contacts, inertia, dt, weights):
    """The cost as it is written down, by simulation under constant accelerations."""
    x, cost, inverse = x0, 0.0, np.linalg.inv(inertia)
    for k, duration in enumerate(dt):
        linear = forces[k].sum(axis=0) / BODY.mass - [0.0, 0.0, GRAVITY]
        gained = np.append(inverse @ np.cross(arms[k], forces[k]).sum(axis=0), linear) * duration
        following = x + np.append(duration * (x[6:] + 0.5 * gained), gained)
        reference = np.zeros((4, 3))
        reference[:, 2] = WEIGHT * contacts[k] / max(contacts[k].sum(), 1.0)
        cost += weights.state_weights() @ (following - x_ref[k]) ** 2
        cost += weights.force * ((forces[k] - reference) ** 2).sum()
        x = following
    return cost


@pytest.mark.parametrize("tilt", [0.0, 0.6])
@pytest.mark.parametrize("seed", range(8))
def test_against_a_second_solver(seed, tilt):
    """The ground is level, or tilted by up to `tilt` [rad], below each foot its own."""
    rng, steps = np.random.default_rng(seed), 2
    given, weights = problem(rng, steps), ForceMpcWeights()
    tilts = rng.uniform(-tilt, tilt, (steps, 4, 3))
    frames = np.array([[exp3(each) for each in step] for step in tilts])
    plan = make(steps, level=tilt == 0.0).solve(*given, frames)
    inverse = frames.swapaxes(-1, -2)
    assert plan.status == "ok" and within(along_axes(inverse, plan.forces), given[3], 1e-9)
    if given[3].any():
        best = best_forces(lambda f: cost_of(f, *given, weights), given[3], inverse)
        assert_allclose(plan.forces, best, atol=0.5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("place", [0, 1, 2, 4, 5])
def test_bad_numbers_are_a_status_and_leave_no_trace(bad, place):
    """The arm of a foot in the air counts for nothing, and endless inertia does not turn."""
    given = problem(np.random.default_rng(6), 3)
    allowed = bad == 1e200 and place in (2, 4)
    assert_forgets(make(3).solve, given, given[3], bad, place, allowed)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_limits_hold(seed, scale):
    given = problem(np.random.default_rng(seed), 4, pushed=scale)
    assert within(make(4).solve(*given).forces, given[3])


def test_what_cannot_be_solved_is_a_status():
    given = list(problem(np.random.default_rng(7), 2))
    assert make(2).solve(*given[:4], np.zeros((3, 3)), 0.03).status == "failed"
    assert make(2).solve(*given[:5], 0.0).status == "failed"
    late = make(2, time_limit=1e-9).solve(*given)
    assert late.status == "time_limit" and np.isfinite(late.forces).all()
