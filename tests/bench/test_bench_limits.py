"""What limits cost: both planners get the same estimates, and the table has both."""

import pytest

from saltus.bench import limits
from saltus.configuration.launch import load_launch
from saltus.launch.lock_step import LockStep


@pytest.mark.slow
def test_both_planners_solve_from_the_same_estimates(monkeypatch):
    stack = LockStep(load_launch("stand", (), "paused", 0.05))
    estimates = [stack.step().estimate for _ in range(6)]
    monkeypatch.setattr(limits, "_estimates", lambda _: estimates)
    monkeypatch.setattr(limits, "FIRST", 2)
    result = limits.run()
    assert [(row["limits"], row["solves"]) for row in result.rows] == [("without", 4), ("with", 4)]
    without, with_limits = (row["solve_ms_p50"] for row in result.rows)
    assert result.ratio == with_limits / without
    assert result.criteria[0].bound == limits.BOUND
