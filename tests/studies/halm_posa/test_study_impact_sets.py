"""The study of sets of impacts, with few samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from saltation.impacts.contact_problem import ContactProblem
from saltation.impacts.sampling import SamplingOptions, sample_impacts
from studies.halm_posa import impact_sets, painleve_rod
from studies.halm_posa.impact_sets import SUBJECTS
from studies.halm_posa.systems.named_outcomes import distances, set_size
from studies.study import StudyOptions

SAMPLES = 20_000


@pytest.fixture(scope="module")
def result():
    return impact_sets.run(StudyOptions(trials=SAMPLES))


def test_the_named_outcomes_are_near_the_set(result):
    """Every one of them, within a tenth of the set's size for these fewer samples."""
    counts = {row["system"]: row["outcomes"] for row in result.rows}
    assert counts == {"rocking block": 3, "compass gait": 5, "box and wall": 3, "RAMone": 5,
                      "disk stacking": 3}  # fmt: skip
    for row in result.rows:
        assert len(row["distances"]) == row["outcomes"]
        assert row["farthest_outcome"] <= 0.1 * row["set_size"], row["system"]
        assert row["outcomes_found"] >= row["outcomes"] - 2
        assert (row["bound_lcps"] is None) != row["pointed"]
        assert row["bound_lcps"] is None or row["largest_lcps"] <= row["bound_lcps"]  # Theorem 8


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_every_contact_force_moves_the_velocity_along_r(subject):
    """(77)."""
    problem = subject.problem
    r = impact_sets.net_force_direction(problem)
    if r is None:
        assert impact_sets.step_bound(problem, subject.velocity, 1.0) is None
        return
    rng, k = np.random.default_rng(0), problem.directions
    for _ in range(20):
        normal = rng.exponential(size=problem.count)
        shares = rng.dirichlet(np.ones(k), problem.count) * (problem.mu * normal)[:, None]
        force = problem.J_n.T @ normal + problem.J_D.T @ shares.ravel()
        assert r @ np.linalg.solve(problem.M, force) >= normal.sum() * (1.0 - 1e-9)


def test_painleves_rod_jumps_without_a_collision_where_it_must_and_to_rest_at_its_end():
    rod, law = painleve_rod.rod(np.radians(60.0)), SamplingOptions(16, 0.02)
    assert painleve_rod.push(np.radians(60.0)) < 0.0 < painleve_rod.push(np.radians(30.0))
    after = sample_impacts(rod, painleve_rod.CLOSING, law).outcomes
    assert_allclose(rod.J_n @ after.T, 0.0, atol=1e-8)
    assert_allclose(rod.J_D @ after.T, 0.0, atol=1e-8)
    assert_allclose(after, np.tile(painleve_rod.routh(np.radians(60.0)), (16, 1)), atol=1e-5)
    smooth = painleve_rod.rod(np.radians(30.0))
    after = sample_impacts(smooth, painleve_rod.CLOSING, law).outcomes
    assert_allclose(after, np.tile(painleve_rod.SLIDING, (16, 1)), atol=1e-4)


def test_size_and_distances_are_of_the_kinetic_metric():
    """A mass of 4 kg: velocities 0 and 3 are 6 apart."""
    problem = ContactProblem.planar(
        np.diag([4.0, 1.0]), np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]]), 0.0, ["A"]
    )
    points = np.array([[0.0, 0.0], [3.0, 0.0], [1.0, 0.0]])
    assert set_size(problem, points) == approx(6.0)
    assert_allclose(distances(problem, points, points[0]), [0.0, 6.0, 2.0])
