"""Rigid bodies over a constraint: identities, energy, momentum, friction, and whole motions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx

from saltation.integration import flow_state
from saltation.rigid_body.dynamics import (
    Contact,
    constraint_jacobian,
    constraint_rate,
    dagger,
    force_directions,
    mode_dagger,
    motion,
)
from saltation.rigid_body.hybrid_system import (
    APPROACHING,
    CONTACTS,
    SLIDING_BACKWARD,
    SLIDING_FORWARD,
    STICKING,
    rigid_body_system,
)
from saltation.rigid_body.impacts import impact_map
from saltation.simulation import simulate_step
from studies.kong.saltations import least_norm_root
from studies.kong.systems import three_link_arm as arm
from studies.kong.systems.slope_ball import GRAVITY, slope_ball_body
from studies.kong.systems.three_link_arm import HANGING, three_link_arm

SLIDING = (Contact.FORWARD, Contact.BACKWARD)
TOUCHING = (*SLIDING, Contact.STICKING)
ARM = three_link_arm()
NO_TORQUE = np.zeros(3)
seeds = st.integers(0, 2**32 - 1)


def random_motion(seed):
    q, qd, u = np.random.default_rng(seed).normal(size=(3, 3))
    return HANGING + 0.2 * q, 2.0 * qd, u


def state_in_contact(body, contact, seed):
    q, qd, u = random_motion(seed)

    def apart(x):
        p, pd = body.split(x)
        return np.append(constraint_jacobian(body, contact, p) @ pd, body.gap(p))

    x = least_norm_root(apart, np.concatenate((q, qd)))
    return x, u


@given(seeds)
def test_dagger_identities(seed):
    """(3.61) and (3.62), and that (3.63) and (3.69) with dJ/dt are the motion, f = -lambda."""
    q, qd, u = random_motion(seed)
    M = ARM.mass(q)
    for contact in TOUCHING:
        J = constraint_jacobian(ARM, contact, q)
        B = force_directions(ARM, contact, q, J, ARM.mu_k)
        D = mode_dagger(ARM, contact, q, ARM.mu_k)
        assert_allclose(D.M @ M, np.eye(3) - D.J_T @ J, atol=1e-9)
        assert_allclose(D.M @ B, 0.0, atol=1e-9)
        assert_allclose(J @ D.J_T, np.eye(len(J)), atol=1e-10)
        found = motion(ARM, contact, q, qd, u)
        bias = ARM.bias(q, qd, u)
        turn = constraint_rate(ARM, contact, q, qd) @ qd
        assert_allclose(found.acceleration, D.M @ bias - D.J_T @ turn, rtol=1e-8)
        multiplier = D.J @ bias - D.Lambda @ turn
        assert_allclose(found.forces, -multiplier, rtol=1e-8)
        assert_allclose(dagger(M, J).J_T, dagger(M, J).J.T, atol=1e-12)


@pytest.mark.parametrize("mode", [APPROACHING, SLIDING_FORWARD, STICKING])
def test_energy_is_conserved_without_friction(mode):
    body = three_link_arm(mu_s=0.0, mu_k=0.0, damping=0.0)
    x, _ = state_in_contact(body, CONTACTS[mode], seed=4)
    end = flow_state(rigid_body_system(body).modes[mode], 0.0, x, NO_TORQUE, 0.2)
    assert np.max(np.abs(end - x)) > 0.05

    def energy(q, qd):
        rise = arm.LENGTHS * np.sin(q)
        height = arm.MASSES @ (np.cumsum(rise) - 0.5 * rise)
        return 0.5 * qd @ body.mass(q) @ qd + arm.GRAVITY * height

    assert energy(*body.split(end)) == approx(energy(*body.split(x)), abs=1e-8)


@given(seeds)
def test_impacts_lose_energy_and_push_along_the_contact(seed):
    q, qd, _ = random_motion(seed)
    M = ARM.mass(q)
    for contact in (Contact.NONE, *TOUCHING):
        body = replace(ARM, restitution=0.6) if contact is Contact.NONE else ARM
        before = qd if body.normal(q) @ qd < 0.0 else -qd  # approaching
        after = impact_map(body, contact, q) @ before
        # Against each other slanted pushes can do work; without friction they cannot.
        if contact is Contact.NONE or contact is Contact.STICKING:
            assert after @ M @ after <= before @ M @ before * (1.0 + 1e-12)
        J = constraint_jacobian(body, contact, q)
        assert_allclose(J @ after, 0.0, atol=1e-9)
        rebound = 0.6 if contact is Contact.NONE else 0.0
        n = body.normal(q)
        assert n @ after == approx(-rebound * n @ before, abs=1e-9)
        pushed = constraint_jacobian(body, Contact.FORWARD, q) if contact is Contact.NONE else J
        B = force_directions(body, contact, q, pushed, body.impact_friction)
        impulse = M @ (after - before)
        assert_allclose(B @ np.linalg.lstsq(B, impulse)[0], impulse, atol=1e-9)


@given(seeds)
def test_functions_that_are_left_out_are_derived(seed):
    q, qd, u = random_motion(seed)
    if ARM.gap(q) < -0.2:  # near the stone's centre the distance has no derivatives
        return
    left_out = ("normal", "coriolis", "normal_rate", "tangent_rate")
    derived = replace(ARM, **dict.fromkeys(left_out))
    assert_allclose(derived.normal(q), ARM.normal(q), atol=1e-10)
    for name in left_out[1:]:
        expected = getattr(ARM, name)(q, qd)
        assert_allclose(getattr(derived, name)(q, qd), expected, atol=1e-8)


@pytest.mark.parametrize("slope, mu, ends", [(0.3, 0.6, STICKING), (0.8, 0.3, SLIDING_BACKWARD)])
def test_a_dropped_ball_sticks_on_a_gentle_slope_and_slides_on_a_steep_one(slope, mu, ends):
    """The tangent points uphill, so down is backward; tan(slope) against mu decides."""
    body = slope_ball_body(theta=slope, mu_s=mu, mu_k=mu, impact_friction=mu)
    system = rigid_body_system(body)
    x = np.array([0.0, 0.5, 0.0, 0.0])
    step = simulate_step(system, APPROACHING, x, 2.0, np.zeros(2))
    assert (step.mode, step.status) == (ends, "ok")
    if ends == STICKING:
        assert_allclose(step.state[2:], 0.0, atol=1e-9)
        return
    sliding = motion(body, CONTACTS[ends], *body.split(step.state), np.zeros(2))
    downhill = np.array([np.cos(slope), -np.sin(slope)]) @ sliding.acceleration
    assert downhill == approx(GRAVITY * (np.sin(slope) - mu * np.cos(slope)))
    assert sliding.forces[0] == approx(GRAVITY * np.cos(slope))


@pytest.mark.parametrize("mu_k", [0.3, 0.5])
def test_a_stuck_arm_slips_once_and_goes_on(mu_k):
    """Also where both coefficients agree, and the slip begins without acceleration."""
    body = three_link_arm(mu_s=0.5, mu_k=mu_k, impact_friction=0.5)
    system = rigid_body_system(body)
    slips = 0
    for seed in range(12):
        x, _ = state_in_contact(body, Contact.STICKING, seed)
        torque = np.array([-6.0, -3.0, -1.0])
        if any(edge.guard(0.0, x, torque) < 0.0 for edge in system.outgoing(STICKING)):
            continue
        step = simulate_step(system, STICKING, x, 0.3, torque)
        assert step.status == "ok", (seed, step.message)
        names = [event.transition.name for event in step.events]
        slips += names.count("stick-slip")
        assert names in (["stick-slip"], ["stick-slip", "liftoff from sliding"])
    assert slips >= 5


@pytest.mark.parametrize(
    "coefficients", [{"mu_s": 0.1, "mu_k": 0.2}, {"restitution": 1.5}, {"impact_friction": np.inf}]
)
def test_coefficients_out_of_range_are_refused(coefficients):
    with pytest.raises(ValueError, match="give"):
        slope_ball_body(**coefficients)
