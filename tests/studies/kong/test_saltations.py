"""Saltation matrices of every system against simulated neighbours; rigid bodies in closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from saltation.compiled.system import native_tables
from saltation.examples.bouncing_ball import FALLING, bouncing_ball
from saltation.examples.hopper import hopper
from saltation.rigid_body.dynamics import motion
from saltation.rigid_body.hybrid_system import (
    APPROACHING,
    CONTACTS,
    SEPARATING,
    SLIDING_FORWARD,
    STICKING,
    rigid_body_system,
    transition_between,
)
from saltation.saltations import saltation
from saltation.simulation import simulate
from saltation.systems import Transition
from studies.kong import saltation_pictures as pictures
from studies.kong.closed_forms import closed_form
from studies.kong.curved_surface import CONSTRAINED, LEAVING, tube_ball
from studies.kong.curved_surface import RADIUS as TUBE
from studies.kong.hybrid_ddp import second_order_saltation
from studies.kong.saltation_rigid_body import CASES, REQUIRED, run
from studies.kong.saltations import (
    GuardState,
    contact_states,
    finite_difference_saltation,
    random_guard_states,
    relative_error,
    through_event,
)
from studies.kong.spring_damper import spring_damper_ball
from studies.kong.systems import quadcopter as quad
from studies.kong.systems.aslip import FLIGHT, HIP_REST, aslip, at_rest
from studies.kong.systems.constant_flow import constant_flow
from studies.kong.systems.pendulum import pendulum
from studies.kong.systems.rimless_wheel import rimless_wheel
from studies.kong.systems.three_link_arm import HANGING, three_link_arm
from studies.kong.systems.vibrating_table import vibrating_table
from studies.kong.variational import driven_hopper
from studies.study import StudyOptions
from tests.studies.kong.test_systems import edge_on_wall

STATES = 20  # per transition


def anywhere(scale=2.0, time=0.0):
    """States in a cube about zero, with inputs, at a random time within ``time`` [s]."""

    def draw(rng, edge, dims):
        x, u = scale * rng.normal(size=dims[0]), 5.0 * rng.normal(size=dims[1])
        return GuardState(time * rng.uniform(), x, u)

    return draw


def leg(rng, edge, dims):
    """ASLIP at touchdown with its springs at rest, or at liftoff with its toe on the ground."""
    if edge.source == FLIGHT:
        x = at_rest(np.array([*rng.normal(size=2), rng.uniform(0.4, 2.2), *rng.normal(size=3)]))
        x[[1, 4]] -= x[4]
        return GuardState(0.0, x, np.zeros(0))
    shape = [rng.uniform(0.6, 2.4), HIP_REST + 0.2 * rng.normal(), 1.0, rng.normal(), 0.0]
    return GuardState(0.0, np.array([*shape, *rng.normal(size=3)]), np.zeros(0))


def in_tube(rng, edge, dims):
    """A ball that slides on the tube, has left it and is inside, or flies anywhere."""
    angle, u = rng.uniform(0.0, 2.0 * np.pi), 10.0 * rng.normal(size=2)
    out, velocity = np.array([np.cos(angle), np.sin(angle)]), 3.0 * rng.normal(size=2)
    if edge.source == CONSTRAINED:
        velocity -= (velocity @ out) * out
    distance = TUBE * (rng.uniform(0.8, 1.0) if edge.source == LEAVING else 1.0)
    return GuardState(0.0, np.concatenate((distance * out, velocity)), u)


def arm_of(edge):
    right = {edge.source, edge.target} & {quad.RIGHT, quad.RIGHT_RELEASED}
    return quad.ARM if right else -quad.ARM


def on_wall(rng, edge, dims):
    """A quadcopter with the edge that slides, is released, or strikes on the wall."""
    return GuardState(0.0, edge_on_wall(rng, arm_of(edge)), 10.0 * rng.normal(size=2))


def contact_of(name, edge):
    """What vanishes at a transition besides its guard."""
    if name == "tube_ball" and edge.source == CONSTRAINED:
        return {"constraints": lambda t, x, u: np.array([x[:2] @ x[:2] - TUBE**2, x[:2] @ x[2:]])}
    if name == "quadcopter" and edge.source in (quad.LEFT, quad.RIGHT):

        def sliding(t, x, u):
            py, pz, vy, vz = quad.edge_motion.py_func(x, arm_of(edge))
            return np.array([py * py + pz * pz - quad.RADIUS**2, py * vy + pz * vz])

        return {"constraints": sliding}
    return {}


SYSTEMS = {
    "constant_flow": (constant_flow(), anywhere()),
    "bouncing_ball": (bouncing_ball(), anywhere()),
    "pendulum": (pendulum(), anywhere()),
    "aslip": (aslip(), leg),
    "spring_damper_ball": (spring_damper_ball(), anywhere()),
    "tube_ball": (tube_ball(), in_tube),
    "quadcopter": (quad.quadcopter(), on_wall),
    "rimless_wheel": (rimless_wheel(), anywhere()),
    "hopper": (hopper(), anywhere()),
    "driven_hopper": (driven_hopper(), anywhere()),
    "vibrating_table": (vibrating_table(), anywhere(0.5, time=2.0)),
}


def saltation_errors(system, edge, points):
    """Relative error of (3.2) against differences of the simulated flow."""
    return [
        relative_error(saltation(system, edge, *at).matrix,
                       finite_difference_saltation(system, edge, *at))
        for at in points
    ]  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_transition_of_every_system(name):
    system, draw = SYSTEMS[name]
    assert native_tables(system).system is not None  # it compiles
    for i, edge in enumerate(system.transitions):
        mode, rng = system.modes[edge.source], np.random.default_rng(i)
        dims = mode.state_dim, mode.input_dim
        points = random_guard_states(
            system, edge, lambda: draw(rng, edge, dims), STATES, minimum_rate=0.1,  # noqa: B023
            **contact_of(name, edge),
        )  # fmt: skip
        assert len(points) == STATES
        assert np.max(saltation_errors(system, edge, points)) < REQUIRED


def test_a_wrong_derivative_is_noticed():
    system = bouncing_ball()
    right = system.outgoing(FALLING)[0]
    wrong = Transition(
        right.source, right.target, right.guard, right.reset, guard_state=right.guard_state,
        reset_state=lambda t, x, u: np.diag([1.0, -0.5]),
    )  # fmt: skip
    point = GuardState(0.0, np.array([0.0, -2.0]), np.array([1.0]))
    assert saltation_errors(system, right, [point])[0] < 1e-10
    assert saltation_errors(system, wrong, [point])[0] > 1e-2


def test_the_study_agrees_on_every_transition():
    """Few states: both errors far below what is required, and the seed chooses the states."""
    rows = run(StudyOptions(trials=2, seed=5)).rows
    assert [row["transition"] for row in rows] == list(CASES)
    for row in rows:
        assert row["states"] == 2 * len(row["bodies"])
        assert row["max_error_definition"] < 1e-10
        assert row["max_error_finite_difference"] < REQUIRED / 10.0


def sample(body, source, target, count=5):
    system = rigid_body_system(body)
    transition = transition_between(system, source, target)
    rng = np.random.default_rng(7)
    return transition, contact_states(body, system, transition, rng, count, HANGING)


@pytest.mark.parametrize("target, lost", [(SLIDING_FORWARD, 2), (STICKING, 3)])
def test_ranks_of_plastic_impacts(target, lost):
    """After sliding neither position nor velocity varies along the normal; stuck, nor v_t."""
    body = three_link_arm()
    transition, points = sample(body, APPROACHING, target)
    for _, x, u in points:
        matrix = closed_form(body, transition, x, u)
        assert np.linalg.matrix_rank(matrix, tol=1e-8) == len(x) - lost
        q, _ = body.split(transition.reset(0.0, x, u))
        normal = np.concatenate((body.normal(q), np.zeros(body.dof)))
        assert_allclose(normal @ matrix, 0.0, atol=1e-9 * (1 + np.max(abs(matrix))))


@pytest.mark.parametrize(
    "source, target, mu_k",
    [(SEPARATING, APPROACHING, 0.4), (STICKING, SEPARATING, 0.4), (STICKING, SLIDING_FORWARD, 0.6)],
)
def test_nothing_jumps_at_apex_liftoff_and_slips_with_equal_coefficients(source, target, mu_k):
    """(3.12) and (3.91)."""
    body = three_link_arm(0.6, mu_k)
    for _, x, u in sample(body, source, target)[1]:
        modes = CONTACTS[source], CONTACTS[target]
        before, after = (motion(body, mode, *body.split(x), u).acceleration for mode in modes)
        assert_allclose(after, before, atol=1e-8 * (1.0 + np.max(np.abs(after))))


@pytest.mark.parametrize("case", [pictures.FLOW, pictures.STICK], ids=lambda case: case.name)
def test_xi_predicts_neighbours_to_second_order_and_a_regression_finds_it(case):
    whole, half = pictures.neighbour_errors(case, False)
    assert whole < pictures.EXACT or whole / half == pytest.approx(2.0, rel=0.1)
    assert np.divide(*pictures.neighbour_errors(case, True)) == pytest.approx(1.0, rel=0.05)
    errors = pictures.regression_errors(case, 20, np.random.default_rng(1))
    assert_allclose(errors[1:] / errors[:-1], 0.5, rtol=0.3)  # four times the samples


def test_the_second_order_xi_leaves_an_error_of_third_order():
    ball, after = bouncing_ball(), np.array([-3.0])
    event = simulate(ball, FALLING, np.array([1.0, -1.0]), 0.5, np.array([2.0])).events[0]
    at = event.transition, event.time, event.state_before, event.input
    matrix, rate = saltation(ball, *at, after).matrix, ball.guard_rate(*at)
    curved, errors = second_order_saltation(ball, event, after), []
    for size in (0.1, 0.05):
        d = size * np.array([0.6, -0.8])
        moved = through_event(ball, *at[:2], at[2] + d, at[3], rate, after)
        errors.append(np.abs(moved - event.state_after - matrix @ d - 0.5 * curved @ d @ d).max())
    assert errors[0] / errors[1] == pytest.approx(8.0, rel=0.15)
