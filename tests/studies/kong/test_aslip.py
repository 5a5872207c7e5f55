"""ASLIP against its Lagrangian, its energy, and the numbers that the thesis prints."""

import numpy as np
import pytest

from hybrid.derivatives import jacobian
from hybrid.simulation import simulate_step
from hybrid.variational import fundamental_matrix
from studies.kong.systems.aslip import FLIGHT, STANCE, AslipParameters, aslip, at_rest

NOTHING = np.zeros(0)
START = np.array([0.0, 1.8, 5 * np.pi / 12, 0.0, -1.0, 0.0])  # q_b and its rate
HEAVY = AslipParameters(1.7, 0.4, 300.0, 50.0, 0.35, 9.0, 0.8, -0.2)
BOTH = pytest.mark.parametrize("p", [AslipParameters(), HEAVY])


def maps(p):
    touchdown, liftoff = aslip(p).transitions
    return (
        lambda x: touchdown.reset(0.0, x, NOTHING),
        lambda x: liftoff.reset(0.0, x, NOTHING),
    )


def random_stance(rng, p):
    q_l = [rng.uniform(0.6, 2.4), p.hip_rest + rng.normal(0.0, 0.3), rng.uniform(0.6, 0.99)]
    return np.array([*q_l, *rng.standard_normal(2), *rng.standard_normal(3)])


def energy(mode, x, p):
    """Kinetic, gravity and both springs, from the body's motion and the leg's shape."""
    to_leg, to_body = maps(p)
    body, leg = (x, to_leg(x)) if mode == FLIGHT else (to_body(x), x)
    kinetic = p.mass * (body[5] ** 2 + body[6] ** 2) + p.inertia * body[7] ** 2
    springs = p.leg_stiffness * (leg[2] - p.leg_rest) ** 2
    springs = springs + p.hip_stiffness * (leg[1] - p.hip_rest) ** 2
    return 0.5 * (kinetic + springs) + p.mass * p.gravity * body[1]


def test_a_leg_at_rest_has_the_toe_that_is_printed():
    np.testing.assert_allclose(at_rest(START)[3:5], [0.0011, 0.3256], atol=5e-5)


@BOTH
def test_rest_means_both_springs_at_rest(p):
    leg = maps(p)[0](at_rest(START, p))
    assert leg[2] == pytest.approx(p.leg_rest) and leg[1] == pytest.approx(p.hip_rest)


@BOTH
def test_the_coordinate_maps_undo_each_other(p):
    rng, (to_leg, to_body) = np.random.default_rng(0), maps(p)
    for _ in range(20):
        x = random_stance(rng, p)
        np.testing.assert_allclose(to_leg(to_body(x)), x, atol=1e-12)


@BOTH
def test_rates_are_the_derivative_of_the_coordinate_map_along_the_motion(p):
    """The last three of (4.28) and (4.27), toe held."""
    rng, (to_leg, to_body) = np.random.default_rng(1), maps(p)
    for _ in range(10):
        x = random_stance(rng, p)
        body = to_body(x)
        np.testing.assert_allclose(jacobian(to_body, x)[:3, :3] @ x[5:], body[5:], atol=1e-12)
        np.testing.assert_allclose(jacobian(to_leg, body)[:3, :3] @ body[5:], x[5:], atol=1e-11)


@BOTH
def test_stance_obeys_the_euler_lagrange_equations(p):
    """d/dt dL/d(rate) = dL/dq_l, with L from the body's motion alone."""
    rng, (_, to_body) = np.random.default_rng(2), maps(p)
    flow = aslip(p).modes[STANCE].flow

    def lagrangian(x):
        body = to_body(x)
        kinetic = p.mass * (body[5] ** 2 + body[6] ** 2) + p.inertia * body[7] ** 2
        springs = p.leg_stiffness * (x[2] - p.leg_rest) ** 2
        springs = springs + p.hip_stiffness * (x[1] - p.hip_rest) ** 2
        return 0.5 * (kinetic - springs) - p.mass * p.gravity * body[1]

    for _ in range(10):
        x = random_stance(rng, p)
        h = 1e-5
        ahead, behind = (jacobian(lagrangian, x + s * h * flow(0.0, x, NOTHING)) for s in (1, -1))
        momentum_rate = (ahead - behind)[5:] / (2.0 * h)
        force = jacobian(lagrangian, x)[:3]
        np.testing.assert_allclose(momentum_rate, force, rtol=1e-6, atol=1e-5)


