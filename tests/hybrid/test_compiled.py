"""Compiled simulation: what Python's simulation gives, for every example system and status."""

import dataclasses

import numpy as np
import pytest

from hybrid.batch import simulate_batch
from hybrid.compiled.system import native_tables
from hybrid.examples.bouncing_ball import FALLING, RISING, bouncing_ball, bouncing_ball_problem
from hybrid.hilqr import Hilqr, Policies
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate_step
from hybrid.systems import Mode, System, Transition
from studies.kong.systems.constant_flow import constant_flow
from studies.kong.systems.pendulum import pendulum

NONE = np.zeros(0)
REST = np.zeros(1)


def without_closed_forms(system):
    modes = {k: dataclasses.replace(mode, flow_map=None) for k, mode in system.modes.items()}
    return System(modes, system.transitions)


def first_mode(system):
    return next(iter(system.modes))


CASES = {
    "constant flow": (constant_flow(), [-1.0, 0.3], 0.3, 2.5),
    "ball": (bouncing_ball(), [3.0, -2.0], 0.3, 2.0),
    "pendulum": (pendulum(), [0.7, -3.0], 0.2, 0.6),
}


@pytest.mark.parametrize("name", CASES)
def test_batches_end_where_single_simulations_do(name):
    system, mean, spread, duration = CASES[name]
    mode = first_mode(system)
    u = np.zeros(system.modes[mode].input_dim)
    states = np.random.default_rng(1).normal(mean, spread * np.ones(2), (40, 2))
    assert native_tables(system).reason == ""
    batch = simulate_batch(system, mode, states, duration, u)
    events = 0
    for b, x in enumerate(states):
        step = simulate_step(without_closed_forms(system), mode, x, duration, u)
        assert batch.status[b] == step.status == "ok"
        assert (batch.modes[b], batch.counts[b]) == (step.mode, len(step.events))
        np.testing.assert_allclose(batch.states[b], step.state, rtol=1e-9, atol=1e-9)
        events += len(step.events)
    assert events > 0


def test_a_division_by_zero_is_a_status():
    """Compiled functions divide as numpy does, and a guard that stands still has a rate of zero."""
    system = falling_to(lambda t, x, u: np.array([1.0 / (x[0] - x[0]), x[1]]))
    batch = simulate_batch(system, 1, np.array([[1.0, 0.0]]), 1.0, NONE)
    assert native_tables(system).reason == "" and batch.status == ("not_finite",)
    step = Mode("still", 1, 0, lambda t, x, u: np.array([1.0]))
    gate = Transition(1, 1, lambda t, x, u: 1.0 if x[0] < 0.5 else -1.0, lambda t, x, u: -x)
    batch = simulate_batch(System({1: step}, (gate,)), 1, np.zeros((1, 1)), 1.0, NONE)
    assert batch.status[0] in ("ok", "grazing")  # as the jump is met, and without an exception


def test_results_do_not_depend_on_threads():
    states = np.random.default_rng(2).normal([3.0, -2.0], 0.3, (31, 2))
    one = simulate_batch(bouncing_ball(), FALLING, states, 2.0, REST)
    two = simulate_batch(bouncing_ball(), FALLING, states, 2.0, REST, threads=2)
    np.testing.assert_array_equal(one.states, two.states)
    np.testing.assert_array_equal(one.modes, two.modes)


def falling_to(reset, flow=None, rising=2):
    """A ball that falls onto a floor where ``reset`` happens, into a mode with another flow."""
    down = Mode("down", 2, 0, lambda t, x, u: np.array([x[1], -9.8]))
    up = Mode("up", rising, 0, flow or (lambda t, x, u: np.array([x[1], -9.8])))
    land = Transition(1, 2, lambda t, x, u: x[0], reset, name="land", time_invariant=True)
    return System({1: down, 2: up}, (land,))


def test_modes_of_different_dimension_are_padded():
    system = falling_to(
        lambda t, x, u: np.array([x[1]]), lambda t, x, u: np.array([-x[0]]), rising=1
    )
    batch = simulate_batch(system, 1, np.array([[1.0, 0.0], [9.0, 0.0]]), 1.0, NONE)
    landing = np.sqrt(2.0 / 9.8)
    rest = -9.8 * landing * np.exp(-(1.0 - landing))
    np.testing.assert_allclose(batch.states, [[rest, 0.0], [9.0 - 4.9, -9.8]], rtol=1e-9)
    np.testing.assert_array_equal(batch.modes, [2, 1])


def wrong_dimension():
    return falling_to(lambda t, x, u: np.array([x[1]])), [1.0, 0.0], SimulationOptions()


