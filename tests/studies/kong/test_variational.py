"""A system with its variational equation, ramped inputs, a cost on Phi, and its study."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from hybrid.examples.bouncing_ball import FALLING, bouncing_ball
from hybrid.examples.hopper import FLIGHT
from hybrid.hilqr import Policies, compose
from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.saltations import saltation
from hybrid.simulation import simulate, simulate_step
from hybrid.validation import check_system
from hybrid.variational import fundamental_matrix
from studies.kong import convergent_hybrid as study
from studies.kong.saltations import (
    finite_difference_saltation,
    random_guard_states,
    relative_error,
)
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
from studies.study import StudyOptions
from tests.hybrid.driven_systems import driven

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
    steps, h = 18, 1e-5
    base = QuadraticCost(
        np.array([0.7, 0.0, 0.0]), 1e-3 * np.diag([0.0, 0.0, 1.0]), np.array([[1e-4]]),
        np.diag([10.0, 0.5, 0.0]),
    )  # fmt: skip
    cost = ConvergentCost(base, np.array([[1.0, 0.1, 0.0], [0.0, 0.3, 0.0]]), 0.5)
    wide = augmented(ramped(driven_hopper()), 2, with_reset_jacobian=wrong)
    model = EventDrivenModel(wide, FLIGHT, 0.05, cost, event_at="exact")
    V = np.array([[1.0, 0.0], [0.3, 2.0], [0.0, 0.0]])
    x0, forces = pack_augmented(np.array([0.8, 0.0, 0.0]), V), 2.0 * np.sin(np.arange(steps))

    def roll(x0, forces):
        gains = np.zeros((steps, 1, 9))
        policies = Policies.of(np.zeros((steps + 1, 9)), forces[:, None], gains)
        return model.roll_out(x0, policies).select(0)

    trajectory = roll(x0, forces)
    assert len(trajectory.aux.events) == 3
    A, B = compose(model.linearise(trajectory))
    expansion = model.quadratise(trajectory)
    adjoint, by_input = expansion.l_x[-1], np.empty(steps)
    for k in range(steps - 1, -1, -1):
        by_input[k] = (expansion.l_u[k] + B[k].T @ adjoint)[0]
        adjoint = expansion.l_x[k] + A[k].T @ adjoint
    for k in range(0, steps, 3):
        d = h * np.eye(steps)[k]
        slope = (roll(x0, forces + d).cost - roll(x0, forces - d).cost) / (2 * h)
        assert by_input[k] == approx(slope, rel=1e-4, abs=1e-4 * np.max(abs(by_input)))
    for i in range(9):
        d = h * np.eye(9)[i]
        slope = (roll(x0 + d, forces).cost - roll(x0 - d, forces).cost) / (2 * h)
        assert adjoint[i] == approx(slope, rel=1e-4, abs=1e-4 * np.max(abs(adjoint)))


REDUCED = (study.BALL._replace(steps=44), study.HOPPER._replace(steps=45))


@pytest.fixture(scope="module")
def groups():
    return [study.plans_of(task, StudyOptions()) for task in REDUCED]


@pytest.mark.slow
def test_perturbed_starts_end_closer_together_with_the_cost_and_saltation_matrices(groups):
    result = study.report(groups, StudyOptions(trials=6))
    assert all(each.met for each in result.criteria)
    for plain, convergent, dxr in (result.rows[:3], result.rows[3:]):
        assert plain["status"] == convergent["status"] == "converged"
        assert convergent["trace"] < 0.6 * plain["trace"]
        assert dxr["trace"] > 1.4 * convergent["trace"]
        assert convergent["phi_norm"] < 0.8 * plain["phi_norm"]
        assert convergent["extra_effort"] > 0.0 == plain["extra_effort"]
        assert convergent["events"] == plain["events"] and len(plain["events"]) >= 4
        assert_allclose(convergent["end"], plain["end"], atol=0.01)
    for row in result.rows[:3]:  # the ball keeps its areas, whatever the plan
        assert row["phi_det"] == approx(0.75**4, rel=1e-6)
        assert row["area_ratio"] == approx(0.75**4, rel=1e-2)


@pytest.mark.slow
def test_small_starts_end_where_phi_says_and_none_stays_on_the_plan(groups):
    """W dx_N = W Phi V V^-1 dx_0 to first order."""
    for plan in (plan for group in groups for plan in group):
        starts = study.gaussian_starts(3, 1, scale=1e-3)
        wanted = starts @ np.diag([1.0, 0.2]) / study.SPREAD @ plan.spread.T
        assert_allclose(study.perturbed(plan, starts)[1], wanted, atol=5e-5 * study.SPREAD)
        still = study.perturbed(plan, np.zeros((1, 2)), feedback=True)[0]
        assert_allclose(still[0], plan.trajectory.states, atol=1e-9)
