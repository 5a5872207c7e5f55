"""Guard sets (4.2): what is entered, what is left, and what waits meanwhile."""

import numpy as np
import pytest

from hybrid.compiled.limits import OK
from hybrid.examples.bouncing_ball import FALLING, RISING, bouncing_ball
from hybrid.filters.interface import NOT_TRANSVERSE
from hybrid.filters.kernels import path
from hybrid.filters.kernels.kalman import Gaussian, instant_transitions, predict
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.tables import model_tables
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate_step
from hybrid.systems import Mode, System, Transition
from studies.kong.systems.aslip import FLIGHT, STANCE, aslip, at_rest

OPTIONS, NO_FORCE, NONE = SimulationOptions(), np.zeros(1), np.zeros(0)
BALL = bouncing_ball()
IMPACT, APEX = range(2)  # of the ball's transitions


def tables_of(system):
    dims = {number: mode.state_dim for number, mode in system.modes.items()}
    return model_tables(
        FilterModel(
            system,
            {number: ProcessNoise(np.zeros((n, n))) for number, n in dims.items()},
            dict.fromkeys(dims, Measurement(lambda t, x, u: x[:1].copy(), np.eye(1))),
        )
    )


def entered(system, mode, x, u):
    known, index = tables_of(system), list(system.modes).index(mode)
    return path.guard_set(known.base.tables, index, 0.0, x, u, known.own.limits)


def being_left(system, mode, x, u):
    known, index = tables_of(system), list(system.modes).index(mode)
    waiting = path.inactive_guards(known.base.tables, index, -1, 0.0, x, u, known.own.limits)
    return np.flatnonzero(waiting).tolist()


def follow(system, mode, x, u, end):
    """Predict a mean without noise."""
    tables = tables_of(system).tables
    g = Gaussian(list(system.modes).index(mode), 0.0, x, np.zeros((len(x), len(x))))
    return predict(tables, g, u, end, False)


def lone_ball():
    """One mode, and an impact that leads back to it."""

    def flow(t, x, u):
        return np.array([x[1], -9.8])

    def bounce(t, x, u):
        return np.array([x[0], -0.75 * x[1]])

    edge = Transition(0, 0, lambda t, x, u: x[0], bounce, name="impact", time_invariant=True)
    return System({0: Mode("ball", 2, 0, flow)}, (edge,))


@pytest.mark.parametrize("depth", [0.0, 1e-8, 0.5])
def test_a_guard_is_entered_at_any_depth_if_the_flow_goes_deeper(depth):
    falling, rising = np.array([-depth, -1.0]), np.array([-depth, 1.0])
    assert entered(BALL, FALLING, falling, NO_FORCE) == IMPACT
    assert entered(BALL, FALLING, rising, NO_FORCE) == -1
    assert entered(BALL, FALLING, np.array([0.1, -1.0]), NO_FORCE) == -1
    assert being_left(BALL, FALLING, falling, NO_FORCE) == []
    left = being_left(BALL, FALLING, rising, NO_FORCE)
    assert left == ([IMPACT] if depth > OPTIONS.guard_tolerance else [])


def test_following_is_simulating_where_nothing_is_left():
    x = np.array([1.0, -2.0])
    result = follow(BALL, FALLING, x, NO_FORCE, 2.0)
    step = simulate_step(BALL, FALLING, x, 2.0, NO_FORCE)
    assert result.code == OK and result.g.t == 2.0
    assert list(BALL.modes)[result.g.mode] == step.mode
    np.testing.assert_allclose(result.g.x, step.state, atol=1e-10)
    assert result.transitions == len(step.events) >= 3


