"""Event times against closed forms, several guards at once, and guards that turn within a step."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid.examples.bouncing_ball import GRAVITY
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate_step
from hybrid.systems import FlowMap, Mode, System, Transition

U = np.zeros(1)


def flight(guard, closed_form, target_guard=None, reset=None):
    """A ball in free flight under gravity, with one transition to a mode without one."""

    def flow(t, x, u):
        return np.array([x[1], u[0] - GRAVITY])

    def solution(t, x, u, h):
        a = u[0] - GRAVITY
        return np.array([x[0] + h * (x[1] + 0.5 * h * a), x[1] + h * a])

    mode = Mode("flight", 2, 1, flow, flow_map=FlowMap(solution, None) if closed_form else None)
    edge = Transition(1, 2, guard, reset or (lambda t, x, u: x.copy()), name="touch")
    return System({1: mode, 2: dataclasses.replace(mode, name="after")}, (edge,))


@pytest.mark.parametrize("closed_form", [True, False])
@settings(max_examples=25)
@given(velocity=st.floats(0.5, 6.0), floor=st.floats(-1.0, 0.3), lift=st.floats(-1.0, 1.5))
def test_ascent_and_descent_onto_a_moving_floor(closed_form, velocity, floor, lift):
    """Thrown up at v over a floor at f + l t: met at the later root of a quadratic."""
    system = flight(lambda t, x, u: x[0] - floor - lift * (t - 3.0), closed_form)
    c = 0.5 - floor
    exact = ((velocity - lift) + np.sqrt((velocity - lift) ** 2 + 2 * GRAVITY * c)) / GRAVITY
    step = simulate_step(system, 1, np.array([0.5, velocity]), 2.5, U, 3.0)
    assert step.status == "ok"
    assert step.events[0].time - 3.0 == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("closed_form", [True, False])
@settings(max_examples=25)
@given(depth=st.floats(1e-7, 0.5))
def test_a_double_crossing_within_one_step_is_found(closed_form, depth):
    """A ceiling that the ball passes and comes back from: one step of 1 s holds both crossings."""
    top = 2.0 - depth
    velocity = np.sqrt(2 * GRAVITY * 2.0)
    system = flight(lambda t, x, u: top - x[0], closed_form)
    step = simulate_step(system, 1, np.array([0.0, velocity]), 2 * velocity / GRAVITY, U)
    exact = (velocity - np.sqrt(2 * GRAVITY * depth)) / GRAVITY
    assert [event.transition.name for event in step.events] == ["touch"]
    # The rate there is sqrt(2 g depth): an error of 1e-13 m in height is 1e-10 s at 1e-7 m.
    assert step.events[0].time == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("closed_form", [True, False])
def test_a_ceiling_that_is_missed_is_no_event(closed_form):
    system = flight(lambda t, x, u: 2.0 + 1e-6 - x[0], closed_form)
    velocity = np.sqrt(2 * GRAVITY * 2.0)
    step = simulate_step(system, 1, np.array([0.0, velocity]), 2 * velocity / GRAVITY, U)
    assert step.status == "ok" and step.events == ()


def drift(guards):
    """Constant flow along x; a transition to a mode of its own for each guard."""
    names = range(2, 2 + len(guards))
    mode = Mode("drift", 2, 0, lambda t, x, u: np.array([1.0, 0.5]))
    edges = tuple(
        Transition(1, k, guard, lambda t, x, u: x.copy(), name=f"to {k}")
        for k, guard in zip(names, guards, strict=True)
    )
    return System({1: mode, **dict.fromkeys(names, mode)}, edges)


@given(st.lists(st.floats(0.1, 1.9), min_size=2, max_size=3, unique=True))
def test_the_earliest_of_several_guards_fires(walls):
    system = drift([lambda t, x, u, wall=wall: wall - x[0] for wall in walls])
    step = simulate_step(system, 1, np.zeros(2), 2.0, np.zeros(0))
    assert step.events[0].transition.target == 2 + int(np.argmin(walls))
    assert step.events[0].time == pytest.approx(min(walls), abs=1e-12)


@pytest.mark.parametrize("scales", [(1.0, 7.0, 0.3), (0.3, 1.0, 7.0), (7.0, 0.3, 1.0)])
def test_a_tie_goes_to_the_transition_given_first(scales):
    system = drift([lambda t, x, u, s=s: s * (1.1 - x[0]) * (2.0 + x[1]) for s in scales])
    step = simulate_step(system, 1, np.zeros(2), 2.0, np.zeros(0))
    assert [event.transition.target for event in step.events] == [2]


def test_a_shorter_longest_step_sees_more_turns():
    """Two dips within one closed-form step may be hidden: a step below a period shows them."""
    mode = Mode(
        "swing", 2, 0, lambda t, x, u: np.array([x[1], -x[0]]),
        flow_map=FlowMap(
            lambda t, x, u, h: np.array(
                [x[0] * np.cos(h) + x[1] * np.sin(h), x[1] * np.cos(h) - x[0] * np.sin(h)]
            ),
            None,
        ),
    )  # fmt: skip
    edge = Transition(1, 2, lambda t, x, u: 0.9 + x[0], lambda t, x, u: x.copy())
    system = System({1: mode, 2: mode}, (edge,))
    options = SimulationOptions(max_step=1.0)
    step = simulate_step(system, 1, np.array([1.0, 0.0]), 12.5, np.zeros(0), options=options)
    assert step.events[0].time == pytest.approx(np.arccos(-0.9), abs=1e-10)
