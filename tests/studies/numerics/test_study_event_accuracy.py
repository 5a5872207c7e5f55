"""The study of event times and orders, with few states; and that it sees what is wrong."""

import dataclasses
import json

import numpy as np
import pytest

from studies.numerics import event_accuracy
from studies.numerics.event_accuracy import BEFORE, Errors, cases, event_time_error, event_times
from studies.study import StudyOptions

DROP = cases()[0]


def test_every_row_is_met():
    result = event_accuracy.run(StudyOptions(trials=5))
    assert json.loads(json.dumps(list(result.records))) == list(result.records)
    kinds = [row["kind"] for row in result.records]
    assert kinds.count("event_time_error_s") == 2 * len(cases()) and kinds.count("order") == 5
    for row in result.records:
        assert tuple(row) == ("case", "kind", "value", "bound", "met")
        assert row["met"], row
    (axes,) = result.figures["event-accuracy"].axes
    assert len(axes.lines) == 6 and axes.get_xscale() == axes.get_yscale() == "log"


@pytest.mark.parametrize("as_compiled", [False, True])
def test_a_late_event_is_seen(as_compiled):
    late = dataclasses.replace(DROP, exact=lambda x: DROP.exact(x) - 1e-6)
    assert event_time_error(late, 5, 0, as_compiled) == pytest.approx(1e-6, rel=1e-3)


@pytest.mark.parametrize("as_compiled", [False, True])
def test_a_missed_event_is_not_a_number_and_not_met(as_compiled, monkeypatch):
    early = dataclasses.replace(DROP, duration=1e-3)
    states = DROP.draw(3, np.random.default_rng(0))
    assert np.all(np.isnan(event_times(early, states, as_compiled)))
    monkeypatch.setattr(event_accuracy, "cases", lambda: (early,))
    for each in event_accuracy.time_criteria(StudyOptions(), 3):
        assert each.value is None and not each.met


def test_a_case_that_does_not_compile_is_refused():
    mode = dataclasses.replace(DROP.system.modes[BEFORE], flow=lambda t, x, u: np.array([*x]) * {})
    system = dataclasses.replace(DROP.system, modes={**DROP.system.modes, BEFORE: mode})
    with pytest.raises(RuntimeError, match="ball_drop does not compile"):
        event_time_error(dataclasses.replace(DROP, system=system), 2, 0, as_compiled=True)


def test_a_low_order_is_not_met():
    sizes = np.array([0.1, 0.05, 0.025])
    errors = Errors(sizes, 7.0 * sizes**3)
    assert errors.order == pytest.approx(3.0)
    made = event_accuracy.order_criteria({"integrator": errors, "dense_output": errors})
    assert not any(each.met for each in made)