def not_finite():
    return falling_to(lambda t, x, u: np.array([x[0], np.nan])), [1.0, 0.0], SimulationOptions()


def too_stiff():
    stiff = falling_to(lambda t, x, u: np.ones(2), lambda t, x, u: np.cos(t) - 1e4 * x)
    return stiff, [1.0, 0.0], SimulationOptions(max_steps=300)


def zeno():
    return bouncing_ball(), [1.0, 0.0], SimulationOptions()


@pytest.mark.parametrize("case", [wrong_dimension, not_finite, too_stiff, zeno])
def test_failures_have_the_status_of_single_simulations(case):
    system, x, options = case()
    u = np.zeros(next(iter(system.modes.values())).input_dim)
    assert (native_tables(system).reason == "") == (case is not wrong_dimension)
    batch = simulate_batch(system, 1, np.array([x]), 5.0, u, options=options)
    with np.errstate(over="ignore"):
        step = simulate_step(system, 1, np.array(x), 5.0, u, options=options)
    assert batch.status[0] == step.status == case.__name__
    assert not batch.ok[0]


def test_a_function_that_does_not_compile_is_interpreted():
    table = {"gravity": 9.8}  # numba knows no such dictionary
    mode = Mode("air", 2, 0, lambda t, x, u: np.array([x[1], -table["gravity"]]))
    system = System({1: mode}, ())
    assert "table" in native_tables(system).reason
    batch = simulate_batch(system, 1, np.array([[0.0, 1.0]]), 2.0, NONE)
    np.testing.assert_allclose(batch.states, [[2.0 - 19.6, 1.0 - 19.6]], rtol=1e-9)


def without_derivatives(system):
    modes = {k: Mode(mode.name, 2, 1, mode.flow) for k, mode in system.modes.items()}
    return System(modes, system.transitions)


def not_compiled(system):
    """The same system with flows that numba cannot compile."""
    table = {}  # numba knows no such dictionary

    def python(function):
        return lambda *arguments: table.get("other", function)(*arguments)

    modes = {
        k: dataclasses.replace(mode, flow=python(mode.flow)) for k, mode in system.modes.items()
    }
    edges = (
        dataclasses.replace(edge, guard=python(edge.guard), reset=python(edge.reset))
        for edge in system.transitions
    )
    other = System(modes, tuple(edges))
    assert "reset" in native_tables(other).reason and "guard" in native_tables(other).reason
    return other


@pytest.mark.parametrize("given", [True, False])
def test_policies_roll_out_as_interpreted(given):
    """Extensions ahead and behind, feedback, several step sizes; derivatives given or found."""
    problem, N = bouncing_ball_problem(1.0, 4e-3), 250
    system = problem.system if given else without_derivatives(problem.system)
    assert native_tables(system).reason == ""
    model, other = (
        EventDrivenModel(each, FALLING, problem.timestep, problem.cost)
        for each in (system, not_compiled(system))
    )
    x0 = np.array([4.0, 0.0])
    seed = Policies.of(np.zeros((N + 1, 2)), np.zeros((N, 1)), np.zeros((N, 1, 2)))
    nominal = Hilqr(model).start(x0, seed)
    push = np.random.default_rng(0).normal(size=(N, 1))
    gains = np.full((N, 1, 2), -3.0)
    policies = Policies.of(
        nominal.states, nominal.inputs, gains, push, (1.0, 0.5, -1.0, 0.0), nominal.aux
    ).join(seed)
    for start in (x0 + [0.05, -0.3], x0 + [-0.1, 0.0], np.array([0.2, 3.0])):
        fast, slow = model.roll_out(start, policies), other.roll_out(start, policies)
        assert fast.ok.all() and slow.ok.all() and fast.aux is not None and slow.aux is not None
        np.testing.assert_allclose(fast.states, slow.states, atol=1e-9)
        np.testing.assert_allclose(fast.inputs, slow.inputs, atol=1e-9)
        for mine, theirs in zip(fast.aux, slow.aux, strict=True):
            assert mine.knots == theirs.knots and RISING in mine.knots
            for a, b in zip(mine.events, theirs.events, strict=True):
                assert a.knot == b.knot and a.event.transition.name == b.event.transition.name
                assert a.event.time == pytest.approx(b.event.time, abs=1e-10)
                np.testing.assert_allclose(a.event.state_after, b.event.state_after, atol=1e-9)
    fast, slow = model.linearise(nominal), other.linearise(nominal)
    np.testing.assert_allclose(fast.A, slow.A, atol=1e-9)
    np.testing.assert_allclose(fast.B, slow.B, atol=1e-9)