@BOTH
@pytest.mark.parametrize("mode", [FLIGHT, STANCE])
def test_energy_is_kept_in_either_mode(p, mode):
    rng, system = np.random.default_rng(3), aslip(p)
    for _ in range(10):
        x = random_stance(rng, p)
        x = maps(p)[1](x) if mode == FLIGHT else x
        slope = jacobian(lambda y: np.array([energy(mode, y, p)]), x)[0]
        assert abs(slope @ system.modes[mode].flow(0.0, x, NOTHING)) < 1e-8 * np.max(abs(slope))


def test_energy_is_kept_through_two_jumps_of_a_simulation():
    """Two touchdowns and two liftoffs in 1.25 s, as section 4.7.2 reports."""
    start = at_rest(START)
    step = simulate_step(aslip(), FLIGHT, start, 1.25, NOTHING)
    assert [event.transition.name for event in step.events] == ["touchdown", "liftoff"] * 2
    p = AslipParameters()
    for event in step.events:
        before = energy(event.transition.source, event.state_before, p)
        after = energy(event.transition.target, event.state_after, p)
        assert before == pytest.approx(energy(FLIGHT, start, p), abs=1e-8)
        assert after == pytest.approx(before, abs=1e-10)


def test_the_toe_stays_put_in_stance_and_on_the_body_in_flight():
    step = simulate_step(aslip(), FLIGHT, at_rest(START), 1.25, NOTHING)
    touchdown, liftoff, again = step.events[:3]
    assert abs(touchdown.state_before[4]) < 1e-12
    assert touchdown.state_after[7] < 0.0  # the leg is being compressed
    np.testing.assert_array_equal(liftoff.state_before[3:5], touchdown.state_after[3:5])
    leg = maps(AslipParameters())[0]
    left, back = liftoff.state_before, leg(again.state_before)
    np.testing.assert_allclose(back[1:3], left[1:3], atol=1e-9)  # hip angle and leg length
    assert abs(left[1] - AslipParameters().hip_rest) > 1e-2


def test_guards_are_positive_inside_their_domains():
    touchdown, liftoff = aslip().transitions
    assert touchdown.guard(0.0, at_rest(START), NOTHING) > 0.0
    compressed = random_stance(np.random.default_rng(4), AslipParameters())
    assert liftoff.guard(0.0, compressed, NOTHING) > 0.0


def test_forces_begin_at_zero_so_the_body_does_not_feel_the_touchdown():
    step = simulate_step(aslip(), FLIGHT, at_rest(START), 0.2, NOTHING)
    after = step.events[0].state_after
    rate = jacobian(maps(AslipParameters())[1], after) @ aslip().modes[STANCE].flow(
        0.0, after, NOTHING
    )
    np.testing.assert_allclose(rate[5:], [0.0, -9.8, 0.0], atol=1e-8)


def test_the_fundamental_matrix_is_the_derivative_through_touchdown_and_liftoff():
    """Along changes that keep the leg at rest: with a longer one, stance would end as it begins."""
    system = aslip()
    found = fundamental_matrix(system, FLIGHT, at_rest(START), 0.4)
    assert found.ok and len(found.events) == 2

    def end(body):
        return simulate_step(system, FLIGHT, at_rest(body), 0.4, NOTHING).state

    h = 1e-6
    columns = [(end(START + h * e) - end(START - h * e)) / (2.0 * h) for e in np.eye(6)]
    difference, expected = np.array(columns).T, found.Phi @ jacobian(at_rest, START)
    np.testing.assert_allclose(expected, difference, atol=1e-5 * np.max(abs(difference)))
    reset = fundamental_matrix(system, FLIGHT, at_rest(START), 0.4, with_reset_jacobian=True)
    assert np.max(abs(reset.Phi @ jacobian(at_rest, START) - difference)) > 1.0
