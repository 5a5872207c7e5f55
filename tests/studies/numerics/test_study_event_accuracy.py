"""The study of event times and orders, with few states; and that it sees what is wrong."""

from studies.numerics import event_accuracy
from studies.numerics.event_accuracy import CASES
from studies.study import StudyOptions

DROP = CASES[0]


def test_every_row_is_met():
    result = event_accuracy.run(StudyOptions(trials=5))
    kinds = [row["kind"] for row in result.rows]
    assert kinds.count("event_time_error_s") == 2 * len(CASES) and kinds.count("order") == 5
    for row in result.rows:
        assert row["met"], row
