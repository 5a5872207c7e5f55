"""The measurement of saltation matrices: against closed forms, its order, and its failures."""

import numpy as np
import pytest

from hybrid.examples.bouncing_ball import FALLING, bouncing_ball
from hybrid.saltations import saltation
from hybrid.systems import Mode, System, Transition
from studies.kong.saltations.finite_differences import (
    finite_difference_saltation,
    relative_error,
    saltation_errors,
)
from studies.kong.saltations.guard_states import (
    GuardState,
    project_to_guard,
    random_guard_states,
)


def landing_on_a_moving_net():
    """A forced ball in air (2 states) caught by a net that moves: one state, time-varying."""

    def fall(t, x, u):
        return np.array([x[1], u[0] - 9.8 - 0.3 * x[1] ** 3 + np.sin(3.0 * t)])

    def sag(t, x, u):
        return np.array([-2.0 * x[0] + np.cos(t) + u[0]])

    catch = Transition(
        0,
        1,
        guard=lambda t, x, u: x[0] - 0.2 * np.sin(5.0 * t) + 0.1 * x[1],
        reset=lambda t, x, u: np.array([x[1] * x[0] + np.sin(t)]),
    )
    return System({0: Mode("air", 2, 1, fall), 1: Mode("net", 1, 1, sag)}, (catch,))


def random_states(system, transition, rng, count):
    def draw():
        return GuardState(rng.normal(), rng.normal(size=2) * 2.0, rng.normal(size=1))

    return random_guard_states(system, transition, draw, count)


def test_time_varying_and_of_two_dimensions():
    system = landing_on_a_moving_net()
    transition = system.transitions[0]
    points = random_states(system, transition, np.random.default_rng(2), 20)
    assert finite_difference_saltation(system, transition, *points[0]).shape == (1, 2)
    assert np.max(saltation_errors(system, transition, points)) < 1e-8


def test_differences_are_of_fourth_order():
    system = landing_on_a_moving_net()
    transition = system.transitions[0]
    t, x, u = random_states(system, transition, np.random.default_rng(3), 1)[0]
    exact = saltation(system, transition, t, x, u).matrix

    def error(step):
        measured = finite_difference_saltation(system, transition, t, x, u, step)
        return relative_error(measured, exact)

    assert 3.5 < np.log2(error(0.08) / error(0.04)) < 4.5


def test_a_wrong_derivative_is_noticed():
    """The measurement does not use the derivative that it checks."""
    system = bouncing_ball()
    right = system.outgoing(FALLING)[0]
    wrong = Transition(
        right.source,
        right.target,
        right.guard,
        right.reset,
        guard_state=right.guard_state,
        reset_state=lambda t, x, u: np.diag([1.0, -0.5]),
    )
    point = GuardState(0.0, np.array([0.0, -2.0]), np.array([1.0]))
    assert saltation_errors(system, right, [point])[0] < 1e-10
    assert saltation_errors(system, wrong, [point])[0] > 1e-2


def test_an_input_that_jumps_with_the_event():
    system = bouncing_ball()
    impact = system.outgoing(FALLING)[0]
    x, u, after = np.array([0.0, -2.0]), np.array([1.0]), np.array([-5.0])
    exact = saltation(system, impact, 0.0, x, u, after).matrix
    measured = finite_difference_saltation(system, impact, 0.0, x, u, u_after=after)
    assert relative_error(measured, exact) < 1e-10


@pytest.mark.parametrize("speed, step", [(1e-12, 1e-3), (0.1, 20.0)])
def test_a_neighbour_that_never_arrives_gives_nan(speed, step):
    """A ball that only touches a ceiling, and a ball whose neighbours turn back below it."""
    mode = Mode("air", 2, 0, lambda t, x, u: np.array([x[1], -9.8]))
    ceiling = Transition(0, 0, lambda t, x, u: 1.0 - x[0], lambda t, x, u: -x)
    system = System({0: mode}, (ceiling,))
    x = np.array([1.0, speed])
    measured = finite_difference_saltation(system, ceiling, 0.0, x, np.zeros(0), step)
    assert np.any(np.isnan(measured))


def test_random_states_lie_on_guard_and_constraints():
    system = landing_on_a_moving_net()
    transition = system.transitions[0]
    rng = np.random.default_rng(4)
    points = random_guard_states(
        system,
        transition,
        lambda: GuardState(rng.normal(), rng.normal(size=2), np.zeros(1)),
        5,
        accept=lambda t, x, u: t > 0.0,
        constraints=lambda t, x, u: np.array([x[1] + x[0] ** 2 + 1.0]),
    )
    assert len(points) == 5
    for t, x, u in points:
        assert t > 0.0
        assert system.guard_rate(transition, t, x, u) < 0.0
        assert abs(transition.guard(t, x, u)) < 1e-11
        assert abs(x[1] + x[0] ** 2 + 1.0) < 1e-11


def test_a_guard_without_zeros_gives_no_states():
    mode = Mode("air", 1, 0, lambda t, x, u: -x)
    never = Transition(0, 0, lambda t, x, u: 1.0 + x[0] ** 2, lambda t, x, u: x)
    system = System({0: mode}, (never,))
    assert project_to_guard(never, 0.0, np.ones(1), np.zeros(0)) is None
    points = random_guard_states(
        system, never, lambda: GuardState(0.0, np.ones(1), np.zeros(0)), 2, max_draws=3
    )
    assert points == []
