"""HiLQR's studies, in fewer timesteps: what chapters 5 and 6 say of them in words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from saltation.examples.bouncing_ball import FALLING, bouncing_ball
from studies.kong import ball_mpc, curved_surface, quadcopter, spring_damper
from studies.kong.direct_collocation import DirectProblem, solve_direct
from studies.kong.hybrid_ddp import descend
from studies.kong.table_5_1 import CASES, Case, count_bounces, solve_case
from studies.study import StudyOptions
from tests.saltation.one_bounce import X0, best_bounce

BALL = bouncing_ball()
IMPACT, APEX = BALL.transitions


def direct(height, duration, edges, guess):
    problem = DirectProblem(
        BALL, FALLING, edges, X0, duration, lambda t, x, u: 0.5 * u[0] * u[0],
        lambda x: 100.0 * ((x[0] - height) ** 2 + x[1] ** 2), intervals=6,
    )  # fmt: skip
    return solve_direct(problem, guess, np.zeros(1))


def test_one_bounce_by_direct_collocation_is_the_closed_form_optimum():
    """Exact to the optimiser's accuracy: the optimal input is linear and the height a cubic."""
    found = direct(1.0, 4.0, (IMPACT, APEX), (1.0, 1.0, 2.0))
    cost, time = best_bounce(1.0, 4.0)
    assert found.ok and found.cost == approx(cost, rel=1e-7)
    assert found.durations[0] == approx(time, abs=1e-4)
    fall, rise, last = found.states
    assert_allclose(rise[0], IMPACT.reset(0.0, fall[-1], None), atol=1e-8)
    assert_allclose([fall[-1, 0], rise[-1, 1]], 0.0, atol=1e-8)
    assert np.all(fall[:-1, 0] > 0.0) and np.all(last[:, 0] >= -1e-8)


@pytest.mark.parametrize("case", [case for case in CASES if case.method == "xi"])
def test_seeds_bounce_as_often_as_their_name_says(case):
    solved = solve_case(case, 200)
    assert count_bounces(solved.seed) == case.seed
    other = solve_case(case._replace(method="dxr"), 200).row
    if case.seed == 0:  # without bounces both methods are one
        assert solved.row["cost"] == other["cost"] and solved.row["converged"]


def test_direct_collocation_confirms_the_minimum_under_one_bounce():
    """Footnote 1 of 5.5.1; held inputs cannot do better than free ones."""
    cost, _ = best_bounce(3.0, 1.0)
    xi = solve_case(Case(0, 1, "xi")).row
    assert xi["converged"] and xi["actual"] == 1
    assert cost < xi["cost"] == approx(cost, rel=1e-3)


@pytest.mark.slow
def test_bounces_are_pulled_away_and_three_need_extension_and_saltation_matrix():
    """Figure 5.2: only Xi gets to the target. 5.5.1: without extension it is worse than D_xR."""
    xi, dxr = (solve_case(Case(1, 3, method)) for method in ("xi", "dxr"))
    assert xi.row["converged"] and not dxr.row["converged"]
    assert xi.row["actual"] == dxr.row["actual"] == 1 and xi.row["cost"] < dxr.row["cost"]
    rows = [solve_case(Case(3, 3, method)).row for method in ("xi", "dxr", "no_extension")]
    assert [row["converged"] for row in rows] == [True, False, False]
    assert rows[0]["actual"] == 3 and rows[0]["cost"] < rows[1]["cost"] < rows[2]["cost"]


def both(comparison, impact):
    return {row["method"]: row for row in comparison.rows(impact)}.values()


def test_on_the_spring_damper_reset_jacobians_leave_something_to_gain():
    """5.5.2: similar solutions, and Xi's expected reduction a magnitude lower."""
    xi, dxr = both(spring_damper.solve(StudyOptions(), steps=200), "touchdown")
    assert xi["converged"] and xi["cost"] < dxr["cost"] < 1.1 * xi["cost"]
    assert xi["expected_reduction"] < 0.1 * dxr["expected_reduction"]
    assert xi["true_expected_reduction"] == xi["expected_reduction"]


@pytest.mark.parametrize("event_at", ["end", "exact"])
def test_in_the_tube_saltation_matrices_remove_the_second_contact_at_the_lower_cost(event_at):
    """5.5.3, from a seed that slides, leaves the tube and returns."""
    comparison = curved_surface.solve(StudyOptions(), event_at, steps=200)
    names = [happened.event.transition.name for happened in comparison.seed.aux.events]
    assert names == ["impact", "liftoff", "apex", "impact"]
    xi, dxr = both(comparison, "impact")
    assert xi["converged"] and xi["contacts"] == 1 and xi["final_mode"] == "constrained"
    assert np.linalg.norm(np.subtract(xi["final_state"], curved_surface.TARGET)) < 0.1
    assert dxr["cost"] > 1.1 * xi["cost"]


@pytest.mark.slow
def test_saltation_matrices_converge_on_the_perch_and_reset_jacobians_do_not():
    """5.5.4; with the friction chosen here the latch stays, as its last sentence has it."""
    comparison = quadcopter.solve(StudyOptions(), steps=250)
    xi, dxr = both(comparison, "impact")
    assert xi["converged"] and xi["final_mode"] == "latched" and not dxr["converged"]
    assert xi["cost"] < 0.2 * comparison.seed.cost and dxr["cost"] > 1.2 * xi["cost"]


COARSE = 0.004  # timestep [s]


@pytest.fixture(scope="module")
def target():
    return ball_mpc.reference(COARSE)


def track(target, update, perturbation):
    cost = ball_mpc.tracking_cost(target, update, COARSE)
    return ball_mpc.close_loop(target, cost, perturbation=perturbation, dt=COARSE)


def impacts(modes):
    return [e.knot for e in modes.events if e.event.transition.source == FALLING]


def test_the_reference_is_the_printed_one_and_an_unperturbed_ball_stays_on_it(target):
    assert_allclose(target.states[[0, -1]], [[4.0, 0.0], [2.5, 0.0]], atol=5e-3)
    assert len(impacts(target.modes)) == 1
    loop = track(target, True, (0.0, 0.0))
    assert np.all(loop.converged)
    assert_allclose(loop.states, target.states, atol=1e-3)


def test_with_the_update_mpc_converges_and_tracks_with_less_effort(target):
    """A late ball is let fall only with it; without, it turns around before the floor."""
    update, plain = (track(target, each, ball_mpc.PERTURBATION) for each in (True, False))
    assert np.sum(~update.converged) <= 5 < np.sum(~plain.converged)
    assert np.max(abs(update.inputs)) < 0.5 * np.max(abs(plain.inputs))
    update, plain = (track(target, each, (0.3, -1.0)) for each in (True, False))
    assert impacts(update.modes)[0] > impacts(target.modes)[0] and impacts(plain.modes) == []
    assert np.max(abs(plain.inputs)) > 10.0 * np.max(abs(update.inputs))


def test_a_second_order_xi_needs_fewer_iterations_where_bounces_are_to_appear():
    ddp, hilqr = (descend(Case(3, 1, "xi"), method) for method in ("ddp", "hilqr"))
    assert len(ddp) < len(hilqr) / 2.0 and ddp[-1] < 1.001 * hilqr[-1]
