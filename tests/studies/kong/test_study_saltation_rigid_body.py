"""The study of rigid-body saltation matrices, with a few states per transition."""

import json

import pytest

from studies.kong.saltation_rigid_body import REQUIRED, run
from studies.study import StudyOptions

TRANSITIONS = [
    "apex",
    "liftoff_from_sticking",
    "liftoff_from_sliding",
    "plastic_impact_into_sliding",
    "plastic_impact_into_sliding_with_friction",
    "plastic_impact_into_sticking",
    "elastic_impact",
    "stick_slip_equal_friction",
    "stick_slip",
    "slip_stick",
]


@pytest.fixture(scope="module")
def result():
    return run(StudyOptions(trials=2, seed=5))


def test_every_transition_agrees(result):
    assert [row["transition"] for row in result.records] == TRANSITIONS
    for row in result.records:
        assert row["states"] == 2 * len(row["bodies"])
        assert row["max_error_definition"] < 1e-10
        assert row["max_error_finite_difference"] < REQUIRED / 10.0


def test_rows_are_json_and_the_figure_is_drawn(result):
    assert json.loads(json.dumps(list(result.records))) == list(result.records)
    assert all(set(result.columns) <= set(row) for row in result.records)
    (axes,) = result.figures["saltation-rigid-body"].axes
    assert len(axes.patches) == 2 * len(TRANSITIONS)


def test_the_seed_chooses_the_states(result):
    again, other = (run(StudyOptions(trials=2, seed=seed)).records for seed in (5, 6))
    assert again == result.records != other


def test_no_states_give_no_errors():
    for row in run(StudyOptions(trials=0)).records:
        assert row["states"] == 0 and row["max_error_definition"] is None
