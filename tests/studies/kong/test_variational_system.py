"""A system with its variational equation, ramped inputs, and a cost on the fundamental matrix."""

from typing import NamedTuple

import numpy as np
import pytest

from hybrid.examples.bouncing_ball import FALLING, RESTITUTION, bouncing_ball
from hybrid.examples.hopper import DAMPING, FLIGHT, MASS, hopper
from hybrid.hilqr import Hilqr, HilqrOptions, Policies, compose
from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.hilqr.extension import Modes
from hybrid.hilqr.types import CostExpansion
from hybrid.saltations import saltation
from hybrid.simulation import simulate, simulate_step
from hybrid.systems import Mode, System, Transition
from hybrid.validation import check_system
from hybrid.variational import fundamental_matrix
from studies.kong.saltations.finite_differences import (
    finite_difference_saltation,
    relative_error,
)
from studies.kong.saltations.guard_states import random_guard_states
from studies.kong.systems.aslip import FLIGHT as LEG_UP
from studies.kong.systems.aslip import aslip, at_rest
from studies.kong.systems.driven_hopper import driven_hopper
from studies.kong.systems.vibrating_table import vibrating_table
from studies.kong.variational.convergent_cost import ConvergentCost
from studies.kong.variational.ramped_inputs import ramped
from studies.kong.variational.variational_system import (
    augmented,
    pack_augmented,
    unpack_augmented,
)

# ruff: noqa: N803, N806 (the letters are the thesis's)


def growing():
    """Two states, then three: guard, reset and flow depend on time and on the input."""

    def fall(t, x, u):
        return np.array([x[1], u[0] * (np.cos(t) + 0.1 * x[0]) - 9.8 - 0.3 * x[1] ** 2])

    def soak(t, x, u):
        return np.array([x[1], u[0] - 40.0 * x[0] + x[2], -x[2] * x[0] - np.sin(t) * x[1]])

    enter = Transition(
        1,
        2,
        guard=lambda t, x, u: x[0] - 0.05 * np.sin(3.0 * t) - 0.01 * u[0],
        reset=lambda t, x, u: np.array([x[0], 0.8 * x[1] + t, 0.1 * x[1] ** 2 + 0.1 * u[0]]),
        name="enter",
    )
    leave = Transition(
        2,
        1,
        guard=lambda t, x, u: 0.1 - x[0],
        reset=lambda t, x, u: np.array([x[0] * (1.0 + 0.1 * t), x[1] + 0.1 * x[2]]),
        name="leave",
    )
    return System(
        {1: Mode("free", 2, 1, fall), 2: Mode("soaked", 3, 1, soak)}, (enter, leave)
    )


FLIGHTS = {
    "ball": (bouncing_ball(), FALLING, [1.0, 0.3], [1.5], 1.6, 3),
    "driven hopper": (driven_hopper(), FLIGHT, [0.8, 0.1], [2.0], 0.7, 3),
    "ramped hopper": (ramped(driven_hopper()), FLIGHT, [0.8, 0.1, -1.0], [4.0], 0.7, 3),
    "table": (vibrating_table(), next(iter(vibrating_table().modes)), [0.3, 0.0], [], 0.5, 1),
    "aslip": (aslip(), LEG_UP, at_rest(np.array([0.0, 1.8, 1.3, 0.5, 0.0, 0.0])), [], 0.7, 1),
    "growing": (growing(), 1, [0.3, -0.5], [0.7], 1.2, 3),
}


