"""The study of orders of convergence through events."""

from studies.numerics import event_accuracy
from studies.study import StudyOptions


def test_every_order_is_reached():
    rows = event_accuracy.run(StudyOptions()).rows
    assert len(rows) == 5
    for row in rows:
        assert row["met"], row
