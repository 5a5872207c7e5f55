"""`saltus bench rollouts`: its rows, and what is not here."""

from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from saltus.bench import rollouts
from saltus.bench.rollouts import Engine, cpu_name, measure, walking_problem
from sim_bridge.rollouts.threaded import ThreadedRollout
from tests.a1 import A1

HORIZON = 50, 0.01, 2  # knots, period [s], steps within
KEYS = ["backend", "device", "candidates", "knots", "ms_p50", "ms_p99"]


@pytest.fixture(scope="module")
def problem():
    return walking_problem()


class Noted:
    """A backend that notes who was asked, and falls back when told to."""

    def __init__(self, name, calls):
        self.name, self.calls, self.fallbacks = name, calls, 0

    def roll_out(self, x0, policies):
        self.calls.append(self.name)

    def statistics(self):
        return {"fallbacks": self.fallbacks * len(self.calls)}


def both():
    local = ThreadedRollout(A1, *HORIZON, 1)
    engines = [Engine("mujoco", cpu_name(), local), Engine("remote", "there", local, 9)]
    return nullcontext((engines, ["warp: no such thing; install it"]))


def test_rows_ratio_and_what_is_missing():
    result = rollouts.run((9, 16), 0.02, both)
    assert [list(row) for row in result.rows] == [KEYS] * 3
    rows = {(row["backend"], row["candidates"]): row for row in result.rows}
    assert list(rows) == [("mujoco", 9), ("remote", 9), ("mujoco", 16)]
    for row in rows.values():
        assert row["knots"] == 50 and 0.0 < row["ms_p50"] <= row["ms_p99"]
    assert "warp: no such thing; install it" in result.note


def test_engines_take_turns(problem):
    calls = []
    engines = [Engine(name, name, Noted(name, calls)) for name in "ab"]
    rows = measure(engines, problem, 9, 1e-9)
    assert calls == list("ab" + "ab" + "ba" + "ab")  # first to make the batches
    assert [row["backend"] for row in rows] == ["a", "b"]


def test_the_problem_is_a_walk_that_goes_on(problem):
    policies = problem.policies(9)
    assert policies.count == 9 and len(policies.inputs) == 1
    assert_array_equal(policies.step_size, np.linspace(0.0, 1.0, 9))
    batch = ThreadedRollout(A1, *HORIZON, 1).roll_out(problem.x0, policies)
    assert batch.finite.all() and batch.states[:, -1, 2].min() > 0.2
    assert np.abs(batch.states[8] - batch.states[0]).max() > 0.01
    loaded = batch.normal_forces[0] > 1.0
    assert (loaded[1:] & ~loaded[:-1]).any()  # no foot lands
