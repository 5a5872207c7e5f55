"""Saltation matrices of rigid bodies in closed form: definition, simulation, rank, and slips."""

import numpy as np
import pytest

from hybrid.rigid_body.dynamics import Contact, constraint_rate, mode_dagger, motion
from hybrid.rigid_body.hybrid_system import (
    APPROACHING,
    CONTACTS,
    SEPARATING,
    SLIDING_FORWARD,
    STICKING,
    rigid_body_system,
    transition_between,
)
from studies.kong.saltations.closed_forms import closed_form, sticking_forces_state
from studies.kong.saltations.guard_states import contact_states
from studies.kong.systems.three_link_arm import HANGING, RADIUS, three_link_arm

DEFAULT = {"mu_s": 0.6, "mu_k": 0.4, "impact_friction": 0.4}
SMOOTH = {"mu_s": 0.0, "mu_k": 0.0, "impact_friction": 0.0}


def sample(body, source, target, around, count=5):
    system = rigid_body_system(body)
    transition = transition_between(system, source, target)
    rng = np.random.default_rng(7)
    points = contact_states(body, system, transition, rng, count, around)
    assert len(points) == count
    return system, transition, points


@pytest.mark.parametrize("coefficients", [SMOOTH, DEFAULT])
def test_rank_of_plastic_impact_into_sliding(coefficients):
    """n - 2: after it neither position nor velocity varies along the normal."""
    body = three_link_arm(**coefficients)
    _, transition, points = sample(body, APPROACHING, SLIDING_FORWARD, HANGING)
    for _, x, u in points:
        matrix = closed_form(body, transition, x, u)
        assert np.linalg.matrix_rank(matrix, tol=1e-8) == len(x) - 2
        after = transition.reset(0.0, x, u)
        assert_stays(matrix, body, Contact.FORWARD, after)


def test_rank_of_plastic_impact_into_sticking():
    """n - 3: besides, the tangential velocity does not vary; the tangential position does."""
    body = three_link_arm(**DEFAULT)
    _, transition, points = sample(body, APPROACHING, STICKING, HANGING)
    for _, x, u in points:
        matrix = closed_form(body, transition, x, u)
        assert np.linalg.matrix_rank(matrix, tol=1e-8) == len(x) - 3
        assert_stays(matrix, body, Contact.STICKING, transition.reset(0.0, x, u))


def assert_stays(matrix, body, contact, after):
    """Variations after the event keep g_n = 0 and J qd = 0, to first order."""
    q, qd = body.split(after)
    normals = [np.concatenate((body.normal(q), np.zeros(body.dof)))]
    rows = [body.normal] if contact.direction else [body.normal, body.tangent]
    for row in rows:
        h = 1e-20
        turning = [np.imag(row(q + 1j * h * e) @ qd) / h for e in np.eye(body.dof)]
        normals.append(np.concatenate((turning, row(q))))
    scale = 1.0 + np.max(np.abs(matrix))
    np.testing.assert_allclose(np.array(normals) @ matrix / scale, 0.0, atol=1e-11)


def test_identity_where_neither_state_nor_flow_jumps():
    """(3.12) and (3.91): apex, liftoff, and slipping with equal coefficients."""
    equal = DEFAULT | {"mu_k": 0.6}
    for source, target, coefficients in (
        (SEPARATING, APPROACHING, DEFAULT),
        (STICKING, SEPARATING, DEFAULT),
        (SLIDING_FORWARD, SEPARATING, DEFAULT),
        (STICKING, SLIDING_FORWARD, equal),
    ):
        body = three_link_arm(**coefficients)
        _, _, points = sample(body, source, target, HANGING)
        for _, x, u in points:
            q, qd = body.split(x)
            before = motion(body, CONTACTS[source], q, qd, u).acceleration
            after = motion(body, CONTACTS[target], q, qd, u).acceleration
            np.testing.assert_allclose(after, before, atol=1e-8 * (1.0 + np.max(np.abs(after))))


def test_friction_changes_leave_positions_alone():
    """Stick-slip and slip-stick change no position variation, and slip-stick stops v_t's."""
    body = three_link_arm(**DEFAULT)
    for source, target in ((STICKING, SLIDING_FORWARD), (SLIDING_FORWARD, STICKING)):
        _, transition, points = sample(body, source, target, HANGING)
        for _, x, u in points:
            matrix = closed_form(body, transition, x, u)
            np.testing.assert_array_equal(matrix[:3], np.eye(3, 6))
            assert np.max(np.abs(matrix[3:] - np.eye(3, 6, 3))) > 1e-3
            if target == STICKING:
                np.testing.assert_allclose(
                    transition.guard_state(0.0, x, u) @ matrix, 0.0, atol=1e-9
                )


def test_forces_derivative_is_that_of_the_motion():
    body = three_link_arm(**DEFAULT)
    _, _, points = sample(body, STICKING, SLIDING_FORWARD, HANGING)
    for _, x, u in points:
        found = sticking_forces_state(body, x, u)
        h = 1e-30
        for i, e in enumerate(np.eye(6)):
            bumped = x + 1j * h * e
            forces = motion(body, Contact.STICKING, *body.split(bumped), u).forces
            scale = 1.0 + np.max(np.abs(found))
            np.testing.assert_allclose(found[:, i] / scale, np.imag(forces) / h / scale, atol=1e-10)


def printed_sticking_factor(body, x, fixed):
    """Jump of velocities of (3.84) with J for dJ/dt and without N, or with both put right."""
    q, qd = body.split(x)
    D = mode_dagger(body, Contact.STICKING, q, 0.0)
    after = D.M @ body.mass(q) @ qd
    force = body.coriolis(q, qd) @ qd - body.coriolis(q, after) @ after
    J = np.stack((body.tangent(q), body.normal(q)))
    if fixed:
        force = force + body.other_forces(q, qd) - body.other_forces(q, after)
        J = constraint_rate(body, Contact.STICKING, q, after)
    return D.M @ force - D.J_T @ (J @ after)


def test_what_is_wrong_in_the_printed_sticking_impact():
    """(3.84), times qd- where its factor J_n / (J_n qd-) is 1: right with dJ/dt and N only."""
    body = three_link_arm(**DEFAULT)
    _, transition, points = sample(body, APPROACHING, STICKING, HANGING)
    for _, x, u in points:
        q, qd = body.split(x)
        lower = closed_form(body, transition, x, u)[3:, :3] @ qd  # Z_C qd + D_q(.) qd
        right, printed = (printed_sticking_factor(body, x, fixed) for fixed in (True, False))
        np.testing.assert_allclose(lower, right, atol=1e-9 * (1.0 + np.max(np.abs(right))))
        assert np.max(np.abs(lower - printed)) > 1e-3


def test_the_printed_tangent_derivative_holds_at_the_event_only():
    """(3.96) has dJ_t/dt for D_q(J_t qd): off by (v_t J_n - v_n J_t) / radius over a stone."""
    body = three_link_arm(**DEFAULT)
    _, transition, points = sample(body, SLIDING_FORWARD, STICKING, HANGING)
    for _, x, u in points:
        for velocity in (x[3:], x[3:] + 1.0):
            q, state = x[:3], np.concatenate((x[:3], velocity))
            right = transition.guard_state(0.0, state, u)[:3]
            slip = body.tangent(q) @ velocity * body.normal(q)
            rise = body.normal(q) @ velocity * body.tangent(q)
            printed = body.tangent_rate(q, velocity)
            np.testing.assert_allclose(right - printed, (slip - rise) / RADIUS, atol=1e-9)
        assert np.max(np.abs(right - printed)) > 1e-2  # where it still slides
