"""HiLQR MPC: better than its seeds, repeatable, shifted on the reference's knots, never raising."""

import math

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_allclose
from pytest import approx

from controller.hilqr_planner import HilqrPlanner
from controller.planner_options import HilqrSection, PlannerOptions, RealtimeSearch, Search
from controller.references import make_reference
from controller.rigid_derivatives import RigidDerivatives
from sim_bridge.rollouts.derivatives import RolloutDerivatives
from sim_bridge.rollouts.threaded import ThreadedRollout
from tests.a1 import A1
from tests.controller.planner_estimates import estimate

OPTIONS = PlannerOptions(knots=20, search=Search(threads=1))
KINDS = ("rigid", "rollout")


def make_derivatives(options, A1):
    if options.derivatives == "rigid":
        return RigidDerivatives(A1, options.period)
    return RolloutDerivatives(A1, options.period, options.search.substeps, options.search.threads)


def make_planner(kind="rollout", **changes):
    options = replace(OPTIONS, derivatives=kind, **changes)
    search = options.search
    backend = ThreadedRollout(A1, options.knots, options.period, search.substeps, search.threads)
    reference = make_reference(A1, "walk", 0.2, options.period)
    return HilqrPlanner(options, A1, reference, backend, make_derivatives(options, A1))


@pytest.fixture(scope="module", params=KINDS)
def planner(request):
    return make_planner(request.param)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sideways", [-0.6, 0.6])
def test_a_push_is_answered_with_a_cheaper_plan(sideways, kind):
    planner = make_planner(kind)
    planner.solve(estimate(planner, 0))
    pushed = estimate(planner, 90, sideways)
    plans = []
    final = planner.solve(pushed, on_plan=plans.append)
    costs = [plan.cost for plan in plans]
    assert final.cost <= min(costs) < 0.7 * planner.line_search.costs[0, -1]
    assert plans[0].id < final.id
    assert final.status == "ok" and np.abs(final.gains).max() > 1.0


def test_with_a_lead_a_plan_starts_at_the_next_knot_after_it(planner):
    planner.solve(estimate(planner, 3))
    plan = planner.solve(estimate(planner, 4), lead=0.013)
    assert plan.time == approx(0.06)
    ahead = planner.reference.window(6, 0)
    assert_allclose(plan.states_q[0][:3], ahead.q[0][:3], atol=5e-3)


def test_a_state_that_is_no_number_fails_by_status_and_the_next_solve_recovers(planner):
    broken = replace(estimate(planner, 5), q=np.full(19, np.nan))
    assert planner.solve(broken).status == "failed"
    assert planner.solve(estimate(planner, 6)).status == "ok"


@pytest.mark.parametrize("kind", KINDS)
def test_a_late_solve_searches_with_fewer_candidates_and_still_counts(kind):
    planner = make_planner(kind)
    planner.solve(estimate(planner, 0))
    pushed = estimate(planner, 90, -0.6)
    plan = planner.solve(pushed, out_of_time=lambda: True)
    assert plan.status == "time_limit" and plan.iterations == 1
    costs = planner.line_search.costs
    assert np.isfinite(plan.gains).all() and plan.cost < costs[0, -1]
    assert costs.shape == (1, len(OPTIONS.search.step_sizes) + 1)
    tried = np.isfinite(costs[0])
    assert tried[[0, -1]].all() and not tried[1:-1:2].any()
    assert plan.cost == costs.min()


def test_after_a_push_more_iterations_and_dampings_find_a_cheaper_plan():
    costs = []
    for recovery, restarts in ((2, ()), (20, ()), (20, (0.002, 0.2))):
        search = Search(threads=1, recovery=recovery, restarts=restarts)
        planner = make_planner(search=search)
        planner.solve(estimate(planner, 0))
        costs.append(planner.solve(estimate(planner, 90, 1.5)).cost)
    assert costs[2] <= costs[1] < costs[0]


def test_without_feedback_the_same_plan_has_no_gains():
    plain, bare = make_planner(), make_planner(feedback=False)
    for knot in range(2):
        want, plan = (each.solve(estimate(each, knot, 0.3)) for each in (plain, bare))
        assert not plan.gains.any()
        assert replace(plan, gains=want.gains) == want


def test_with_poor_at_zero_the_reference_is_a_seed_of_every_solve():
    """It wins here: the robot is put back on the reference from where a push had led the plan."""
    costs = []
    for poor in (1e6, 0.0):
        planner = make_planner(search=Search(threads=1, poor=poor, recovery=1, restarts=()))
        planner.solve(estimate(planner, 0, 1.5))
        plan = planner.solve(estimate(planner, 1))
        costs.append(planner.line_search.costs[0, -1])
        assert plan.cost <= costs[-1]
    assert costs[1] < costs[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("push", [0.0, 0.4, -0.4])
def test_the_line_search_explains_the_cost_of_the_plan(push, kind):
    """The plan costs what the cheapest candidate does, or the seed where none was better."""
    planner, idle = make_planner(kind), make_planner(kind, tolerance=1e6)
    assert planner.line_search is None
    seed = idle.solve(estimate(idle, 0, push)).cost
    plan = planner.solve(estimate(planner, 0, push))
    search = planner.line_search
    assert (search.tick, search.time) == (plan.tick, plan.time)
    assert tuple(search.step_sizes) == (*OPTIONS.search.step_sizes, 0.0)
    assert search.costs.shape[1] == len(search.step_sizes)
    assert 0 < len(search.costs) <= OPTIONS.search.iterations
    assert plan.cost == search.costs.min() and search.costs[0, -1] == seed


@pytest.mark.parametrize(
    "cores, share, threads",
    [(1, math.inf, 1), (2, 1.5, 1), (3, 3.0, 2), (5, 8.0, 3), (16, math.inf, 4), (16, 2.5, 1)],
)
def test_real_time_takes_half_of_the_cores(monkeypatch, cores, share, threads):
    """One thread for each step size at most; a sweep in lock step has its own number."""
    monkeypatch.setattr("controller.planner_options.quota", lambda: share)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)))
    section = HilqrSection()
    assert section.in_mode("realtime").search.threads == threads
    given = HilqrSection(realtime=RealtimeSearch(threads=3))
    assert given.in_mode("realtime").search.threads == 3
    assert section.with_effort(1).with_threads(1).in_mode("paused").search.threads == 1
