"""The study of the planner's derivatives, on few problems of a pushed trot."""

import numpy as np
import pytest

from studies.a1.derivatives import compare
from studies.a1.derivatives_problems import pushes, record_push, situations
from studies.study import StudyOptions
from tests.a1 import A1


@pytest.fixture(scope="module")
def problems():
    trial = pushes(1)["trot"][0]
    recorded = record_push("trot", trial, every=4, after_push_s=0.08)
    assert len(recorded) == 2, "of 8 solves"
    return recorded


@pytest.fixture(scope="module")
def result(problems):
    return compare(problems, StudyOptions())


def standing(height=A1.stand_height - 0.001, velocity=(0.0, 0.0, 0.0)):
    """x (37,) with the feet a millimetre in the ground."""
    x = np.concatenate([[0, 0, height, 0, 0, 0, 1], A1.stand, np.zeros(18)])
    x[19:22] = velocity
    return x


def classify(*states):
    """Situations of knots that begin in these states, without torques."""
    return list(situations(np.stack([*states, states[-1]]), np.zeros((len(states), 12))))


def test_feet_stand_fly_and_slide():
    assert classify(standing()) == ["sticking"]
    assert classify(standing(height=1.0)) == ["flight"]
    assert classify(standing(velocity=(1.0, 0.0, 0.0))) == ["sliding"]


def test_feet_land_and_lift_off():
    air, ground = standing(height=1.0), standing()
    assert classify(air, air, ground) == ["flight", "approach", "touchdown"]
    assert classify(ground, air) == ["sticking", "lift-off"]
    fall = standing(height=A1.stand_height + 0.003, velocity=(0.0, 0.0, -1.0))
    assert classify(fall) == ["touchdown"], "between the substeps of a knot"


def rows_of(result, part, **values):
    return [row for row in result.rows if row["part"] == part
            and all(row[key] == value for key, value in values.items())]  # fmt: skip


def test_rollout_is_the_derivative_of_the_step_in_every_situation(result):
    rows = rows_of(result, "error")
    assert {"sticking", "touchdown"} <= {row["case"] for row in rows}
    for row in rows:
        if row["measure"].endswith("median"):
            assert row["rollout_dxr"] < 1e-5, (row["case"], row["measure"])
            assert row["differences"] < 0.05, row["case"]
        assert row["left_out"] <= 0.1 * (row["count"] + row["left_out"])
