import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx

from studies.seghete_murphey.uniqueness_rhex import (
    BODY_INERTIA,
    BODY_MASS,
    LEG,
    configuration,
    inertia_and_normals,
    joints,
)
from tests.differences import slopes

SEEDS = st.integers(0, 2**32 - 1)
HIPS, KNEES = st.floats(-3.0, 3.0), st.floats(0.3, 2.5)
STEP = 1e-6


def masses(q):
    """Masses (5,), centres (5, 2) and angles (5,) of the body, then of each leg's links."""
    at = joints(q)
    centres, angles = [q[:2]], [q[2]]
    for leg in range(2):
        hip, knee, foot = at[leg]
        centres += [0.5 * (hip + knee), 0.5 * (knee + foot)]
        angles += [q[2] + q[3 + leg], q[2] + q[3 + leg] + q[5 + leg]]
    legs = [mass for _, mass in LEG] * 2
    return np.array([BODY_MASS, *legs]), np.array(centres), np.array(angles)


@settings(max_examples=15)
@given(SEEDS)
def test_inertia_is_that_of_the_bodies_kinetic_energy(seed):
    rng = np.random.default_rng(seed)
    q, v = rng.normal(size=(2, 7))
    ahead, behind = masses(q + STEP * v), masses(q - STEP * v)
    speed, spin = ((a - b) / (2.0 * STEP) for a, b in zip(ahead[1:], behind[1:], strict=True))
    rods = [mass * length**2 for length, mass in LEG]
    about = np.array([BODY_INERTIA, *np.array(rods * 2) / 12.0])
    K = 0.5 * (ahead[0] @ (speed**2).sum(axis=1) + about @ spin**2)
    assert 0.5 * v @ inertia_and_normals(q)[0] @ v == approx(K, rel=1e-7)


@settings(max_examples=15)
@given(SEEDS)
def test_normals_are_the_derivatives_of_the_feets_heights(seed):
    q = np.random.default_rng(seed).normal(size=7)
    heights = slopes(lambda q: joints(q)[:, 2, 1], q)
    assert_allclose(inertia_and_normals(q)[1], heights, atol=1e-9)


@settings(max_examples=25)
@given(HIPS, KNEES)
def test_both_feet_stand_on_the_ground(hip, knee):
    q = configuration(hip, knee)
    feet = joints(q)[:, 2]
    assert_allclose(feet[:, 1], 0.0, atol=1e-12)  # (21)
    assert_allclose(feet[0, 0], -feet[1, 0], atol=1e-12)
