"""The study of event times and orders, with few states; and that it sees what is wrong."""

import pytest
from pytest import approx

from studies.numerics import event_accuracy
from studies.numerics.event_accuracy import CASES, event_time_error
from studies.study import StudyOptions

DROP = CASES[0]


def test_every_row_is_met():
    result = event_accuracy.run(StudyOptions(trials=5))
    kinds = [row["kind"] for row in result.rows]
    assert kinds.count("event_time_error_s") == 2 * len(CASES) and kinds.count("order") == 5
    for row in result.rows:
        assert row["met"], row


@pytest.mark.parametrize("as_compiled", [False, True])
def test_a_late_event_is_seen(as_compiled):
    late = DROP._replace(exact=lambda x: DROP.exact(x) - 1e-6)
    assert event_time_error(late, 5, 0, as_compiled) == approx(1e-6, rel=1e-3)
