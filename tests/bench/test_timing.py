"""Calls in turns: order of rounds, and durations by a clock of the test's own."""

import pytest

from saltus.common.timing import MS, take_turns, take_turns_for


class Clock:
    """A clock that stands still but when it is moved."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def work(self, *seconds):
        """A call that takes so long in round k, again and again."""

        def call(k):
            self.now += seconds[k % len(seconds)]

        return call


def test_calls_take_turns_and_the_order_is_reversed_in_every_other_round():
    calls = []
    take_turns({name: lambda k, name=name: calls.append(f"{k}{name}") for name in "abc"}, 3)
    assert calls == ["0a", "0b", "0c", "1c", "1b", "1a", "2a", "2b", "2c"]


def test_durations_are_of_the_own_call():
    clock = Clock()
    times = take_turns({"slow": clock.work(3.0, 1.0, 2.0), "fast": clock.work(0.5)}, 3, clock)
    assert times.seconds == {"slow": [3.0, 1.0, 2.0], "fast": [0.5, 0.5, 0.5]}
    assert times.median("slow") == 2.0 and times.median("slow", MS) == 2000.0
    assert times.ratio("slow", "fast") == 4.0


@pytest.mark.parametrize(
    "first, later, budget, rounds",
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

    assert len(take_turns_for(budget, {"a": call}, 3, 50, clock).seconds["a"]) == rounds
    assert len(calls) == rounds + (1 if first >= budget else 2)
