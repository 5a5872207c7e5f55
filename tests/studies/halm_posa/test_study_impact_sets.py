"""The study of sets of impacts, with few samples; the trotting A1 is slow."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from saltation.impacts.contact_problem import ContactProblem
from studies.halm_posa import impact_sets
from studies.halm_posa.impact_sets import Subject, a1_subject, paper_subjects
from studies.halm_posa.systems.named_outcomes import distances, set_size
from studies.study import StudyOptions

SAMPLES = 20_000


@pytest.fixture(scope="module")
def result():
    return impact_sets.sample_sets(paper_subjects(SAMPLES), StudyOptions(trials=SAMPLES))


def test_the_named_outcomes_are_near_the_set(result):
    """Every one of them, within a tenth of the set's size for these fewer samples."""
    counts = {row["system"]: row["outcomes"] for row in result.rows}
    assert counts == {"rocking block": 3, "compass gait": 5, "box and wall": 3, "RAMone": 5,
                      "disk stacking": 3}  # fmt: skip
    for row in result.rows:
        assert len(row["distances"]) == row["outcomes"]
        assert row["farthest_outcome"] <= 0.1 * row["set_size"], row["system"]
        assert row["outcomes_found"] >= row["outcomes"] - 2


def test_size_and_distances_are_of_the_kinetic_metric():
    """A mass of 4 kg: velocities 0 and 3 are 6 apart."""
    problem = ContactProblem.planar(
        np.diag([4.0, 1.0]), np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]]), 0.0, ["A"]
    )
    points = np.array([[0.0, 0.0], [3.0, 0.0], [1.0, 0.0]])
    assert set_size(problem, points) == approx(6.0)
    assert_allclose(distances(problem, points, points[0]), [0.0, 6.0, 2.0])


@pytest.mark.slow
def test_the_trotting_a1_lands_on_a_pair_while_the_other_stands():
    subject = a1_subject()
    assert isinstance(subject, Subject) and subject.problem.contacts == ("FR", "FL", "RR", "RL")
    closing = subject.problem.J_n @ subject.velocity
    assert (closing[[0, 3]] < -0.1).all() and (abs(closing[[1, 2]]) < 0.05).all()
    found = impact_sets.row(subject, *impact_sets.sample(subject, StudyOptions(trials=2000)))
    assert found["terminated"] == 1.0 and found["outcomes_found"] == found["outcomes"]
