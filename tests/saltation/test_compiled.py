"""Compiled simulation: what Python's simulation gives, for every example system and status."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from saltation.batch import simulate_batch
from saltation.compiled.system import native_tables
from saltation.examples.bouncing_ball import FALLING, RISING, bouncing_ball, bouncing_ball_problem
from saltation.hilqr import Hilqr, Policies
from saltation.hilqr.event_driven import EventDrivenModel
from saltation.options import SimulationOptions
from saltation.simulation import simulate_step
from saltation.systems import Mode, System, Transition
from studies.kong.systems.constant_flow import constant_flow
from studies.kong.systems.pendulum import pendulum
from tests.saltation.compiled_functions import without_closed_forms
from tests.saltation.driven_systems import fall, height

NONE = np.zeros(0)


CASES = {
    "constant flow": (constant_flow(), [-1.0, 0.3], 0.3, 2.5),
    "ball": (bouncing_ball(), [3.0, -2.0], 0.3, 2.0),
    "pendulum": (pendulum(), [0.7, -3.0], 0.2, 0.6),
}


@pytest.mark.parametrize("name", CASES)
def test_batches_end_where_single_simulations_do_whatever_the_threads(name):
    system, mean, spread, duration = CASES[name]
    mode, u = min(system.modes), np.zeros(system.input_dim)
    states = np.random.default_rng(1).normal(mean, spread * np.ones(2), (40, 2))
    assert native_tables(system).reason == ""
    batch = simulate_batch(system, mode, states, duration, u)
    shared = simulate_batch(system, mode, states, duration, u, threads=3)
    assert_array_equal(shared.states, batch.states)
    assert_array_equal(shared.modes, batch.modes)
    events = 0
    for b, x in enumerate(states):
        step = simulate_step(without_closed_forms(system), mode, x, duration, u)
        assert batch.status[b] == step.status == "ok"
        assert (batch.modes[b], batch.counts[b]) == (step.mode, len(step.events))
        assert_allclose(batch.states[b], step.state, rtol=1e-9, atol=1e-9)
        events += len(step.events)
    assert events > 0


def falling_to(reset, flow=None, rising=2):
    """A ball that falls onto a floor where ``reset`` happens, into a mode with another flow."""
    down = Mode("down", 2, 0, fall)
    up = Mode("up", rising, 0, flow or fall)
    land = Transition(1, 2, height, reset, name="land", time_invariant=True)
    return System({1: down, 2: up}, (land,))


def test_modes_of_different_dimension_are_padded():
    system = falling_to(
        lambda t, x, u: np.array([x[1]]), lambda t, x, u: np.array([-x[0]]), rising=1
    )
    batch = simulate_batch(system, 1, np.array([[1.0, 0.0], [9.0, 0.0]]), 1.0, NONE)
    landing = np.sqrt(2.0 / 9.8)
    rest = -9.8 * landing * np.exp(-(1.0 - landing))
    assert_allclose(batch.states, [[rest, 0.0], [9.0 - 4.9, -9.8]], rtol=1e-9)
    assert_array_equal(batch.modes, [2, 1])


@pytest.mark.parametrize(
    "status, system, options",
    [
        ("wrong_dimension", falling_to(lambda t, x, u: np.array([x[1]])), {}),
        ("not_finite", falling_to(lambda t, x, u: np.array([x[0], np.nan])), {}),
        ("too_stiff", falling_to(lambda t, x, u: np.ones(2), lambda t, x, u: np.cos(t) - 1e4 * x),
         {"max_steps": 300}),
        ("zeno", bouncing_ball(), {}),
    ],
)  # fmt: skip
def test_failures_have_the_status_of_single_simulations(status, system, options):
    x, u, options = np.array([1.0, 0.0]), np.zeros(system.input_dim), SimulationOptions(**options)
    batch = simulate_batch(system, 1, x[None], 5.0, u, options=options)
    with np.errstate(over="ignore"):
        step = simulate_step(system, 1, x, 5.0, u, options=options)
    assert batch.status[0] == step.status == status and not batch.ok[0]


def test_a_function_that_does_not_compile_is_interpreted():
    table = {"gravity": 9.8}  # numba knows no such dictionary
    mode = Mode("air", 2, 0, lambda t, x, u: np.array([x[1], -table["gravity"]]))
    system = System({1: mode}, ())
    assert "table" in native_tables(system).reason
    batch = simulate_batch(system, 1, np.array([[0.0, 1.0]]), 2.0, NONE)
    assert_allclose(batch.states, [[2.0 - 19.6, 1.0 - 19.6]], rtol=1e-9)


def test_policies_roll_out_as_interpreted():
    """Extensions ahead and behind, feedback, several step sizes."""
    problem, N, table = bouncing_ball_problem(1.0, 4e-3), 250, {}  # numba knows no dictionary

    def python(one, *names):
        functions = {name: getattr(one, name) for name in names}
        functions = {k: lambda *a, f=f: table.get("other", f)(*a) for k, f in functions.items()}
        return dataclasses.replace(one, **functions)

    system, x0 = problem.system, np.array([4.0, 0.0])
    modes = {k: python(mode, "flow") for k, mode in system.modes.items()}
    same = System(modes, [python(edge, "guard", "reset") for edge in system.transitions])
    other = EventDrivenModel(
        same, FALLING, problem.timestep, problem.cost, event_at=problem.event_at
    )
    assert native_tables(system).reason == "" and "reset" in native_tables(same).reason
    nominal = Hilqr(problem).start(x0, Policies.zeros(problem, N))
    push, gains = np.random.default_rng(0).normal(size=(N, 1)), np.full((N, 1, 2), -3.0)
    policies = Policies.of(nominal.states, nominal.inputs, gains, push, (1.0, -1.0), nominal.aux)
    for start in (x0 + [0.05, -0.3], x0 + [-0.1, 0.0], np.array([0.2, 3.0])):
        fast, slow = problem.roll_out(start, policies), other.roll_out(start, policies)
        assert fast.ok.all() and slow.ok.all()
        assert_allclose(fast.states, slow.states, atol=1e-9)
        assert_allclose(fast.inputs, slow.inputs, atol=1e-9)
        for mine, theirs in zip(fast.aux, slow.aux, strict=True):
            assert mine.knots == theirs.knots and RISING in mine.knots
    fast, slow = problem.linearise(nominal), other.linearise(nominal)
    assert_allclose(fast.A, slow.A, atol=1e-9)
    assert_allclose(fast.B, slow.B, atol=1e-9)
