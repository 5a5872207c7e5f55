"""The delay line is exact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_bridge.delay import DelayLine


@given(st.integers(0, 40), st.sets(st.integers(0, 100), min_size=1))
def test_shows_what_was_pushed_exactly_the_delay_ago(steps: int, pushes: set[int]) -> None:
    line = DelayLine[int](steps * 0.0005, 0.0005)
    for step in range(150):
        if step in pushes:
            line.push(step, step)
        due = [push for push in pushes if push + steps <= step]
        assert line.at(step) == max(due, default=None)


def test_seconds_become_whole_steps() -> None:
    assert DelayLine(0.010, 0.0005).steps == 20
    assert DelayLine(0.0, 0.0005).steps == 0


@pytest.mark.parametrize("delay", [-0.001, float("nan"), float("inf")])
def test_impossible_delays_are_refused(delay: float) -> None:
    with pytest.raises(ValueError, match="input_delay"):
        DelayLine(delay, 0.0005)
