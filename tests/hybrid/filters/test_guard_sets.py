"""Guard sets (4.2): what is entered, what is left, and what waits meanwhile."""

import numpy as np
import pytest

from hybrid.examples.aslip import FLIGHT, STANCE, aslip, at_rest
from hybrid.examples.bouncing_ball import FALLING, RISING, bouncing_ball
from hybrid.filters.guard_sets import being_left, entered, follow, transitions_at
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate_step
from hybrid.systems import Mode, System, Transition

OPTIONS, NO_FORCE = SimulationOptions(), np.zeros(1)
BALL = bouncing_ball()
IMPACT, APEX = BALL.transitions


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
    assert entered(BALL, FALLING, 0.0, falling, NO_FORCE, OPTIONS) is IMPACT
    assert entered(BALL, FALLING, 0.0, rising, NO_FORCE, OPTIONS) is None
    assert entered(BALL, FALLING, 0.0, np.array([0.1, -1.0]), NO_FORCE, OPTIONS) is None
    assert being_left(BALL, FALLING, 0.0, falling, NO_FORCE, OPTIONS) == ()
    left = being_left(BALL, FALLING, 0.0, rising, NO_FORCE, OPTIONS)
    assert left == ((IMPACT,) if depth > OPTIONS.guard_tolerance else ())


def test_following_is_simulating_where_nothing_is_left():
    x = np.array([1.0, -2.0])
    path = follow(BALL, FALLING, 0.0, x, NO_FORCE, 2.0, OPTIONS)
    step = simulate_step(BALL, FALLING, x, 2.0, NO_FORCE)
    assert path.ok and path.time == 2.0 and path.mode == step.mode
    assert (path.state == step.state).all() and len(path.events) == len(step.events) >= 3


def test_a_ball_below_the_floor_on_its_way_up_flies_on_and_bounces_when_it_is_back():
    """At -0.1 m with 3 m/s: it falls through zero again at (3 + sqrt(9 - 1.96)) / 9.8 s."""
    system, x = lone_ball(), np.array([-0.1, 3.0])
    leaving = being_left(system, 0, 0.0, x, NO_FORCE, OPTIONS)
    path = follow(system, 0, 0.0, x, NO_FORCE, 0.7, OPTIONS, leaving)
    assert path.ok and [event.transition.name for event in path.events] == ["impact"]
    assert path.events[0].time == pytest.approx((3.0 + np.sqrt(9.0 - 1.96)) / 9.8, abs=1e-11)
    soon = follow(system, 0, 0.0, x, NO_FORCE, 0.3, OPTIONS, leaving)
    assert soon.ok and soon.events == ()
    assert soon.state == pytest.approx([-0.1 + 0.9 - 4.9 * 0.09, 3.0 - 2.94], abs=1e-11)


def test_a_guard_that_is_not_left_waits_to_the_end():
    system, x = lone_ball(), np.array([-0.1, 0.5])
    leaving = being_left(system, 0, 0.0, x, NO_FORCE, OPTIONS)
    path = follow(system, 0, 0.0, x, NO_FORCE, 0.2, OPTIONS, leaving)
    assert path.ok and path.time == 0.2 and path.events == () and path.state[1] < 0.0
    assert entered(system, 0, 0.2, path.state, NO_FORCE, OPTIONS) is system.transitions[0]


def test_a_leg_that_touches_down_too_long_does_not_lift_off_at_once():
    """The simulation alone takes the leg for one that was put there, and never comes to an end."""
    system, x = aslip(), at_rest(np.array([0.0, 1.5, 5 * np.pi / 12, 0.0, -1.0, 0.0]))
    x[4] -= 0.02  # a leg of 1.02 m or so
    u = np.zeros(0)
    alone = simulate_step(system, FLIGHT, x, 0.05, u)
    path = follow(system, FLIGHT, 0.0, x, u, 0.05, OPTIONS)
    assert alone.status == "zeno"
    assert path.ok and path.mode == STANCE and len(path.events) == 1
    assert path.events[0].state_after[2] > 1.01
    assert path.state[2] < 1.0


def test_a_simulation_that_fails_says_what_it_reached():
    path = follow(BALL, FALLING, 0.0, np.array([0.01, 0.0]), NO_FORCE, 5.0, OPTIONS)
    assert not path.ok and 0.0 < path.time < 5.0 and np.isfinite(path.state).all()


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
    events = transitions_at(system, 0, 0.0, -np.ones(1), np.zeros(0), OPTIONS)
    assert [event.transition.name for event in events] == ["there", "back"]
    assert transitions_at(system, 0, 0.0, np.ones(1), np.zeros(0), OPTIONS) == ()


def test_a_first_transition_may_be_forced():
    events = transitions_at(BALL, FALLING, 0.0, np.array([0.2, -1.0]), NO_FORCE, OPTIONS, IMPACT)
    assert [event.transition for event in events] == [IMPACT]
    assert events[0].state_after == pytest.approx([0.2, 0.75])
    into_apex = transitions_at(BALL, FALLING, 0.0, np.array([0.2, 1.0]), NO_FORCE, OPTIONS, IMPACT)
    assert [event.transition for event in into_apex] == [IMPACT, APEX]
    assert entered(BALL, RISING, 0.0, np.array([0.2, -1.0]), NO_FORCE, OPTIONS) is APEX
