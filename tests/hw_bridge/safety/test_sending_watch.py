"""Gaps in our own sending damp the robot while its motors serve."""

import pytest

from hw_bridge.safety.watches import GO, SendingWatch, damp


@pytest.mark.parametrize("gap, goes_on", [(0.001, True), (0.0299, True), (0.0301, False)])
def test_a_gap_damps(gap, goes_on):
    watch = SendingWatch(0.03)
    watch.judge(True, 100.0)
    verdict = watch.judge(True, 100.0 + gap)
    assert verdict == (GO if goes_on else damp("no command was sent for 30 ms (limit 30)"))


def test_neither_the_first_command_nor_one_of_limp_motors_comes_after_a_gap():
    watch = SendingWatch(0.03)
    assert watch.judge(True, 100.0) is GO
    assert watch.judge(False, 200.0) is GO
    assert watch.judge(True, 200.001) is GO