def test_a_ball_below_the_floor_on_its_way_up_flies_on_and_bounces_when_it_is_back():
    """At -0.1 m with 3 m/s: it falls through zero again at (3 + sqrt(9 - 1.96)) / 9.8 s."""
    system, x, back = lone_ball(), np.array([-0.1, 3.0]), (3.0 + np.sqrt(9.0 - 1.96)) / 9.8
    result = follow(system, 0, x, NONE, 0.7)
    assert result.code == OK and result.transitions == 1
    velocity = -0.75 * (3.0 - 9.8 * back)
    left = 0.7 - back
    expected = [velocity * left - 4.9 * left**2, velocity - 9.8 * left]
    assert result.g.x == pytest.approx(expected, abs=1e-10)
    soon = follow(system, 0, x, NONE, 0.3)
    assert soon.code == OK and soon.transitions == 0
    assert soon.g.x == pytest.approx([-0.1 + 0.9 - 4.9 * 0.09, 3.0 - 2.94], abs=1e-11)


def test_a_guard_that_is_not_left_waits_to_the_end_and_is_taken_there():
    system, x = lone_ball(), np.array([-0.1, 0.5])
    result = follow(system, 0, x, NONE, 0.2)
    velocity = 0.5 - 9.8 * 0.2
    assert result.code == OK and result.g.t == 0.2 and result.transitions == 1
    assert result.g.x == pytest.approx([-0.1 + 0.1 - 4.9 * 0.04, -0.75 * velocity], abs=1e-11)


def test_a_leg_that_touches_down_too_long_does_not_lift_off_at_once():
    """The simulation alone takes the leg for one that was put there, and stops inside the guard."""
    system, x = aslip(), at_rest(np.array([0.0, 1.5, 5 * np.pi / 12, 0.0, -1.0, 0.0]))
    x[4] -= 0.02  # a leg of 1.02 m or so
    alone = simulate_step(system, FLIGHT, x, 0.05, NONE)
    result = follow(system, FLIGHT, x, NONE, 0.05)
    assert alone.status == "inside_guard"
    assert result.code in (OK, NOT_TRANSVERSE) and result.transitions == 1
    assert list(system.modes)[result.g.mode] == STANCE
    assert result.g.x[2] < 1.0


def test_a_simulation_that_fails_stays_where_it_came_to():
    result = follow(BALL, FALLING, np.array([0.01, 0.0]), NO_FORCE, 5.0)
    assert result.code not in (OK, NOT_TRANSVERSE)
    assert result.g.t == 5.0 and np.isfinite(result.g.x).all() and abs(result.g.x[0]) < 0.01


def instant(system, mode, x, u, first=-1):
    tables = tables_of(system).tables
    g = Gaussian(list(system.modes).index(mode), 0.0, x, np.zeros((len(x), len(x))))
    return instant_transitions(tables, g, u, first)


def test_transitions_at_one_instant_end_where_they_come_back():
    """Two guards that both hold the state would take turns for ever."""

    def turn(t, x, u):
        return x.copy()

    modes = {
        0: Mode("a", 1, 0, lambda t, x, u: -np.ones(1)),
        1: Mode("b", 1, 0, lambda t, x, u: -np.ones(1)),
    }
    edges = (
        Transition(0, 1, lambda t, x, u: x[0], turn, name="there"),
        Transition(1, 0, lambda t, x, u: x[0], turn, name="back"),
    )
    system = System(modes, edges)
    both = instant(system, 0, -np.ones(1), NONE)
    assert both.transitions == 2 and both.g.mode == 0
    assert instant(system, 0, np.ones(1), NONE).transitions == 0


def test_a_first_transition_may_be_forced():
    forced = instant(BALL, FALLING, np.array([0.2, -1.0]), NO_FORCE, IMPACT)
    assert forced.transitions == 1
    assert forced.g.x == pytest.approx([0.2, 0.75])
    into_apex = instant(BALL, FALLING, np.array([0.2, 1.0]), NO_FORCE, IMPACT)
    assert into_apex.transitions == 2
    assert entered(BALL, RISING, np.array([0.2, -1.0]), NO_FORCE) == APEX
