"""A system with its variational equation, ramped inputs, a cost on Phi, and its study."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from saltation.examples.bouncing_ball import FALLING, bouncing_ball
from saltation.examples.hopper import FLIGHT
from saltation.hilqr.cost import QuadraticCost
from saltation.hilqr.event_driven import EventDrivenModel
from saltation.saltations import saltation
from saltation.simulation import simulate, simulate_step
from saltation.validation import check_system
from saltation.variational import fundamental_matrix
from studies.kong.saltations import finite_difference_saltation, random_guard_states, relative_error
from studies.kong.systems.aslip import FLIGHT as LEG_UP
from studies.kong.systems.aslip import aslip, at_rest
from studies.kong.systems.vibrating_table import vibrating_table
from studies.kong.variational import (
    ConvergentCost,
    augmented,
    driven_hopper,
    pack_augmented,
    ramped,
    unpack_augmented,
)
from tests.differences import slopes
from tests.saltation.driven_systems import driven
from tests.saltation.rollouts import roll
from tests.saltation.test_hilqr_gradients import gradients

# ruff: noqa: N803, N806 (the letters are the thesis's)


FLIGHTS = {
    "ball": (bouncing_ball(), FALLING, [1.0, 0.3], [1.5], 1.6, 3),
    "driven hopper": (driven_hopper(), FLIGHT, [0.8, 0.1], [2.0], 0.7, 3),
    "ramped hopper": (ramped(driven_hopper()), FLIGHT, [0.8, 0.1, -1.0], [4.0], 0.7, 3),
    "table": (vibrating_table(), next(iter(vibrating_table().modes)), [0.3, 0.0], [], 0.5, 1),
    "aslip": (aslip(), LEG_UP, at_rest(np.array([0.0, 1.8, 1.3, 0.5, 0.0, 0.0])), [], 0.7, 1),
    "driven": (driven(), 1, [0.3, -0.5], [0.7, -0.4], 1.2, 2),
}


@pytest.mark.parametrize("with_reset_jacobian", [False, True])
@pytest.mark.parametrize("name", FLIGHTS)
def test_columns_are_the_fundamental_matrix_times_those_at_the_start(name, with_reset_jacobian):
    system, mode, x, u, duration, events = FLIGHTS[name]
    V = np.random.default_rng(0).normal(size=(len(x), 2))
    wide = augmented(system, 2, with_reset_jacobian=with_reset_jacobian)
    start = pack_augmented(np.array(x), V)
    found = simulate_step(wide, mode, start, duration, np.array(u), 0.2)
    wanted = fundamental_matrix(
        system, mode, np.array(x), duration, np.array(u), 0.2,
        with_reset_jacobian=with_reset_jacobian,
    )  # fmt: skip
    assert found.status == wanted.status == "ok" and len(found.events) >= events
    state, Y = unpack_augmented(found.state, len(wanted.state))
    assert_allclose(state, wanted.state, rtol=1e-7, atol=1e-8)
    assert_allclose(Y, wanted.Phi @ V, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["ramped hopper", "driven"])
def test_derivatives_fit_and_so_does_the_saltation_matrix_of_the_saltation_matrix(name):
    """Against simulated neighbours; states in front of every guard, as behind it Xi changes."""
    system, rng, samples = FLIGHTS[name][0], np.random.default_rng(1), {}
    wide, u = augmented(system, 2), np.full(system.input_dim, 0.4)
    for number, mode in system.modes.items():
        drawn = (rng.normal(size=mode.state_dim) for _ in iter(int, 1))
        inside = (x for x in drawn if all(
            e.guard(0.3, x, u) > 0.1 > -0.1 > system.guard_rate(e, 0.3, x, u)
            for e in system.outgoing(number)))  # fmt: skip
        columns = rng.normal(size=(mode.state_dim, 2))
        samples[number] = [pack_augmented(next(inside), columns) for _ in range(4)]
    assert check_system(wide, samples, 0.3, u) == []
    for narrow, edge in zip(system.transitions, wide.transitions, strict=True):
        n = system.modes[edge.source].state_dim

        def draw(n=n):
            return 0.5 * rng.uniform(), rng.normal(size=n), rng.normal(size=system.input_dim)

        for t, x, v in random_guard_states(system, narrow, draw, 4, minimum_rate=0.3):
            y = pack_augmented(x, rng.normal(size=(n, 2)))
            found = saltation(wide, edge, t, y, v)
            wanted = finite_difference_saltation(wide, edge, t, y, v)
            assert found.ok and relative_error(found.matrix, wanted) < 1e-5


def test_a_ramped_force_moves_a_mass_by_its_integral_and_one_of_rate_zero_is_held():
    """z = z0 + v t - g t^2 / 2 + r t^3 / 6 in free flight."""
    run = simulate(ramped(bouncing_ball()), FALLING, np.array([9.0, -1.0, 0.5]), 0.8, [2.0])
    z = 9.0 - 0.8 + (0.5 - 9.8) * 0.8**2 / 2 + 2.0 * 0.8**3 / 6
    v = -1.0 + (0.5 - 9.8) * 0.8 + 2.0 * 0.8**2 / 2
    assert_allclose(run.final_state, [z, v, 0.5 + 1.6], rtol=1e-10)
    start, force = np.array([0.8, 0.1]), np.array([2.0])
    held = simulate(driven_hopper(), FLIGHT, start, 1.0, force)
    still = simulate(ramped(driven_hopper()), FLIGHT, np.append(start, force), 1.0, np.zeros(1))
    assert_allclose(still.final_state, [*held.final_state, 2.0], rtol=1e-8)


@pytest.mark.parametrize("wrong", [False, True])
def test_gradients_of_the_cost_are_those_of_the_rollout(wrong):
    """Through touchdown, bottom and liftoff; also where D_x R carries the columns."""
    base = QuadraticCost(
        np.array([0.7, 0.0, 0.0]), 1e-3 * np.diag([0.0, 0.0, 1.0]), np.array([[1e-4]]),
        np.diag([10.0, 0.5, 0.0]),
    )  # fmt: skip
    cost = ConvergentCost(base, np.array([[1.0, 0.1, 0.0], [0.0, 0.3, 0.0]]), 0.5)
    wide = augmented(ramped(driven_hopper()), 2, with_reset_jacobian=wrong)
    model = EventDrivenModel(wide, FLIGHT, 0.05, cost, event_at="exact")
    V = np.array([[1.0, 0.0], [0.3, 2.0], [0.0, 0.0]])
    x0, forces = (
        pack_augmented(np.array([0.8, 0.0, 0.0]), V),
        2.0 * np.sin(np.arange(18.0))[:, None],
    )

    nominal = roll(model, x0, forces)
    assert len(nominal.aux.events) == 3
    by_state, by_input = gradients(model, nominal)
    found = slopes(lambda u: roll(model, x0, u).cost, forces, 1e-5)
    assert_allclose(by_input, found, rtol=1e-4, atol=1e-4 * np.max(abs(by_input)))
    found = slopes(lambda x: roll(model, x, forces).cost, x0, 1e-5)
    assert_allclose(by_state, found, rtol=1e-4, atol=1e-4 * np.max(abs(by_state)))
