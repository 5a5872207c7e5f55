"""Outlines of plans: what the plan says, not too often, and for nobody none."""

import numpy as np
import pytest

from controller.planner_node import PERIOD_S, Outlines
from tests.controller.tracker_messages import plan


class Watchers:
    """A publisher whose subscribers come and go."""

    def __init__(self):
        self.count, self.sent = 0, []

    def subscribers(self):
        return self.count

    def send(self, outline):
        self.sent.append(outline)


@pytest.mark.parametrize("rate", [10.0, 45.0, 100.0, 1000.0])
def test_outlines_come_as_plans_do_but_at_most_thirty_times_a_second(rate):
    watchers, times = Watchers(), np.arange(0.0, 2.0, 1.0 / rate)
    watchers.count = 1
    clock = iter(times)
    outlines = Outlines(watchers, lambda: float(next(clock)))
    for k in range(len(times)):
        outlines.offer(plan(k, k))
    sent = times[[outline.id for outline in watchers.sent]]
    assert np.diff(sent).min() >= PERIOD_S - 1e-9
    assert np.diff(sent).max() <= PERIOD_S + 1.0 / rate + 1e-9
    assert sent[0] == 0.0
