"""The study of touchdowns, on touchdowns that are made up and on short runs."""

import json

import numpy as np
import pytest

from robots.conventions import FOOT_NAMES
from saltus.metrics.touchdowns import Touchdowns
from studies.a1 import a1_touchdown
from studies.a1.a1_touchdown import measure
from studies.study import StudyOptions
from tests.a1 import A1, STAND


def touchdowns(*landings):
    """Feet that come down at 0.5 m/s, the others on the ground."""
    count = len(landings)
    v = np.zeros((count, 18))
    v[:, 2], v[:, 3] = -0.5, 0.2
    landing = np.array([[float(foot in feet) for foot in FOOT_NAMES] for feet in landings])
    return Touchdowns(
        np.arange(float(count)), np.tile(STAND, (count, 1)), v, landing, 1.0 - landing
    )


@pytest.fixture(scope="module")
def found():
    runs = {"walk": (("FR",), ("RL",)), "trot": (("FR", "RL"),),
            "bound": (("FR", "FL"), ("RR", "RL"), ("FR",))}  # fmt: skip
    return [each for gait, landings in runs.items()
            for each in measure(A1, gait, touchdowns(*landings), 32, StudyOptions())]  # fmt: skip


def test_a_row_for_each_gait_and_kind_of_touchdown(found):
    rows = a1_touchdown.rows_of(found)
    assert [(row["gait"], row["landing"], row["touchdowns"]) for row in rows] == [
        ("walk", "one foot", 2), ("trot", "diagonal pair", 1), ("bound", "front pair", 1),
        ("bound", "one foot", 1), ("bound", "rear pair", 1),
    ]  # fmt: skip
    assert set(a1_touchdown.SHOWN) <= set(rows[0]) | {"fell"}
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert all(row["ended"] == 1.0 and row["energy_growth"] < 1e-9 for row in rows)
    assert rows[0]["s_landing"] is None and 0.0 < abs(rows[1]["s_landing"]) < 0.1
    assert all(0.0 < row["spread_m_s"] <= row["spread_max_m_s"] < row["jump_m_s"] for row in rows)
    assert all(row["planner_m_s"] < 0.2 * row["jump_m_s"] for row in rows)


@pytest.mark.slow
def test_all_three_gaits_stay_up_and_every_impact_ends():
    result = a1_touchdown.run(StudyOptions(trials=64))
    assert {row["gait"] for row in result.rows} == {"walk", "trot", "bound"}
    kinds = {(row["gait"], row["landing"]) for row in result.rows}
    assert {("trot", "diagonal pair"), ("bound", "rear pair")} <= kinds
    for row in result.rows:
        assert not row["fell"] and row["ended"] == 1.0 and row["energy_growth"] < 1e-9
