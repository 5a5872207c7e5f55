"""The study of Floquet multipliers: its rows agree with themselves and with closed forms."""

import json
import math

import numpy as np
import pytest

from studies.kong.floquet import largest_difference, run
from studies.kong.systems import rimless_wheel, vibrating_table
from studies.study import StudyOptions


@pytest.fixture(scope="module")
def result():
    return run(StudyOptions())


def complexes(pairs):
    return np.array([complex(*pair) for pair in pairs])


def test_rows_are_plain_and_complete(result):
    rows = json.loads(json.dumps(result.records))
    assert {"rimless_wheel", "hopper", "vibrating_table"} <= {row["system"] for row in rows}
    for row in rows:
        assert list(row) == ["system", "multipliers", "poincare_multipliers", "max_difference"]
        sizes = abs(complexes(row["multipliers"]))
        assert np.all(np.diff(sizes) <= 1e-9)


def test_multipliers_are_those_of_the_poincare_maps(result):
    for row in result.records:
        assert row["max_difference"] < 1e-6, row["system"]
        found, poincare = complexes(row["multipliers"]), complexes(row["poincare_multipliers"])
        driven = row["system"].startswith("vibrating_table")
        assert len(found) == len(poincare) + (not driven)
        if not driven:
            assert np.min(abs(found - 1.0)) < 1e-6


def test_closed_forms(result):
    rows = {row["system"]: complexes(row["multipliers"]) for row in result.records}
    wheel = math.cos(2.0 * rimless_wheel.HALF_ANGLE) ** 2
    np.testing.assert_allclose(rows["rimless_wheel"], [1.0, wheel], atol=1e-8)
    expected = np.sort_complex(vibrating_table.periodic_bounce().multipliers)
    np.testing.assert_allclose(np.sort_complex(rows["vibrating_table"]), expected, atol=1e-8)
    assert abs(rows["vibrating_table_saddle"][0]) > 1.0


def test_draws_its_figure(result):
    assert list(result.figures) == ["floquet"] and len(result.figures["floquet"].axes) == 4


def test_sets_are_compared_whatever_their_order():
    a = np.array([0.5 + 0.1j, 0.5 - 0.1j, 0.2])
    assert largest_difference(a, a[::-1] + 1e-3) == pytest.approx(1e-3)
    assert largest_difference(a, a[:2]) is None and largest_difference(a[:0], a[:0]) is None
