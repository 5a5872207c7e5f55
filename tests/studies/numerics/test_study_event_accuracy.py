"""The study of orders of convergence through events."""

from studies.numerics import event_accuracy
from studies.study import StudyOptions


def test_every_order_is_reached():
    result = event_accuracy.run(StudyOptions())
    assert len(result.rows) == 5
    for criterion in result.criteria:
        assert criterion.met, criterion
