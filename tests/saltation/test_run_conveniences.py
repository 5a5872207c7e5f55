"""What a run can be asked for, events without a transition, guards on edge, pickling, options."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

import saltation as sa
from tests.refusals import refusal
from tests.saltation.compiled_functions import each_way
from tests.saltation.driven_systems import fall, height, one_mode_ball, swing, swing_for
from tests.tables import yaml_table

HIGH = np.array([1.0, 0.0])
LANDING = np.sqrt(2.0 / 9.8)


def speed(t, x, u):
    return x[1]


BALL = one_mode_ball()
SWING = sa.System({1: sa.Mode("swing", 2, 0, swing)}, [])


@pytest.mark.parametrize("direction, first", [(-1, np.pi / 2), (1, 3 * np.pi / 2), (0, None)])
@each_way
def test_an_event_is_found_in_its_direction_and_changes_nothing(way, direction, first):
    run = sa.simulate(way(SWING), 1, HIGH, 100.0, events=[sa.Event(height, direction)])
    times, states = run.watched[0]
    start, step = (first, 2 * np.pi) if direction else (np.pi / 2, np.pi)
    assert_allclose(times, np.arange(start, 100.0, step), atol=1e-7)
    assert not run.events and run.status == "ok" and np.all(np.abs(states[:, 0]) < 1e-9)


def test_a_terminal_event_ends_a_run_without_end():
    events = [sa.Event(height), sa.Event(speed, -1, terminal=True)]
    run = sa.simulate(BALL, 1, HIGH, np.inf, events=events)
    assert run.status == "stopped" and [e.transition.name for e in run.events] == ["impact"]
    assert run.final_time == approx(1.5 * LANDING) and abs(run.final_state[1]) < 1e-9
    held = sa.simulate(BALL, 1, HIGH, np.inf, timestep=0.1, events=events)
    assert held.final_time == approx(run.final_time, abs=1e-12)
    assert "infinite duration" in refusal(ValueError, sa.simulate, BALL, 1, HIGH, np.inf)
    assert "direction 2" in refusal(
        ValueError, lambda: sa.simulate(BALL, 1, HIGH, 1.0, events=[sa.Event(height, 2)])
    )


@each_way
def test_a_guard_on_edge_waits_for_the_next_fall(way):
    """Entered behind the guard: on level it fires at once."""
    modes = {1: sa.Mode("swing", 2, 0, swing), 2: sa.Mode("after", 2, 0, swing)}
    for on, time in (("level", 0.0), ("edge", 3 * np.pi / 2)):
        edge = sa.Transition.continuous(1, 2, height, name="down", on=on)
        run = sa.simulate(way(sa.System(modes, [edge])), 1, [-1.0, 0.0], 20.0)
        assert [event.time for event in run.events] == approx([time])


def test_a_guard_on_edge_that_is_positive_for_a_short_time():
    """The tip of a wave, for a 67th of a run of three periods that is one step in closed form."""
    mode = sa.Mode("swing", 2, 0, swing, flow_map=sa.FlowMap(swing_for))
    tip = sa.Transition.continuous(1, 2, lambda t, x, u: x[0] - 0.99, name="tip", on="edge")
    back = sa.Transition.continuous(2, 1, height, name="back", on="edge")
    run = sa.simulate(sa.System({1: mode, 2: mode}, [tip, back]), 1, [0.0, 1.0], 6 * np.pi)
    times = [[np.pi - np.arcsin(0.99) + turn, np.pi + turn] for turn in 2 * np.pi * np.arange(3)]
    assert [event.time for event in run.events] == approx(np.ravel(times), abs=1e-9)


def test_a_guard_behind_which_a_mode_is_entered_is_named():
    def under(t, x, u):
        return x - 2.0

    modes = {1: sa.Mode("a", 2, 0, fall), 2: sa.Mode("b", 2, 0, fall)}
    up = sa.Transition(2, 1, lambda t, x, u: x[0] + 1.0, lambda t, x, u: x + 5.0, name="up")
    edges = [sa.Transition(1, 2, height, under, name="down"), up]
    run = sa.simulate(sa.System(modes, edges), 1, HIGH, 0.5)
    (place,) = run.entered_behind
    assert "up (2, 1), which happens at once" in place
    faults = sa.check_system(sa.System(modes, edges), {1: [HIGH], 2: [[-3.0, 0.0]]})
    assert any("down (1, 2) from" in fault and "on='edge'" in fault for fault in faults)
    assert any("guard of up (2, 1) is negative" in fault for fault in faults)
    assert "sa.Event" in refusal(ValueError, sa.Transition.continuous, 1, 1, height)


def test_a_run_is_asked_for_many_times_at_once_and_written_short():
    run = sa.simulate(BALL, 1, HIGH, 1.0, t_eval=[0.1, 0.2, 0.9])
    assert run.y.shape == (2, 3) and run.y[0, 1] == approx(1.0 - 4.9 * 0.04)
    modes, states = run.at(run.t)
    assert_array_equal(states.T, run.y)
    assert list(modes) == [1, 1, 1] and len(repr(run)) < 100 and "impact" in repr(BALL)
    plain = sa.simulate(BALL, 1, HIGH, 1.0)
    assert plain.y.shape == (2, len(plain.t))
    batch = sa.simulate_batch(BALL, 1, np.array([HIGH, HIGH]), [0.2, 1.0])
    assert [len(times) for times in batch.event_times] == [0, 2] and "2 ok" in repr(batch)
    assert batch.states[1] == approx(run.final_state)


def test_systems_and_runs_are_pickled():
    run = sa.simulate(BALL, 1, HIGH, 1.0)
    sa.simulate_batch(BALL, 1, HIGH[None], 1.0)
    again = pickle.loads(pickle.dumps(run))
    assert_array_equal(again.at(0.7)[1], run.at(0.7)[1])
    assert sa.simulate(again.system, 1, HIGH, 1.0).events[0].time == run.events[0].time


@pytest.mark.parametrize("options, words", yaml_table("""
    {max_step: -1} => max_step
    {rtol: -1} => rtol
    {rtol: .nan} => rtol
    {method: RK45} => explicit, implicit
    {max_steps: 0} => max_steps
    {rtol: 0} => both zero
    {guard_tolerance: 0} => guard_tolerance
"""))  # fmt: skip
def test_options_that_no_simulation_can_have_are_refused(options, words):
    assert words in refusal(ValueError, sa.SimulationOptions, **options)


def test_a_clock_is_no_zeno_behaviour_and_events_are_counted_in_the_whole_run():
    def tick(t, x, u):
        return 4e-4 - x[0]

    ticks = sa.Transition(1, 1, tick, lambda t, x, u: np.zeros(1), name="tick")
    clock = sa.System({1: sa.Mode("clock", 1, 0, lambda t, x, u: np.ones(1))}, [ticks])
    run = sa.simulate(clock, 1, [0.0], 1.0)
    assert run.status == "ok" and len(run.events) in (2499, 2500)
    few = sa.SimulationOptions(max_events=100)
    for timestep in (None, 4e-3):
        run = sa.simulate(clock, 1, [0.0], 1.0, timestep=timestep, options=few)
        assert (run.status, len(run.events)) == ("zeno", 100)
