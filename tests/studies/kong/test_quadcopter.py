"""Perching quadcopter (5.4.4): closed forms against the constrained equations, and its events."""

import numpy as np
import pytest

from hybrid.hilqr import Hilqr, Policies
from hybrid.saltations import saltation
from hybrid.simulation import simulate_step
from studies.kong.systems.quadcopter import (
    START,
    perch,
    quadcopter,
    quadcopter_problem,
    quadcopter_seed,
)
from studies.kong.systems.quadcopter_contact import (
    FREE,
    LATCHED,
    LEFT,
    RIGHT,
    RIGHT_RELEASED,
    Body,
)

BODY = Body()
SYSTEM = quadcopter()
MASSES = np.array([BODY.mass, BODY.mass, BODY.inertia])
EDGES = {LEFT: -0.5 * BODY.width, RIGHT: 0.5 * BODY.width}


def transition(source, target):
    return next(e for e in SYSTEM.transitions if (e.source, e.target) == (source, target))


def edge_jacobian(x, arm):
    return np.array([[1.0, 0.0, -arm * np.sin(x[2])], [0.0, 1.0, arm * np.cos(x[2])]])


def frame(x, arm):
    """Position of an edge, and its rows of normal (inward) and anticlockwise tangent (2, 3)."""
    p = x[:2] + arm * np.array([np.cos(x[2]), np.sin(x[2])])
    inward = -p / BODY.radius
    return p, np.array([inward, [inward[1], -inward[0]]]) @ edge_jacobian(x, arm)


def contact(rng, arm, approach=0.0):
    """A state with one edge on the wall and the other inside; the edge moves outward so fast."""
    angle = rng.uniform(-np.pi, np.pi)
    on_wall = BODY.radius * np.array([np.cos(angle), np.sin(angle)])
    theta = angle - np.sign(arm) * rng.uniform(-1.2, 1.2)
    theta += 0.0 if arm > 0.0 else np.pi
    q = np.array([*(on_wall - arm * np.array([np.cos(theta), np.sin(theta)])), theta])
    x = np.concatenate((q, rng.normal(scale=3.0, size=3)))
    _, rows = frame(x, arm)
    x[3:] -= np.linalg.pinv(rows[:1])[:, 0] * (rows[0] @ x[3:] + approach)
    return x


def bias(x, arm):
    """dA/dt qd of the inward normal row, by differences of A along the velocity."""
    h = 1e-6

    def row(s):
        moved = x.copy()
        moved[:3] += s * x[3:]
        return frame(moved, arm)[1][0]

    return (row(h) - row(-h)) @ x[3:] / (2.0 * h)


def energy(x):
    return 0.5 * MASSES @ x[3:] ** 2 + BODY.mass * BODY.gravity * x[1]


def applied(x, u):
    turn = 0.5 * BODY.width * (u[1] - u[0])
    thrust = (u[0] + u[1]) * np.array([-np.sin(x[2]), np.cos(x[2])])
    return np.array([thrust[0], thrust[1] - BODY.mass * BODY.gravity, turn])


