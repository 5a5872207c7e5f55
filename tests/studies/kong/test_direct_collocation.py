"""Multi-phase collocation against closed forms, laws of its solutions, and what it refuses."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from hybrid.examples.bouncing_ball import FALLING, GRAVITY, RESTITUTION, bouncing_ball
from hybrid.systems import Mode, System
from studies.kong.hilqr.direct_collocation import DirectProblem, solve_direct

X0 = np.array([4.0, 0.0])
BALL = bouncing_ball()
IMPACT, APEX = BALL.transitions


def ball_problem(height, duration=1.0, edges=(IMPACT,), intervals=6):
    def running(t, x, u):
        return 0.5 * u[0] * u[0]

    def terminal(x):
        return 100.0 * ((x[0] - height) ** 2 + x[1] ** 2)

    return DirectProblem(BALL, FALLING, edges, X0, duration, running, terminal, intervals)


def closed_form(height, duration):
    """Least cost with one bounce and its time, over that, its speed and the final state.

    Each arc's least 0.5 int u^2 is 0.5 d' W^-1 d, with d the end less the free end and W the
    ball's controllability Gramian.
    """

    def arc(T, start, end):
        W = np.array([[T**3 / 3, T**2 / 2], [T**2 / 2, T]])
        free = start + T * np.array([start[1], 0.0]) - GRAVITY * np.array([T**2 / 2, T])
        return 0.5 * (end - free) @ np.linalg.solve(W, end - free)

    def cost(p, time):
        value = arc(time, X0, np.array([0.0, -p[0]]))
        value += arc(duration - time, np.array([0.0, RESTITUTION * p[0]]), p[1:])
        return value + 100.0 * np.sum((p[1:] - [height, 0.0]) ** 2)

    def best(time):
        return minimize(cost, [8.0, height, 0.0], args=(time,), method="BFGS").fun

    found = minimize_scalar(best, bounds=(0.2 * duration, 0.8 * duration), method="bounded")
    return found.fun, found.x


@pytest.mark.parametrize(
    ("height", "duration", "edges", "guess"),
    [
        (1.0, 1.0, (IMPACT,), (0.5, 0.5)),
        (3.0, 1.0, (IMPACT,), (0.5, 0.5)),
        (1.0, 4.0, (IMPACT, APEX), (1.0, 1.0, 2.0)),
    ],
)
def test_one_bounce_is_the_closed_form_optimum(height, duration, edges, guess):
    """Exact to the optimiser's accuracy: the optimal input is linear and the height a cubic."""
    found = solve_direct(ball_problem(height, duration, edges), guess, np.zeros(1))
    cost, time = closed_form(height, duration)
    assert found.status == "ok"
    assert found.cost == pytest.approx(cost, rel=1e-7)
    assert found.phases[0].times[-1] == pytest.approx(time, abs=1e-4)


def test_a_solution_meets_every_guard_reset_and_domain():
    found = solve_direct(ball_problem(1.0, 4.0, (IMPACT, APEX)), (1.0, 1.0, 2.0), np.zeros(1))
    fall, rise, last = found.phases
    assert np.allclose(fall.states[0], X0) and abs(fall.states[-1, 0]) < 1e-8
    np.testing.assert_allclose(rise.states[0], IMPACT.reset(0.0, fall.states[-1], None), atol=1e-8)
    np.testing.assert_allclose(last.states[0], rise.states[-1], atol=1e-8)
    assert abs(rise.states[-1, 1]) < 1e-8
    assert np.all(fall.states[:-1, 0] > 0.0) and np.all(rise.states[:-1, 1] > 0.0)
    assert fall.times[-1] == rise.times[0] and last.times[-1] == pytest.approx(4.0)
    assert np.all(last.states[:, 0] >= -1e-8)


def test_a_flow_that_depends_on_time_and_state_converges_at_fourth_order():
    """x' = x cos t from x(0) = 1 ends at exp(sin T), whatever the input does elsewhere."""
    mode = Mode("one", 1, 1, lambda t, x, u: np.array([x[0] * np.cos(t)]))
    errors = []
    for intervals in (4, 8, 16):
        problem = DirectProblem(
            System({1: mode}, ()), 1, (), np.ones(1), 2.0,
            lambda t, x, u: u[0] * u[0], lambda x: 0.0 * x[0], intervals,
        )  # fmt: skip
        found = solve_direct(problem, (2.0,), np.zeros(1))
        assert found.status == "ok"
        errors.append(abs(found.phases[0].states[-1, 0] - np.exp(np.sin(2.0))))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > 3.5), errors


def test_a_flow_that_is_not_finite_is_a_status():
    mode = Mode("nowhere", 1, 1, lambda t, x, u: np.array([np.nan * x[0]]))
    problem = DirectProblem(
        System({1: mode}, ()), 1, (), np.ones(1), 1.0, lambda t, x, u: 0.0, lambda x: 0.0
    )
    assert solve_direct(problem, (1.0,), np.zeros(1), max_iterations=5).status == "not_converged"


def test_refused():
    with pytest.raises(ValueError, match="in order"):
        ball_problem(1.0, edges=(APEX,))
    with pytest.raises(ValueError, match=r"needs \(2,\)"):
        DirectProblem(BALL, FALLING, (), np.zeros(3), 1.0, lambda t, x, u: 0.0, lambda x: 0.0)
    with pytest.raises(ValueError, match="2 phases"):
        solve_direct(ball_problem(1.0), (1.0,), np.zeros(1))
