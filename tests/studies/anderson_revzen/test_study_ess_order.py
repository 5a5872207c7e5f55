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
    assert result.rows[0]["order"] >= 2.0
    assert [criterion.met for criterion in result.criteria] == [True]
    assert seen[-1][:2] == (len(result.rows), len(result.rows))


def test_the_error_falls_with_epsilon_from_where_projections_are_short(found):
    rows = found[0].rows
    errors = [row["rms"] for row in rows if row["epsilon"] <= 0.1]
    assert (np.diff(errors) < 0.0).all() and errors[-1] < 2e-8
    assert all(row["rms_long_steps"] <= 1.05 * row["rms"] for row in rows)