def test_gravity_acts_downward_and_thrust_along_the_body():
    """(5.38) prints N = [0, -mg, 0], which with (5.33) would lift."""
    flow = SYSTEM.modes[FREE].flow
    np.testing.assert_allclose(flow(0.0, np.zeros(6), np.zeros(2))[3:], [0.0, -BODY.gravity, 0.0])
    on_its_side = np.array([0.0, 0.0, -0.5 * np.pi, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(
        flow(0.0, on_its_side, np.array([1.0, 3.0]))[3:], [4.0, -BODY.gravity, 0.25]
    )


@pytest.mark.parametrize("mode", [LEFT, RIGHT])
def test_sliding_is_the_solution_of_the_constrained_equations(mode):
    """(5.33) and (5.34) with friction in the tangential row, solved by numpy."""
    rng, arm = np.random.default_rng(mode), EDGES[mode]
    liftoff = next(e for e in SYSTEM.outgoing(mode) if e.name == "liftoff")
    for _ in range(30):
        x, u = contact(rng, arm), rng.normal(scale=10.0, size=2)
        _, (normal, tangent) = frame(x, arm)
        v = tangent @ x[3:]
        push = normal - BODY.friction * v / np.hypot(v, BODY.creep) * tangent
        matrix = np.block([[np.diag(MASSES), -push[:, None]], [normal[None], np.zeros((1, 1))]])
        solved = np.linalg.solve(matrix, [*applied(x, u), -bias(x, arm)])
        found = SYSTEM.modes[mode].flow(0.0, x, u)
        np.testing.assert_allclose(found, [*x[3:], *solved[:3]], rtol=1e-6, atol=1e-6)
        assert liftoff.guard(0.0, x, u) == pytest.approx(solved[3], rel=1e-6, abs=1e-6)
        assert normal @ found[3:] + bias(x, arm) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("mode", [LEFT, RIGHT])
def test_impact_ends_the_normal_velocity_alone_and_energy_does_not_grow(mode):
    rng, arm, hit = np.random.default_rng(mode), EDGES[mode], transition(FREE, mode)
    for _ in range(30):
        x = contact(rng, arm, approach=rng.uniform(0.1, 3.0))
        after = hit.reset(0.0, x, np.zeros(2))
        _, (normal, tangent) = frame(x, arm)
        assert normal @ x[3:] < 0.0
        assert normal @ after[3:] == pytest.approx(0.0, abs=1e-12)
        impulse = MASSES * (after[3:] - x[3:])
        np.testing.assert_allclose(impulse, impulse @ normal / (normal @ normal) * normal)
        assert impulse @ normal > 0.0
        assert energy(after) < energy(x)
        np.testing.assert_allclose(after, hit.reset(0.0, after, np.zeros(2)), atol=1e-12)


SMOOTH = [edge for edge in SYSTEM.transitions if edge.name in ("liftoff", "turn back")]


@pytest.mark.parametrize("edge", SMOOTH, ids=lambda edge: edge.label)
def test_where_the_flow_does_not_jump_saltation_is_the_identity(edge):
    """(3.68), (3.73)."""
    arm = EDGES[LEFT] if edge.source == LEFT else EDGES[RIGHT]
    rng, checked = np.random.default_rng(3), 0
    for _ in range(300):
        x, u = contact(rng, arm, approach=rng.uniform(0.5, 3.0)), rng.normal(scale=10.0, size=2)
        x = onto(edge, x, u)
        if x is None or SYSTEM.guard_rate(edge, 0.0, x, u) > -0.5:
            continue
        found = saltation(SYSTEM, edge, 0.0, x, u)
        assert found.ok
        np.testing.assert_allclose(found.matrix, np.eye(6), atol=1e-9)
        checked += 1
        if checked == 8:
            break
    assert checked == 8


def onto(edge, x, u):
    """Nearest state on the guard, by Newton steps along its gradient; None where there is none."""
    for _ in range(20):
        slope = edge.guard_state(0.0, x, u)
        x = x - slope * edge.guard(0.0, x, u) / (slope @ slope)
    return x if abs(edge.guard(0.0, x, u)) < 1e-11 else None


def test_the_perch_has_both_edges_on_the_wall_and_faces_it():
    target = perch()
    for arm in EDGES.values():
        assert np.linalg.norm(frame(target, arm)[0]) == pytest.approx(BODY.radius)
    assert target[2] == pytest.approx(-7.0 / 12.0 * np.pi)  # as printed in x_des
    np.testing.assert_allclose(
        target[:2], [5.0 * np.cos(-np.pi / 12.0), 5.0 * np.sin(-np.pi / 12.0)], atol=2e-3
    )


def test_the_seed_touches_with_the_right_edge_and_then_with_both():
    model = quadcopter_problem(0.01)
    inputs = quadcopter_seed(model, 200)
    policies = Policies.of(np.zeros((201, 6)), inputs, np.zeros((200, 2, 6)))
    flight = Hilqr(model).start(START, policies)
    assert flight is not None
    events = flight.aux.events
    assert [e.event.transition.target for e in events] == [RIGHT, LATCHED]
    assert [e.event.transition.name for e in events] == ["impact", "latch"]
    knot = events[1].knot
    np.testing.assert_allclose(inputs[: knot + 1].sum(axis=1), 1.5 * 9.8)
    np.testing.assert_allclose(inputs[knot + 1 :].sum(axis=1), 0.1 * 9.8)
    np.testing.assert_array_equal(flight.states[-1], flight.states[knot + 1])


def test_sliding_stays_on_the_wall_and_only_loses_energy_without_thrust():
    rng, none = np.random.default_rng(5), np.zeros(2)
    stayed = 0
    for mode, arm in [*EDGES.items()] * 20:
        x = contact(rng, arm)
        before = energy(x)
        end = simulate_step(SYSTEM, mode, x, 0.05, none)
        if not end.events:
            stayed += 1
            assert np.linalg.norm(frame(end.state, arm)[0]) == pytest.approx(BODY.radius, abs=1e-9)
        assert energy(end.state) <= before + 1e-9
    assert stayed >= 5


def test_a_released_edge_leaves_without_striking_again_and_returns_once():
    """U and V of 3.6.1: thrust away from the wall, and then back to it."""
    x = perch(angle=0.0) + np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0])
    p, _ = frame(x, EDGES[RIGHT])
    x[:2] -= p * (1.0 - BODY.radius / np.linalg.norm(p))
    x = onto(transition(FREE, RIGHT), x, np.zeros(2))
    assert x is not None
    x[3:] = 0.0
    away = simulate_step(SYSTEM, RIGHT, x, 0.1, np.array([-5.0, -5.0]))
    assert [e.transition.name for e in away.events] == ["liftoff"]
    assert away.mode == RIGHT_RELEASED
    back = simulate_step(SYSTEM, away.mode, away.state, 0.4, np.array([9.0, 9.0]), 0.1)
    names = [e.transition.name for e in back.events]
    assert names[:2] == ["turn back", "impact"] and names.count("liftoff") == 0
