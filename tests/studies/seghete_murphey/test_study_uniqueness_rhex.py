"""The study of a RHex's double touchdown, with a coarser contour and few random impacts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx

from studies.seghete_murphey import uniqueness_rhex
from studies.seghete_murphey.uniqueness_rhex import (
    DROP,
    configuration,
    extrema,
    joints,
    landscape,
    measure,
    named,
    orthogonal,
    run,
    touchdown,
)
from studies.study import StudyOptions


@pytest.fixture(scope="module")
def result():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uniqueness_rhex, "GRID", (60, 24))
        return run(StudyOptions(trials=20, seed=3))


@pytest.fixture(scope="module")
def rows(result):
    return {row["point"]: row for row in result.rows}


def test_two_minima_are_one_stance_with_its_legs_swapped(rows):
    A, B = rows["A"], rows["B"]
    assert A["kind"] == B["kind"] == "minimum"
    assert A["mirror_error_deg"] < 1e-4 and B["mirror_error_deg"] < 1e-4
    assert A["hip_deg"] == approx(B["other_hip_deg"], abs=1e-4)
    assert A["s"] == approx(B["s"], rel=1e-9)
    assert A["leg_pitch_deg"] > 1.0 and B["leg_pitch_deg"] < -1.0
    assert A["hip_height_mm"] > 100.0 and A["lowest_knee_mm"] > 0.0


def test_the_maximum_is_no_stance_to_walk_in(rows):
    C = rows["C"]
    assert C["kind"] == "maximum" and C["s"] > 5.0 * rows["A"]["s"]
    assert C["lowest_knee_mm"] < -10.0 and abs(C["hip_height_mm"]) < 1e-3


def test_extrema_are_those_of_s(rows):
    """By their curvature, and their number by another grid."""
    for row in rows.values():
        if row["kind"] == "orthogonal":
            continue
        hip, knee = np.radians([row["hip_deg"], row["knee_deg"]])
        sign = 1.0 if row["kind"] == "minimum" else -1.0
        assert measure(hip, knee) == approx(row["s"], rel=1e-9)
        assert min(sign * k for k in row["curvatures"]) > 0.0
    other = named(extrema(*landscape(41, 19, StudyOptions())))
    assert list(other) == ["A", "A'", "B", "B'", "C", "C'"]
    assert np.degrees(other["A"].knee) == approx(rows["A"]["knee_deg"], abs=1e-3)


def test_the_spread_of_the_outcomes_vanishes_with_s(rows):
    assert rows["A"]["spread_elastic"] < 0.5 * rows["C"]["spread_elastic"]
    assert rows["O"]["s"] == approx(0.0, abs=1e-15)
    assert rows["O"]["spread_elastic"] < 1e-14 and rows["O"]["spread_plastic"] < 1e-14
    hip, knee = orthogonal()
    for away in (1e-2, 1e-4, 1e-6):
        s, spread, predicted, complete = touchdown(hip, knee - away, DROP)
        assert complete and spread == approx(predicted, rel=1e-3)
        assert 0.1 * abs(s) < spread < 4.01 * abs(s)


@settings(max_examples=25)
@given(st.floats(-3.0, 3.0), st.floats(0.3, 2.5))
def test_both_feet_stand_on_the_ground(hip, knee):
    feet = joints(configuration(hip, knee))[:, 2]
    assert_allclose(feet[:, 1], 0.0, atol=1e-12)  # (21)
    assert_allclose(feet[0, 0], -feet[1, 0], atol=1e-12)
