"""MPPI: cheaper than its seeds, repeatable, with a PD law as feedback, never raising."""

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from controller.motor_targets import joint_gain
from controller.mppi_planner import MppiPlanner, spline_basis, weights
from controller.planner_options import MppiOptions
from controller.references import make_reference
from sim_bridge.rollouts.threaded import ThreadedRollout
from tests.a1 import A1
from tests.controller.planner_estimates import estimate

OPTIONS = MppiOptions(
    knots=20, samples=16, spline=0.1, noise=(0.1, 0.15, 0.15), temperature=0.02, kp=30.0, kd=1.0,
    threads=1,
)  # fmt: skip


def make_planner(**changes):
    options = replace(OPTIONS, **changes)
    backend = ThreadedRollout(A1, options.knots, options.period, options.substeps, options.threads)
    return MppiPlanner(options, A1, make_reference(A1, "walk", 0.2, options.period), backend)


def test_weights_are_shares_and_the_cheapest_sample_weighs_most():
    shares = weights(np.array([3.0, 1.0, np.inf, 2.0]), 0.5)
    assert shares.sum() == approx(1.0) and shares[2] == 0.0
    assert shares[1] > shares[3] > shares[0] > 0.0
    # exp(-(J - J_min) / (lambda sigma))
    sigma = np.std([3.0, 1.0, 2.0])
    assert shares[3] / shares[1] == approx(np.exp(-1.0 / (0.5 * sigma)))


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_weights_do_not_depend_on_the_scale_of_the_cost(factor):
    cost = np.array([4.0, 1.0, 2.5])
    assert_allclose(weights(factor * cost + 7.0, 0.3), weights(cost, 0.3))


@pytest.mark.parametrize("knots", [5, 20, 50])
def test_a_spline_goes_through_its_points_and_reproduces_cubics(knots):
    basis = spline_basis(knots, 0.01, 0.05)
    assert_allclose(basis.sum(axis=1), 1.0)
    assert_allclose(basis[[0, -1]], np.eye(basis.shape[1])[[0, -1]], atol=1e-12)
    if basis.shape[1] > 3:
        t = 0.01 * np.arange(knots)
        points = np.linspace(0.0, t[-1], basis.shape[1])
        assert_allclose(basis @ points**3, t**3, atol=1e-12)


def test_the_law_is_stiffness_and_damping_of_each_joint():
    x = np.arange(36.0)
    assert_allclose(joint_gain(30.0, 2.0) @ x, -30.0 * x[6:18] - 2.0 * x[24:])


@pytest.mark.parametrize("sideways", [-0.6, 0.6])
def test_a_push_is_answered_with_a_cheaper_plan(sideways):
    planner, idle = make_planner(iterations=4), make_planner(noise=(0.0, 0.0, 0.0))
    for each in (planner, idle):
        each.solve(estimate(each, 0))
    pushed = estimate(planner, 10, sideways)
    plans = []
    plan, seed = planner.solve(pushed, on_plan=plans.append), idle.solve(pushed)
    costs = [each.cost for each in (*plans, plan)]
    assert costs == sorted(costs, reverse=True) and costs[-1] < 0.95 * seed.cost
    assert plan.status == "ok" and plan.iterations == 4
    assert_array_equal(plan.gains, np.tile(joint_gain(30.0, 1.0), (20, 1, 1)))


def test_the_same_seed_gives_the_same_plan_and_another_seed_another():
    small = (0.02, 0.02, 0.02)
    one, same = make_planner(noise=small), make_planner(noise=small)
    other = make_planner(noise=small, seed=1)
    plans = [each.solve(estimate(each, 3, 0.3)) for each in (one, same, other)]
    assert_array_equal(plans[0].inputs, plans[1].inputs)
    assert np.abs(plans[0].inputs - plans[2].inputs).max() > 0.01


def test_a_state_without_a_finite_rollout_is_a_status():
    planner = make_planner()
    start = estimate(planner, 0)
    v = start.v.copy()
    v[:] = np.nan
    plan = planner.solve(replace(start, v=v))
    assert plan.status == "failed"
    assert planner.solve(estimate(planner, 1)).status == "ok"
