"""The contest: order of rounds, durations by a clock of the test's own, and who failed."""

import numpy as np
import pytest

from saltus.bench.contest import MS, Contest, Contestant, Times, largest_differences, quantiles
from saltus.common.errors import BadRequest


class Clock:
    """A clock that stands still but when it is moved."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def work(self, seconds, result=None):
        """A call that takes so long in every round, or in round k the k-th number."""

        def call(k):
            self.now += seconds[k] if isinstance(seconds, list) else seconds
            return result

        return call


def test_contestants_take_turns_and_the_order_is_reversed_in_every_other_round():
    calls = []
    contestants = [
        Contestant(name, lambda k, name=name: calls.append((k, name))) for name in ("a", "b", "c")
    ]
    Contest(contestants).measure(3)
    assert calls == [(0, "a"), (0, "b"), (0, "c"), (1, "c"), (1, "b"), (1, "a"),
                     (2, "a"), (2, "b"), (2, "c")]  # fmt: skip


def test_durations_are_of_the_own_call_and_of_an_item_of_work():
    clock = Clock()
    contest = Contest(
        [Contestant("slow", clock.work([6.0, 2.0, 4.0]), 2), Contestant("fast", clock.work(0.5))],
        clock,
    )
    times = contest.measure(3, lambda contestant, k, result: clock.work(100.0)(0))
    assert times.seconds == {"slow": [3.0, 1.0, 2.0], "fast": [0.5, 0.5, 0.5]}
    assert times.median("slow") == 2.0 and times.median("slow", MS) == 2000.0
    assert times.ratio("slow", "fast") == 4.0


def test_results_of_a_warm_up_are_by_name_and_its_durations_do_not_count():
    clock = Clock()
    contest = Contest([Contestant("a", clock.work(1.0, "x")), Contestant("b", clock.work(1.0))])
    assert contest.warm_up() == {"a": "x", "b": None}
    assert len(contest.measure(2).seconds["a"]) == 2


def test_every_result_is_observed():
    observed = []
    contest = Contest([Contestant("a", lambda k: 10 * k), Contestant("b", lambda k: -k)])
    contest.measure(2, lambda contestant, k, result: observed.append((contestant.name, k, result)))
    assert observed == [("a", 0, 0), ("b", 0, 0), ("b", 1, -1), ("a", 1, 10)]


def test_a_contestant_that_raises_ends_the_contest_by_name():
    calls = []

    def fail(k):
        if k == 1:
            raise ZeroDivisionError

    contest = Contest([Contestant("sound", calls.append), Contestant("broken", fail)])
    with pytest.raises(ZeroDivisionError) as error:
        contest.measure(3)
    assert error.value.__notes__ == ["contestant broken, round 2"]
    assert calls == [0]  # the broken one was first in the second round


@pytest.mark.parametrize(
    ("first", "later", "budget", "rounds"),
    [
        (9.0, 1.0, 20.0, 20),  # the second warm-up counts
        (9.0, 1.0, 5.0, 3),  # no time for it: the fewest
        (9.0, 1e-6, 20.0, 50),  # the most
    ],
)
def test_rounds_follow_from_the_time_there_is(first, later, budget, rounds):
    clock, calls = Clock(), []

    def call(k):
        clock.now += later if calls else first
        calls.append(k)

    contest = Contest([Contestant("a", call)], clock)
    assert len(contest.measure_within(budget, 3, 50).seconds["a"]) == rounds
    assert len(calls) == rounds + (1 if first >= budget else 2)


def test_quantiles_have_the_asked_keys_and_unit():
    found = quantiles([k / 1000.0 for k in range(1, 12)], MS, p10_ms=10.0, median_ms=50.0)
    assert found == pytest.approx({"p10_ms": 2.0, "median_ms": 6.0})
    assert list(found) == ["p10_ms", "median_ms"]


def test_a_wrapped_function_is_timed_at_every_call():
    clock = Clock()
    times = Times(clock)
    wrapped = times.wrap("stage", lambda a, b: clock.work(a, a + b)(0))
    assert times.seconds == {"stage": []}
    assert [wrapped(1.0, 2.0), wrapped(3.0, 4.0)] == [3.0, 7.0]
    assert times.seconds == {"stage": [1.0, 3.0]}


def test_differences_are_from_the_first_rows_of_the_reference():
    ends = np.arange(6.0).reshape(3, 2)
    results = {"all": ends, "few": ends[:1] - 1e-9, "coarse": ends[:2] + [[0.0, 0.0], [0.0, 3.0]]}
    differences = largest_differences(results, "all", 1e-8, exempt=["coarse"])
    assert differences == pytest.approx({"all": 0.0, "few": 1e-9, "coarse": 3.0}, rel=1e-6)


@pytest.mark.parametrize("shift", [1e-7, np.nan])
def test_times_of_different_results_are_refused(shift):
    ends = np.ones((3, 2))
    with pytest.raises(BadRequest, match="other"):
        largest_differences({"ours": ends, "other": ends[:1] + shift}, "ours", 1e-8)
    exempt = largest_differences({"ours": ends, "other": ends + shift}, "ours", 1e-8, ["other"])
    assert exempt["other"] == pytest.approx(shift, rel=1e-6, nan_ok=True)
