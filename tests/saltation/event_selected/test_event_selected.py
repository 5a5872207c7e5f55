"""The event-selected integrator: closed forms, orders, arming, statuses, batches, fallback."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from saltation.event_selected import EssOptions, EventSelectedSystem, integrate, integrate_batch
from saltation.event_selected.bouligand import bouligand_derivative
from saltation.event_selected.tables import native_tables
from studies.anderson_revzen.systems.spring_hopper import GRAVITY, LENGTH, START, exact
from studies.anderson_revzen.systems.spring_hopper import spring_hopper as hopper


@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 0.01])
def test_a_hopper_lands_and_lifts_off_when_it_should(epsilon):
    """Arming: without it the hopper would land once and never lift off."""
    run = integrate(hopper(), np.array(START), 3.0, EssOptions(1e-12, 1e-13, epsilon=epsilon))
    assert run.ok and [crossing.guard for crossing in run.crossings] == [0, 1] * 3
    height, speed = exact(START, np.array([crossing.time for crossing in run.crossings])).T
    assert_allclose((height - LENGTH) / speed, 0.0, atol=2 * epsilon + 1e-9)  # [s]


def test_batches_end_where_single_runs_do_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.uniform(1.1, 3.0, 30), rng.uniform(-1.0, 1.0, 30)])
    one, three = (integrate_batch(hopper(), x, 2.0, threads=count) for count in (1, 3))
    assert_array_equal(one.states, three.states)
    assert one.statuses == three.statuses == ("ok",) * 30
    for row, end in zip(x, one.states, strict=True):
        assert_array_equal(integrate(hopper(), row, 2.0).final_state, end)


def test_what_does_not_compile_is_interpreted_with_the_same_results():
    table = {"g": GRAVITY}

    def flow(x, side, p):
        push = p[1] * (p[2] - x[0]) if side[0] > 0.0 else 0.0
        return [x[1], push - table["g"]]

    python = dataclasses.replace(hopper(), flow=flow)
    assert "flow" in native_tables(python).reason and native_tables(hopper()).reason == ""
    one, two = (integrate(system, np.array([2.0, 0.0]), 2.0) for system in (python, hopper()))
    assert_allclose(one.final_state, two.final_state, rtol=1e-12)
    ends = integrate_batch(python, np.array([[2.0, 0.0]] * 2), 2.0).states
    assert_array_equal(ends, [one.final_state] * 2)


def away_flow(x, side, p):
    return np.array([-1.0 if side[0] > 0.0 else 1.0])


def line_events(x, p):
    return np.array([x[0]])


def line_events_state(x, p):
    return np.array([[1.0]])


def test_a_flow_that_drives_back_to_its_guard_is_not_event_selected():
    system = EventSelectedSystem("valley", 1, 1, away_flow, line_events, line_events_state)
    run = integrate(system, np.array([-1.0]), 3.0)
    assert run.status == "not_event_selected" and run.final_time == approx(1.0)
    assert all(part in run.message for part in ("valley", "guard 0", "t = 1 s", "liveness"))
    ends = integrate_batch(system, np.array([[-1.0], [-9.0]]), 3.0)
    assert ends.statuses == ("not_event_selected", "ok") and ends.messages == (run.message, "")


def test_limits_of_steps_and_crossings():
    start = np.array([2.0, 0.0])
    run = integrate(hopper(), start, 3.0, EssOptions(max_events=1))
    assert run.status == "zeno" and len(run.crossings) == 1
    assert "max_events" in run.message and "hopper at t = 0.6" in run.message
    assert integrate(hopper(), start, 0.5, EssOptions(max_events=1)).ok
    long = integrate(hopper(), start, 3.0, EssOptions(max_events=4))
    assert long.ok and len(long.crossings) == 6  # limits count anew after each second
    run = integrate(hopper(), start, 3.0, EssOptions(max_steps=5))
    assert run.status == "too_stiff" and "more than 5 integration steps" in run.message


@pytest.mark.parametrize(
    "change, at, options, said",
    [
        ({"rearm": np.eye(2, dtype=bool)}, {}, {}, "guard 0 arms itself"),
        ({"rearm": np.zeros((3, 3))}, {}, {}, r"rearm is \(3, 3\)"),
        ({"state_dim": 0}, {}, {}, "0 states"),
        ({"events": lambda x, p: np.zeros(3)}, {}, {}, r"hopper: events gives shape \(3,\)"),
        ({}, {"x0": np.zeros(3)}, {}, r"shape \(3,\); give \(2\)"),
        ({}, {"duration": -1.0}, {}, "duration -1.0 s"),
        ({}, {}, {"epsilon": np.ones(3)}, r"epsilon has shape \(3,\)"),
        ({}, {}, {"epsilon": np.inf}, "hopper: epsilon inf; give finite"),
        ({}, {}, {"max_events": np.inf}, "max_events inf"),
        ({}, {}, {"rtol": -1.0}, "rtol -1.0"),
    ],
)
def test_what_does_not_fit_is_refused(change, at, options, said):
    at = {"x0": np.array([2.0, 0.0]), "duration": 1.0, **at}
    with pytest.raises(ValueError, match=said):
        integrate(dataclasses.replace(hopper(), **change), **at, options=EssOptions(**options))


def corner_flow(x, side, p):
    """Constant on each of the eight sides, and through zero at time 0 on the first."""
    bits = 1.0 * (side[0] > 0.0) + 2.0 * (side[1] > 0.0) + 4.0 * (side[2] > 0.0)
    return np.array([1.0 + 0.1 * bits, 1.5 - 0.15 * bits, 1.0 + 0.3 * np.sin(3.0 * bits)])


def corner_events(x, p):
    return np.array([x[0], x[1] + 0.1 * x[0], x[2] - 0.1 * x[1]])


def corner_events_state(x, p):
    return np.array([[1.0, 0.0, 0.0], [0.1, 1.0, 0.0], [0.0, -0.1, 1.0]])


@given(st.lists(st.floats(-0.1, 0.1), min_size=3, max_size=3).map(np.array))
def test_perturbed_trajectories_end_where_the_bouligand_derivative_says(delta):
    functions = (corner_flow, corner_events, corner_events_state)
    system = EventSelectedSystem("corner", 3, 3, *functions)
    Dh = corner_events_state(np.zeros(3), None)
    before, after = (corner_flow(None, side * np.ones(3), None) for side in (-1.0, 1.0))
    image, order = bouligand_derivative(lambda side: corner_flow(None, side, None), Dh, delta)
    run = integrate(system, delta - before, 2.0, EssOptions(epsilon=0.2))
    assert_allclose(run.final_state, image + after, atol=1e-9)
    if len({round(c.time, 12) for c in run.crossings}) == 3:
        assert tuple(c.guard for c in run.crossings) == order
