"""The order of the event-selected integrator: asked is at least 2 (printed: 2.1)."""

import numpy as np
import pytest

from studies.anderson_revzen import ess_order
from studies.study import StudyOptions


@pytest.fixture(scope="module")
def found():
    seen = []
    return ess_order.run(StudyOptions(progress=lambda *report: seen.append(report))), seen


def test_the_order_is_at_least_two(found):
    result, seen = found
    assert result.records[0]["order"] >= 2.0
    assert [criterion.met for criterion in result.criteria] == [True]
    assert seen[-1][:2] == (len(result.records), len(result.records))


def test_the_error_falls_with_epsilon_from_where_projections_are_short(found):
    rows = found[0].records
    errors = [row["rms"] for row in rows if row["epsilon"] <= 0.1]
    assert (np.diff(errors) < 0.0).all() and errors[-1] < 2e-8
    assert all(row["rms_long_steps"] <= 1.05 * row["rms"] for row in rows)


def test_the_fit_finds_a_slope_that_is_known():
    values = np.logspace(0, -4, 17)
    assert ess_order.fitted_order(values, 3.0 * values**2.1) == pytest.approx(2.1)


def test_the_figure_is_drawn(found):
    assert set(found[0].figures) == {"figure-4.1"}
