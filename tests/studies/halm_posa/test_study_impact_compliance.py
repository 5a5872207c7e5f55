"""The rocking block on stiff corners: forces, energy, symmetry and the limit of rigid impacts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from saltation.impacts.resolution import sequential, simultaneous
from studies.halm_posa import impact_compliance
from studies.halm_posa.impact_compliance import (
    RATIO,
    TILT,
    CompliantContact,
    arrival,
    collide,
    motion,
    run,
    stiffness_for,
)
from studies.halm_posa.systems.rocking_block import (
    GRAVITY,
    MASS,
    MASS_MATRIX,
    SPEED,
    VELOCITY,
    corners,
    problem,
    tangential_jacobian,
)
from studies.study import StudyOptions
from tests.differences import slopes

BOTH = np.array([True, True])


@pytest.mark.parametrize("sticks", [True, False])
def test_jacobian_is_the_derivative_of_the_flow(sticks, monkeypatch):
    monkeypatch.setattr(impact_compliance, "MASS", 1.7)
    contact = CompliantContact((1e4, 4e4), slip=1e-2)
    y = np.array([0.1, 0.999, 2e-4, 0.0, -0.3, 0.4, 0.0, 0.0])
    y[3] = -y[5] + (1e-3 if sticks else 0.5)  # slip of the corners, 1 m below the centre
    found = slopes(lambda y: motion(contact, BOTH, y)[0], y, 1e-7)
    exact = motion(contact, BOTH, y)[1]
    assert_allclose(exact, found, atol=1e-6 * np.abs(exact).max())


def test_force_is_spring_and_damper_and_never_pulls():
    contact = CompliantContact((1e6, 1e6))
    still = np.array([0.0, 1.0 - 1e-4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert_allclose(motion(contact, BOTH, still)[0][6:], 100.0)
    leaving = still.copy()
    leaving[4] = 1.0
    assert_allclose(motion(contact, BOTH, leaving)[0][6:], 0.0)


def test_damping_ratio_is_one_where_oscillation_begins(monkeypatch):
    """One corner's mode: critical where the ratio is 1, at any mass, with c = 2 zeta sqrt(k m)."""
    monkeypatch.setattr(impact_compliance, "MASS", 4.0)
    for zeta, oscillates in ((0.49, True), (0.51, False)):
        k = 1e5  # both corners: stiffness 2 k and damping 2 c, so critical at zeta = 1 / sqrt(2)
        contact = CompliantContact((k, k), damping_ratio=zeta * np.sqrt(2.0))
        pressed = np.array([0.0, 0.99, 0.0, 0.0, -1e-6, 0.0, 0.0, 0.0])
        J = motion(contact, BOTH, pressed)[1][np.ix_([1, 4], [1, 4])]
        assert bool(np.abs(np.linalg.eigvals(J).imag).max() > 0.0) is oscillates


@pytest.mark.parametrize("theta", [-2e-4, 0.0, 1e-3])
def test_arrives_on_one_corner_with_the_same_energy(theta):
    x = arrival(theta)
    assert corners(x[:3])[:, 1].min() == approx(0.0, abs=1e-15)
    raised = MASS * GRAVITY * (x[1] - 1.0)
    energy = 0.5 * x[3:] @ MASS_MATRIX @ x[3:] + raised
    assert energy == approx(0.5 * MASS * SPEED**2, rel=1e-12)


def test_equal_corners_resolve_as_the_simultaneous_law():
    ended = collide(CompliantContact())
    rigid = simultaneous(problem(), VELOCITY).v_plus
    assert ended.status == "separated"
    assert_allclose(ended.v_plus, rigid, atol=2e-9)
    assert ended.impulses[0] == approx(ended.impulses[1], rel=1e-9)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_one_stiff_corner_resolves_as_the_sequential_law(order):
    """The stiffer corner first; nearer as the ratio grows."""
    rigid = sequential(problem(), VELOCITY, order).v_plus
    gaps = []
    for ratio in (1e2, 1e4):
        k = stiffness_for(ratio if order == (0, 1) else 1.0 / ratio)
        ended = collide(CompliantContact(k))
        assert ended.status == "separated"
        gaps.append(float(np.linalg.norm(ended.v_plus - rigid)))
    assert gaps[1] < 0.2 * gaps[0] and gaps[1] < 0.01


def test_largest_angle_is_nearly_sequential_and_sticks():
    ended = collide(CompliantContact(), np.radians(1e-2))
    assert ended.before_second == approx(0.999992, abs=5e-7)  # 5.4.1
    slip = tangential_jacobian(ended.q_plus[2]) @ ended.v_plus
    assert abs(slip[1]) < 1e-9  # B, the corner that is down
    before = 0.5 * MASS * SPEED**2
    assert 0.5 * ended.v_plus @ MASS_MATRIX @ ended.v_plus < before


def test_both_sweeps_lie_in_the_predicted_set():
    result = run(StudyOptions(trials=3))
    rows = result.rows
    assert [row["sweep"] for row in rows] == [RATIO] * 3 + [TILT] * 3
    assert_allclose([row["value"] for row in rows[:3]], [1e-5, 1.0, 1e5])
    assert_allclose([row["value"] for row in rows[3:]], [-1e-2, 0.0, 1e-2])
    assert all(row["status"] == "separated" and row["distance_over_set"] < 0.02 for row in rows)
    assert all(each.met for each in result.criteria) and list(result.figures) == ["figure-12"]
