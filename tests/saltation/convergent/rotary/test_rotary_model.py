"""The rotary cart pole's equations against the body that they are to describe."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

import saltation.convergent.nlp  # noqa: F401  numpy's functions on expressions, no warning
from saltation.convergent.rotary.model import energy, flow, inertia
from saltation.convergent.rotary.parameters import QUBE_SERVO_2

angles, speeds = st.floats(-4.0, 4.0), st.floats(-25.0, 25.0)
states = st.tuples(angles, angles, speeds, speeds).map(np.array)
torques = st.floats(-0.1, 0.1)


def gradient(function, x):
    """By complex steps."""
    return np.array([np.imag(function(x + 1e-30j * e)) / 1e-30 for e in np.eye(len(x))])


@given(states)
def test_the_kinetic_energy_is_that_of_the_rods_points(x):
    body = QUBE_SERVO_2
    places, shares = np.polynomial.legendre.leggauss(3)  # exact: the speed squared is quadratic
    total = 0.5 * body.J_r * x[2] ** 2
    for place, share in zip(places, shares, strict=True):
        r = 0.5 * body.L_p * (1.0 + place)
        theta, alpha = x[:2] + 1e-30j * x[2:]
        along, aside = np.array([np.cos(theta), np.sin(theta)]), r * np.sin(alpha)
        moved = [*(body.L_r * along + aside * along[::-1] * [1.0, -1.0]), -r * np.cos(alpha)]
        total += 0.25 * share * body.m_p * np.sum((np.imag(moved) / 1e-30) ** 2)
    height = 0.5 * body.m_p * body.g * body.L_p * (1.0 - np.cos(x[1]))
    assert energy(body, x) - height == approx(total, rel=1e-12, abs=1e-15)


@given(states, torques)
def test_lagranges_equations_hold(x, torque):
    body, rate = QUBE_SERVO_2, np.array(flow(QUBE_SERVO_2, x, torque))

    def kinetic(at):
        return energy(body, at) - 0.5 * body.m_p * body.g * body.L_p * (1.0 - np.cos(at[1]))

    def momenta(at):
        m_11, m_12, m_22 = inertia(body, at[1])
        return np.array([m_11 * at[2] + m_12 * at[3], m_12 * at[2] + m_22 * at[3]])

    assert np.allclose(momenta(x), gradient(kinetic, x)[2:], rtol=1e-12, atol=1e-16)
    along = np.imag(momenta(x + 1e-30j * rate)) / 1e-30  # d/dt of dT/dq'
    pulled = gradient(lambda at: 2.0 * kinetic(at) - energy(body, at), x)[:2]  # of T - V
    applied = np.array([torque - body.D_r * x[2], -body.D_p * x[3]])
    assert np.allclose(along - pulled, applied, rtol=1e-9, atol=1e-12)
