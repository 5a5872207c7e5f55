"""The study of compliant contact beside the set of rigid outcomes."""

import json

import numpy as np
import pytest

from studies.halm_posa.impact_compliance import RATIO, TILT, predict, run
from studies.halm_posa.systems.named_outcomes import distances
from studies.halm_posa.systems.rocking_block import RockingBlock
from studies.study import StudyOptions


@pytest.fixture(scope="module")
def result():
    return run(StudyOptions(trials=3))


def test_rows_are_plain_and_span_both_sweeps(result):
    rows = json.loads(json.dumps(result.records))
    assert [row["sweep"] for row in rows] == [RATIO] * 3 + [TILT] * 3
    np.testing.assert_allclose([row["value"] for row in rows[:3]], [1e-5, 1.0, 1e5])
    np.testing.assert_allclose([row["value"] for row in rows[3:]], [-1e-2, 0.0, 1e-2])
    assert all(row["status"] == "separated" for row in rows)


def test_outcomes_lie_in_the_predicted_set(result):
    assert max(row["distance"] for row in result.records) < 0.02
    assert max(row["distance_over_set"] for row in result.records) < 0.02


def test_a_velocity_outside_the_set_is_told():
    rigid = predict(RockingBlock(), 0, samples=2000)
    outside = np.array([0.0, 0.1, 0.0])  # both corners rise
    assert rigid.distance(outside) / rigid.impact.kinetic_norm(rigid.v) > 0.1


def test_the_set_s_size_is_between_its_ends():
    rigid = predict(RockingBlock(), 0, samples=2000)
    every = [distances(rigid.impact, rigid.outcomes, at).max() for at in rigid.outcomes]
    assert rigid.size == pytest.approx(max(every), rel=1e-3)


def test_draws_figure_12_and_says_what_was_met(result):
    assert list(result.figures) == ["figure-12"]
    assert any("all within the 2%" in note for note in result.notes)