@pytest.mark.parametrize("name", FLIGHTS)
def test_columns_are_the_fundamental_matrix_times_those_at_the_start(name):
    system, mode, x, u, duration, events = FLIGHTS[name]
    V = np.random.default_rng(0).normal(size=(len(x), 2))
    found = simulate_step(
        augmented(system, 2), mode, pack_augmented(np.array(x), V), duration, np.array(u), 0.2
    )
    wanted = fundamental_matrix(system, mode, np.array(x), duration, np.array(u), 0.2)
    assert found.status == wanted.status == "ok" and len(found.events) >= events
    assert found.mode == wanted.mode
    state, Y = unpack_augmented(found.state, len(wanted.state))
    np.testing.assert_allclose(state, wanted.state, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(Y, wanted.Phi @ V, rtol=1e-6, atol=1e-7)


def test_reset_jacobians_in_place_of_saltation_matrices():
    system, mode, x, u, duration, _ = FLIGHTS["driven hopper"]
    wrong = augmented(system, 2, with_reset_jacobian=True)
    step = simulate_step(wrong, mode, pack_augmented(np.array(x), np.eye(2)), duration, np.array(u))
    arguments = (system, mode, np.array(x), duration, np.array(u))
    Y = unpack_augmented(step.state, 2).columns
    wanted = fundamental_matrix(*arguments, with_reset_jacobian=True).Phi
    np.testing.assert_allclose(Y, wanted, rtol=1e-6, atol=1e-7)
    assert np.max(abs(Y - fundamental_matrix(*arguments).Phi)) > 0.1


CURVED = ["driven hopper", "ramped hopper", "growing"]


@pytest.mark.parametrize("name", CURVED)
def test_derivatives_fit(name):
    """At states in front of every guard: behind it, the reset changes where it is jumped over."""
    system, rng, samples = FLIGHTS[name][0], np.random.default_rng(1), {}
    for number, mode in system.modes.items():
        found = []
        while len(found) < 4:
            x, u, n = rng.normal(size=mode.state_dim), np.array([0.4]), mode.state_dim
            edges = system.outgoing(number)
            if all(
                e.guard(0.3, x, u) > 0.1 > -0.1 > system.guard_rate(e, 0.3, x, u) for e in edges
            ):
                found.append(pack_augmented(x, rng.normal(size=(n, 2))))
        samples[number] = found
    assert check_system(augmented(system, 2), samples, 0.3, np.array([0.4])) == []


@pytest.mark.parametrize("name", CURVED)
def test_the_saltation_matrix_of_the_saltation_matrix(name):
    """The augmented system's own Xi, with second derivatives, against simulated neighbours."""
    system, rng = FLIGHTS[name][0], np.random.default_rng(1)
    wide = augmented(system, 2)
    for narrow, edge in zip(system.transitions, wide.transitions, strict=True):
        n = system.modes[edge.source].state_dim

        def draw(n=n):
            return 0.5 * rng.uniform(), rng.normal(size=n), rng.normal(size=1)

        points = random_guard_states(system, narrow, draw, 8, minimum_rate=0.3)
        assert len(points) == 8
        for t, x, u in points:
            y = pack_augmented(x, rng.normal(size=(n, 2)))
            found = saltation(wide, edge, t, y, u)
            wanted = finite_difference_saltation(wide, edge, t, y, u)
            assert found.ok and relative_error(found.matrix, wanted) < 1e-5


def test_a_guard_that_was_jumped_over_maps_by_the_reset_jacobian():
    """A jump of the input across a guard moves no event in time: the same as ``saltation`` says."""
    system = growing()
    edge = augmented(system, 2).transitions[0]
    x, u, Y = np.array([-0.5, -1.0]), np.array([0.3]), np.array([[1.0, 0.2], [-0.4, 2.0]])
    after = edge.reset(0.1, pack_augmented(x, Y), u)
    wanted = system.transitions[0].reset_state(0.1, x, u) @ Y
    np.testing.assert_allclose(unpack_augmented(after, 3).columns, wanted, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_bounce_shrinks_areas_by_the_restitution_squared_whatever_the_force(seed):
    """What no plan of so many bounces can change: |det Phi| = e^(2 bounces)."""
    wide, inputs = augmented(bouncing_ball(), 2), np.random.default_rng(seed).normal(size=(80, 1))
    start = pack_augmented(np.array([1.0, 0.0]), np.eye(2))
    run = simulate(wide, FALLING, start, 1.2, 5.0 * inputs, timestep=0.015)
    bounces = sum(event.transition.name == "impact" for event in run.events)
    assert run.status == "ok" and bounces >= 1
    det = np.linalg.det(unpack_augmented(run.final_state, 2).columns)
    assert abs(det) == pytest.approx(RESTITUTION ** (2 * bounces), rel=1e-6)


def test_a_motor_that_takes_the_dampers_force_makes_a_touchdown_the_identity():
    velocity, mass = -2.3, 2.0 * MASS
    system = driven_hopper(mass)
    touchdown = system.transitions[0]
    for u in (0.0, 3.0, DAMPING * velocity):
        Xi = saltation(system, touchdown, 0.0, np.array([0.5, velocity]), np.array([u])).matrix
        corner = (u - DAMPING * velocity) / (mass * velocity)
        np.testing.assert_allclose(Xi, [[1.0, 0.0], [corner, 1.0]], atol=1e-12)


def test_an_idle_motor_leaves_the_hopper_as_it_is():
    idle, bare = (
        simulate(s, FLIGHT, np.array([0.8, 0.0]), 1.5) for s in (driven_hopper(), hopper())
    )
    np.testing.assert_allclose(idle.final_state, bare.final_state, rtol=1e-8)
    assert [e.transition.name for e in idle.events] == [e.transition.name for e in bare.events]


def test_a_ramped_force_moves_a_mass_by_its_integral():
    """z = z0 + v t - g t^2 / 2 + r t^3 / 6 in free flight."""
    run = simulate(ramped(bouncing_ball()), FALLING, np.array([9.0, -1.0, 0.5]), 0.8, [2.0])
    z = 9.0 - 0.8 + (0.5 - 9.8) * 0.8**2 / 2 + 2.0 * 0.8**3 / 6
    v = -1.0 + (0.5 - 9.8) * 0.8 + 2.0 * 0.8**2 / 2
    np.testing.assert_allclose(run.final_state, [z, v, 0.5 + 1.6], rtol=1e-10)


def test_a_ramp_of_rate_zero_is_a_held_input():
    start, force = np.array([0.8, 0.1]), np.array([2.0])
    held = simulate(driven_hopper(), FLIGHT, start, 1.0, force)
    still = simulate(ramped(driven_hopper()), FLIGHT, np.append(start, force), 1.0, np.zeros(1))
    np.testing.assert_allclose(still.final_state, [*held.final_state, 2.0], rtol=1e-8)
    assert len(held.events) == len(still.events) == 4


def test_derivatives_of_ramped_systems_fit():
    for system in (ramped(driven_hopper()), ramped(growing()), ramped(ramped(bouncing_ball()))):
        rng = np.random.default_rng(3)
        samples = {
            number: rng.normal(size=(3, mode.state_dim)) for number, mode in system.modes.items()
        }
        assert check_system(system, samples, 0.4, rng.normal(size=1)) == []


class Mixed(NamedTuple):
    """sum_k of u_k x_k[0] x_k[1], a base cost with a mixed derivative."""

    def value(self, states, inputs, modes):
        return float(np.sum(inputs[:, 0] * states[:-1, 0] * states[:-1, 1]))

    def expand(self, states, inputs, modes):
        (N, m), n = inputs.shape, states.shape[1]
        l_x, l_xx, l_ux = np.zeros((N + 1, n)), np.zeros((N + 1, n, n)), np.zeros((N, m, n))
        l_ux[:, 0, :2] = states[:-1, 1::-1]
        l_x[:-1, :2] = inputs * states[:-1, 1::-1]
        l_xx[:-1, 0, 1] = l_xx[:-1, 1, 0] = inputs[:, 0]
        l_u = states[:-1, :1] * states[:-1, 1:2]
        return CostExpansion(l_x, l_u, l_xx, l_ux, np.zeros((N, m, m)))


def test_the_cost_is_its_formula_and_its_expansion_that_of_its_value():
    """On numbers of no trajectory, in modes of two and three states."""
    rng, modes = np.random.default_rng(2), Modes((1, 2, 2, 1), ())
    W = rng.normal(size=(2, 3))
    cost = ConvergentCost(growing(), Mixed(), 2, W, 0.7, 0.2)
    dims = np.array([2, 3, 3, 2])
    states, inputs = np.zeros((4, 9)), rng.normal(size=(3, 1))
    for row, n in zip(states, dims, strict=True):
        row[: 3 * n] = rng.normal(size=3 * n)
    Y = [row[n : 3 * n].reshape(n, 2) for row, n in zip(states, dims, strict=True)]
    shares = [np.sum((W[:, :n] @ y) ** 2) for n, y in zip(dims, Y, strict=True)]
    wanted = np.sum(inputs[:, 0] * states[:3, 0] * states[:3, 1])
    wanted += 0.7 * shares[-1] + 0.2 * sum(shares[:-1])
    assert cost.value(states, inputs, modes) == pytest.approx(wanted)

    found, h = cost.expand(states, inputs, modes), 1e-5
    for k, i in np.argwhere(np.arange(9) < 3 * dims[:, None]).tolist():
        d = np.zeros_like(states)
        d[k, i] = h
        slope = cost.value(states + d, inputs, modes) - cost.value(states - d, inputs, modes)
        assert found.l_x[k, i] == pytest.approx(slope / (2 * h), abs=1e-8)
        up, down = (cost.expand(states + s * d, inputs, modes) for s in (1, -1))
        np.testing.assert_allclose(found.l_xx[k, i], (up.l_x - down.l_x)[k] / (2 * h), atol=1e-8)
        if k < 3:
            np.testing.assert_allclose(
                found.l_ux[k, :, i], (up.l_u - down.l_u)[k] / (2 * h), atol=1e-8
            )
    np.testing.assert_allclose(found.l_u[:, 0], states[:3, 0] * states[:3, 1])


STEPS, TIMESTEP = 18, 0.05
FORCES = 2.0 * np.sin(np.arange(STEPS))[:, None]


def problem(weight, running=0.0, columns=2, with_reset_jacobian=False):
    """The ramped hopper, which is to reach a height through one stance."""
    system = ramped(driven_hopper())
    base = QuadraticCost(
        np.array([0.7, 0.0, 0.0]), 1e-3 * np.diag([0.0, 0.0, 1.0]), np.array([[1e-4]]),
        np.diag([10.0, 0.5, 0.0]),
    )  # fmt: skip
    W = np.array([[1.0, 0.1, 0.0], [0.0, 0.3, 0.0]])
    cost = ConvergentCost(system, base, columns, W, weight, running)
    wide = augmented(system, columns, with_reset_jacobian=with_reset_jacobian)
    V = np.array([[1.0, 0.0], [0.3, 2.0], [0.0, 0.0]])[:, :columns]
    x0 = np.array([0.8, 0.0, 0.0])
    model = EventDrivenModel(wide, FLIGHT, TIMESTEP, cost, event_at="exact")
    return (
        model,
        pack_augmented(x0, V),
        EventDrivenModel(system, FLIGHT, TIMESTEP, base, event_at="exact"),
        x0,
    )


def roll(model, x0, inputs):
    n = len(x0)
    gains = np.zeros((STEPS, 1, n))
    rollouts = model.roll_out(x0, Policies.of(np.zeros((STEPS + 1, n)), inputs, gains))
    assert rollouts.ok[0]
    return rollouts.select(0)


def gradients(model, trajectory):
    """Derivatives (n,) and (N, m) of the cost by the start and by the inputs: the adjoint."""
    A, B = compose(model.linearise(trajectory))
    expansion = model.quadratise(trajectory)
    adjoint, by_input = expansion.l_x[-1], np.empty_like(trajectory.inputs)
    for k in range(len(A) - 1, -1, -1):
        by_input[k] = expansion.l_u[k] + B[k].T @ adjoint
        adjoint = expansion.l_x[k] + A[k].T @ adjoint
    return adjoint, by_input


@pytest.mark.parametrize(
    ("weights", "wrong"), [((1.0, 0.0, 2), False), ((0.3, 0.1, 1), False), ((0.5, 0.2, 2), True)]
)
def test_gradients_of_the_cost_are_those_of_the_rollout(weights, wrong):
    """Through touchdown, bottom and liftoff; also where D_x R carries the columns."""
    model, y0, _, _ = problem(*weights, with_reset_jacobian=wrong)
    trajectory, h = roll(model, y0, FORCES), 1e-5
    assert len(trajectory.aux.events) == 3
    by_start, by_input = gradients(model, trajectory)
    scale = np.max(abs(by_input))
    for k in range(0, STEPS, 3):
        up, down = FORCES.copy(), FORCES.copy()
        up[k] += h
        down[k] -= h
        slope = (roll(model, y0, up).cost - roll(model, y0, down).cost) / (2 * h)
        assert by_input[k, 0] == pytest.approx(slope, rel=1e-4, abs=1e-4 * scale)
    for i in range(len(y0)):
        d = h * np.eye(len(y0))[i]
        slope = (roll(model, y0 + d, FORCES).cost - roll(model, y0 - d, FORCES).cost) / (2 * h)
        assert by_start[i] == pytest.approx(slope, rel=1e-4, abs=1e-4 * np.max(abs(by_start)))


def solve(model, x0, tolerance=1e-5):
    n = len(x0)
    seed = Policies.of(np.zeros((STEPS + 1, n)), np.zeros((STEPS, 1)), np.zeros((STEPS, 1, n)))
    return Hilqr(model, HilqrOptions(tolerance=tolerance, max_iterations=40)).solve(x0, seed)


def test_without_weight_the_plan_is_plain_hilqrs():
    model, y0, plain, x0 = problem(0.0)
    wide, narrow = solve(model, y0), solve(plain, x0)
    assert wide.status == narrow.status == "converged"
    np.testing.assert_allclose(wide.trajectory.inputs, narrow.trajectory.inputs, atol=1e-4)
    np.testing.assert_allclose(wide.trajectory.states[:, :3], narrow.trajectory.states, atol=1e-5)
    assert wide.trajectory.cost == pytest.approx(narrow.trajectory.cost, rel=1e-6)


def test_the_cost_shrinks_perturbations_and_costs_effort():
    """Measured without the columns, by ``fundamental_matrix`` over each timestep."""
    spreads, efforts = [], []
    for weight in (0.0, 1.0):
        model, y0, plain, x0 = problem(weight)
        found = solve(model, y0, 1e-2)
        assert found.status == "converged"
        again = roll(plain, x0, found.trajectory.inputs)
        Phi = np.eye(3)
        for k in range(STEPS):
            step = fundamental_matrix(
                plain.system, again.aux.knots[k], again.states[k], TIMESTEP, again.inputs[k]
            )
            Phi = step.Phi @ Phi
        WY = model.cost.W @ Phi @ unpack_augmented(y0, 3).columns
        assert np.sum(WY**2) == pytest.approx(np.sum((model.cost.W @ model.cost.perturbations(
            found.trajectory.states, found.trajectory.aux, STEPS)) ** 2), rel=1e-6)  # fmt: skip
        spreads.append(np.sum(WY**2))
        efforts.append(again.cost)
    assert spreads[1] < 0.6 * spreads[0] and efforts[1] > efforts[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"weight": -1.0},
        {"weight": np.nan},
        {"running": -0.1},
        {"W": np.eye(2)},
        {"W": np.nan * np.eye(3)},
        {"columns": 0},
        {"columns": 1.5},
    ],
    ids=lambda wrong: str(next(iter(wrong))),
)
def test_costs_that_are_none_are_refused(wrong):
    system = ramped(bouncing_ball())
    base = QuadraticCost.reaching(np.zeros(3), np.eye(1), np.eye(3))
    given = {"W": np.eye(3), "weight": 1.0, "running": 0.0, "columns": 2} | wrong
    with pytest.raises(ValueError, match="give"):
        ConvergentCost(system, base, **given)


def test_a_cost_on_other_columns_than_the_states_have_is_refused():
    """It would read one column out of numbers of two."""
    system, said = ramped(bouncing_ball()), "give both the same columns"
    cost = ConvergentCost(
        system, QuadraticCost.reaching(np.zeros(3), np.eye(1), np.eye(3)), 1, np.eye(3), 1.0
    )
    states, modes = np.zeros((2, 9)), Modes((FALLING, FALLING), ())
    for evaluated in (cost.value, cost.expand):
        with pytest.raises(ValueError, match=said):
            evaluated(states, np.zeros((1, 1)), modes)
        evaluated(states[:, :6], np.zeros((1, 1)), modes)


@pytest.mark.parametrize("columns", [0, -1, 1.5])
def test_no_columns_are_refused(columns):
    with pytest.raises(ValueError, match="1 or more"):
        augmented(bouncing_ball(), columns)
