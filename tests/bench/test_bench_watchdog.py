"""The watchdog as a process of its own: what the robot gets after a harm to the tracker."""

import math

import pytest

from saltus.bench.watchdog import HARMS, run_trial

CHOSEN = ("stopped for 60 ms", "killed, and a log that takes nothing", "stopped, then the stop key",
          "stopped, then the remote's stop", "the stop key alone")  # fmt: skip


@pytest.mark.realtime
@pytest.mark.parametrize("name", CHOSEN)
def test_the_robot_is_damped_for_good_whatever_becomes_of_the_tracker(name: str) -> None:
    harm = next(harm for harm in HARMS if harm.name == name)
    outcome = run_trial(harm)
    assert not math.isnan(outcome.damped_s)
    assert outcome.damping > 20 and outcome.motion_after == 0
    assert outcome.ended  # once the robot has gone
