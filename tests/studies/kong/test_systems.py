"""Systems of the thesis: closed forms, energy, constrained equations, and printed numbers."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from saltation.derivatives import jacobian
from saltation.examples import hopper as hop
from saltation.limit_cycle import find_limit_cycle
from saltation.return_map import EventSection, PhaseSection, ReturnMap
from saltation.rigid_body.hybrid_system import (
    APPROACHING,
    SLIDING_FORWARD,
    STICKING,
    rigid_body_system,
    transition_between,
)
from saltation.saltations import saltation
from saltation.simulation import simulate_step
from studies.kong import curved_surface as tube
from studies.kong import saltation_pictures as pictures
from studies.kong import spring_damper as spring
from studies.kong.systems import aslip as leg
from studies.kong.systems import quadcopter as quad
from studies.kong.systems import slope_ball as slope
from studies.kong.systems import vibrating_table as table
from studies.kong.systems.rimless_wheel import GRAVITY, LENGTH, ROLLING, rimless_wheel

NONE, ONE, TWO = np.zeros(0), np.zeros(1), np.zeros(2)


def names(step):
    return [event.transition.name for event in step.events]


def leg_energy(mode, x):
    """Kinetic, gravity and both springs, from the body's motion and the leg's shape."""
    body = x if mode == leg.FLIGHT else leg.to_body(0.0, x, NONE)
    shape = leg.to_leg(0.0, x, NONE) if mode == leg.FLIGHT else x
    springs = leg.LEG_STIFFNESS * (shape[2] - leg.LEG_REST) ** 2
    springs = springs + leg.HIP_STIFFNESS * (shape[1] - leg.HIP_REST) ** 2
    return 0.5 * (body[5] ** 2 + body[6] ** 2 + body[7] ** 2 + springs) + leg.GRAVITY * body[1]


def random_stance(rng):
    shape = [rng.uniform(0.6, 2.4), leg.HIP_REST + rng.normal(0.0, 0.3), rng.uniform(0.6, 0.99)]
    return np.array([*shape, *rng.standard_normal(5)])


def test_aslip_rests_as_printed_its_maps_undo_each_other_and_rates_are_their_derivatives():
    assert_allclose(leg.at_rest(leg.START)[3:5], [0.0011, 0.3256], atol=5e-5)
    to_body, rng = leg.to_body, np.random.default_rng(0)
    for _ in range(10):
        x = random_stance(rng)
        body = to_body(0.0, x, NONE)
        assert_allclose(leg.to_leg(0.0, body, NONE), x, atol=1e-12)
        slope_of = jacobian(lambda y: to_body(0.0, y, NONE), x)
        assert_allclose(slope_of[:3, :3] @ x[5:], body[5:], atol=1e-12)


def test_aslip_keeps_its_energy_and_obeys_lagrange():
    """d/dt dL/d(rate) = dL/dq_l, with L = 2 kinetic - energy; two jumps in 1.25 s (4.7.2)."""
    rng, system = np.random.default_rng(2), leg.aslip()
    flow = system.modes[leg.STANCE].flow

    def lagrangian(x):
        body = leg.to_body(0.0, x, NONE)
        kinetic = body[5] ** 2 + body[6] ** 2 + body[7] ** 2
        return kinetic - leg_energy(leg.STANCE, x)

    for _ in range(5):
        x, h = random_stance(rng), 1e-5
        ahead, behind = (jacobian(lagrangian, x + s * h * flow(0.0, x, NONE)) for s in (1, -1))
        force = jacobian(lagrangian, x)[:3]
        assert_allclose((ahead - behind)[5:] / (2 * h), force, rtol=1e-6, atol=1e-5)
    start = leg.at_rest(leg.START)
    step = simulate_step(system, leg.FLIGHT, start, 1.25, NONE)
    assert names(step) == ["touchdown", "liftoff"] * 2
    for event in step.events:
        after = leg_energy(event.transition.target, event.state_after)
        assert after == approx(leg_energy(leg.FLIGHT, start), abs=1e-8)


def test_the_spring_damper_pushes_up_takes_energy_and_jumps_at_touchdown_alone():
    def energy(x):
        return 0.5 * x[1] ** 2 + 9.8 * x[0] + 0.5 * spring.STIFFNESS * min(x[0], 0.0) ** 2

    system = spring.spring_damper_ball()
    step = simulate_step(system, spring.AERIAL, np.array(spring.START), 1.0, ONE)
    assert names(step) == ["touchdown", "turn", "release"]
    before, pressed, after = (energy(event.state_before) for event in step.events)
    assert before == approx(energy(spring.START)) and pressed < 0.9 * before
    assert after == approx(pressed)
    fall = (-2.0 + np.sqrt(4.0 + 6.0 * 9.8)) / 9.8
    assert step.events[0].time == approx(fall, abs=1e-10)
    for event in step.events:
        found = saltation(system, event.transition, event.time, event.state_before, ONE).matrix
        jump = -spring.DAMPING if event.transition.name == "touchdown" else 0.0
        assert_allclose(found, [[1.0, 0.0], [jump, 1.0]], atol=1e-12)


def on_circle(rng):
    """A state of the ball on the tube with a speed along it."""
    angle = rng.uniform(0.0, 2.0 * np.pi)
    c, s = np.cos(angle), np.sin(angle)
    return np.concatenate(
        (tube.RADIUS * np.array([c, s]), rng.normal(scale=3.0) * np.array([-s, c]))
    )


def test_the_tube_solves_the_constrained_equations_and_impacts_are_plastic():
    """(3.60), (3.65) with J = D_q a; their multiplier is the negative of ours."""
    system, rng = tube.tube_ball(), np.random.default_rng(0)
    impact, liftoff, _ = system.transitions
    for _ in range(20):
        x, u = on_circle(rng), rng.normal(scale=10.0, size=2)
        J = -2.0 * x[None, :2]  # noqa: N806
        matrix = np.block([[np.eye(2), J.T], [J, np.zeros((1, 1))]])
        solved = np.linalg.solve(matrix, [*(u - [0.0, 9.8]), 2.0 * x[2:] @ x[2:]])
        flow = system.modes[tube.CONSTRAINED].flow(0.0, x, u)
        assert_allclose(flow[2:], solved[:2])
        assert liftoff.guard(0.0, x, u) == approx(-solved[2])
        x[2:] += rng.uniform(0.5, 5.0) * x[:2]
        after = impact.reset(0.0, x, TWO)
        assert_allclose(after[2:], np.linalg.solve(matrix, [*x[2:], 0.0])[:2])
        found = saltation(system, impact, 0.0, x, u)
        assert found.ok and np.linalg.matrix_rank(found.matrix, tol=1e-9) == 2  # 3.5.3


MASSES = np.array([quad.MASS, quad.MASS, quad.INERTIA])
EDGES = {quad.LEFT: -quad.ARM, quad.RIGHT: quad.ARM}


def frame(x, arm):
    """Position of an edge, and its rows of normal (inward) and anticlockwise tangent (2, 3)."""
    p = x[:2] + arm * np.array([np.cos(x[2]), np.sin(x[2])])
    inward = -p / quad.RADIUS
    edge = np.array([[1.0, 0.0, -arm * np.sin(x[2])], [0.0, 1.0, arm * np.cos(x[2])]])
    return p, np.array([inward, [inward[1], -inward[0]]]) @ edge


def edge_on_wall(rng, arm):
    """A state with one edge on the wall and the other inside, moving anyhow."""
    angle = rng.uniform(-np.pi, np.pi)
    lean = angle + rng.uniform(-1.2, 1.2) + (0.0 if arm > 0.0 else np.pi)
    middle = quad.RADIUS * np.array([np.cos(angle), np.sin(angle)])
    middle -= arm * np.array([np.cos(lean), np.sin(lean)])
    return np.array([*middle, lean, *rng.normal(scale=3.0, size=3)])


def contact(rng, arm, approach=0.0):
    """The same; the edge moves outward so fast."""
    x = edge_on_wall(rng, arm)
    normal = frame(x, arm)[1][:1]
    x[3:] -= np.linalg.pinv(normal)[:, 0] * (normal[0] @ x[3:] + approach)
    return x


@pytest.mark.parametrize("mode", EDGES)
def test_the_quadcopter_slides_by_the_constrained_equations_and_impacts_lose_energy(mode):
    """(5.33) and (5.34) with friction in the tangential row, solved by numpy."""
    system, rng, arm, h = quad.quadcopter(), np.random.default_rng(mode), EDGES[mode], 1e-6
    assert np.linalg.norm(frame(quad.PERCH, arm)[0]) == approx(quad.RADIUS)
    assert quad.PERCH[2] == approx(-7.0 / 12.0 * np.pi)  # as printed in x_des
    liftoff = next(e for e in system.outgoing(mode) if e.name == "liftoff")
    hit = next(e for e in system.transitions if (e.source, e.target) == (quad.FREE, mode))
    for _ in range(20):
        x, u = contact(rng, arm), rng.normal(scale=10.0, size=2)
        normal, tangent = frame(x, arm)[1]
        moved = (frame(np.array([*(x[:3] + s * x[3:]), *x[3:]]), arm)[1][0] for s in (h, -h))
        bias = np.subtract(*moved) @ x[3:] / (2.0 * h)  # dA/dt qd
        v = tangent @ x[3:]
        push = normal - quad.FRICTION * v / np.hypot(v, quad.CREEP) * tangent
        matrix = np.block([[np.diag(MASSES), -push[:, None]], [normal[None], np.zeros((1, 1))]])
        thrust = (u[0] + u[1]) * np.array([-np.sin(x[2]), np.cos(x[2])])
        right = [thrust[0], thrust[1] - quad.GRAVITY, quad.ARM * (u[1] - u[0]), -bias]
        solved = np.linalg.solve(matrix, right)
        found = system.modes[mode].flow(0.0, x, u)
        assert_allclose(found, [*x[3:], *solved[:3]], rtol=1e-6, atol=1e-6)
        assert liftoff.guard(0.0, x, u) == approx(solved[3], rel=1e-6, abs=1e-6)
        x = contact(rng, arm, approach=rng.uniform(0.1, 3.0))
        after, normal = hit.reset(0.0, x, TWO), frame(x, arm)[1][0]
        impulse = MASSES * (after[3:] - x[3:])
        assert normal @ after[3:] == approx(0.0, abs=1e-12) and impulse @ normal > 0.0
        assert_allclose(impulse, impulse @ normal / (normal @ normal) * normal)
        assert MASSES @ after[3:] ** 2 < MASSES @ x[3:] ** 2


@pytest.mark.parametrize("theta", [-0.9, 0.2, slope.SLOPE])
def test_the_slopes_impacts_are_those_of_the_thesis(theta):
    """(3.50), (3.51), (3.56) of sliding; (3.54), (3.55), (3.57) of sticking."""
    rng, (c, s) = np.random.default_rng(1), (np.cos(theta), np.sin(theta))
    qd = rng.normal() * np.array([-c, s]) - 1.3 * np.array([s, c])
    x, u = np.concatenate((rng.normal() * np.array([-c, s]), qd)), rng.normal(size=2)
    sliding = np.kron(np.eye(2), [[c * c, -c * s], [-c * s, s * s]])
    sticking = np.zeros((4, 4))
    sticking[:2, :2] = [[qd[1] * c, -qd[0] * c], [-qd[1] * s, qd[0] * s]]
    sticking /= qd[1] * c + qd[0] * s
    for friction, target, wanted in ((0.0, SLIDING_FORWARD, sliding), (1e9, STICKING, sticking)):
        system = rigid_body_system(slope.slope_ball_body(theta, impact_friction=friction))
        impact = transition_between(system, APPROACHING, target)
        found = saltation(system, impact, 0.0, x, u).matrix
        assert_allclose(found, wanted, atol=1e-12)
        assert_allclose(sticking[:2, :2] @ qd, 0.0, atol=1e-12)
        drop = (pictures.SLIDE if wanted is sliding else pictures.STICK).system
        if theta == slope.SLOPE:
            found = saltation(drop, drop.transitions[0], 0.0, x, NONE).matrix
            assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("half_angle, slope", [(math.pi / 8, 0.08), (0.2, 0.05), (0.3, 0.35)])
def test_the_wheels_cycle_is_its_closed_form(half_angle, slope):
    """The cycle from energy, its multiplier cos(2 alpha)^2; also where it never climbs."""
    wheel = ReturnMap(rimless_wheel(half_angle, slope), EventSection("forward"), ROLLING)
    cycle = find_limit_cycle(wheel, np.array([slope - half_angle, 2.0]))
    assert cycle.ok and cycle.stable
    rate = math.sqrt(4.0 * GRAVITY / LENGTH * math.sin(half_angle) * math.sin(slope))
    rate /= math.tan(2.0 * half_angle)
    assert_allclose(cycle.state, [slope - half_angle, rate], atol=1e-9)
    assert_allclose(cycle.multipliers, [1.0, math.cos(2 * half_angle) ** 2], atol=1e-8)


@pytest.mark.parametrize("damping, push", [(5.0, 20.0), (6.0, 30.0)])
def test_the_hoppers_multiplier_is_its_loss_of_area(damping, push):
    """det Phi: the damper contracts in stance, exp(-c T / m), and the bottom's Xi stretches."""
    hopper = ReturnMap(hop.hopper(damping=damping, push=push), EventSection("liftoff"), hop.FLIGHT)
    cycle = find_limit_cycle(hopper, np.array([0.8, 0.0]))
    times = {event.transition.name: event.time for event in cycle.events}
    bottom = {e.transition.name: e.state_before for e in cycle.events}["bottom"]
    upward = hop.STIFFNESS * (hop.LENGTH - bottom[0]) / hop.MASS - hop.GRAVITY
    stance = times["liftoff"] - times["touchdown"]
    expected = math.exp(-damping * stance / hop.MASS) * (1.0 + push / (hop.MASS * upward))
    assert_allclose(cycle.multipliers, [1.0, expected], atol=1e-7)


@pytest.mark.parametrize("restitution", [0.3, 0.9])
@pytest.mark.parametrize("stable_phase", [True, False])
def test_the_tables_cycle_is_its_closed_form(restitution, stable_phase):
    e, omega = restitution, table.OMEGA
    amplitude = 1.3 * math.pi * table.GRAVITY * (1 - e) / ((1 + e) * omega**2)
    bounce = table.periodic_bounce(amplitude, omega, e, stable_phase=stable_phase)
    start, x = table.in_flight(bounce, 0.25)
    system = table.vibrating_table(amplitude, omega, e)
    section = PhaseSection(start, bounce.period)
    cycle = find_limit_cycle(ReturnMap(system, section, table.RISING), x + [1e-3, -0.02])
    assert_allclose(cycle.state, x, atol=1e-10)
    got, expected = np.sort_complex(cycle.multipliers), np.sort_complex(bounce.multipliers)
    assert_allclose(got, expected, atol=1e-8)
    assert np.prod(got).real == approx(e**2, abs=1e-9)
    assert stable_phase or not cycle.stable
