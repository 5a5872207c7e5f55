"""`saltus bench hybrid`: rows, ratio, and that only equal trajectories are timed."""

import json

import numpy as np
import pytest

from hybrid.examples.bouncing_ball import GRAVITY, RESTITUTION
from saltus.bench import hybrid as bench
from saltus.bench.hybrid import PROGRAMS, first_times
from saltus.cli.main import run as command_line
from saltus.common.errors import BadRequest

pytestmark = pytest.mark.slow  # a minute of compilation
STATES = bench.falling_balls(3, 1)


def closed_form(x):
    """End of a falling ball after as many bounces as there is time for."""
    left, height, velocity = bench.DURATION, x[0], x[1]
    while True:
        speed = np.sqrt(velocity**2 + 2.0 * GRAVITY * height)
        flight = (speed + velocity) / GRAVITY
        if flight > left:
            fallen = 0.5 * GRAVITY * left**2
            return [height + velocity * left - fallen, velocity - GRAVITY * left]
        left, height, velocity = left - flight, 0.0, RESTITUTION * speed


@pytest.mark.parametrize("name", ["compiled_batch", "callbacks", "scipy"])
def test_every_simulator_ends_where_the_closed_form_does(name):
    ends = np.array([closed_form(x) for x in STATES])
    np.testing.assert_allclose(getattr(bench, name)(STATES), ends, atol=1e-9)


def test_hybrid_tools_ends_near_the_closed_form():
    ends = bench.HybridTools()(STATES[:1])
    np.testing.assert_allclose(ends, [closed_form(STATES[0])], atol=1e-3)


BALLS = ["compiled_batch", "callbacks", "scipy", "hybrid_tools"]
SINGLE = ["one_python_simulation", "scipy_RK45", "scipy_DOP853", *PROGRAMS]


@pytest.fixture
def quick(monkeypatch):
    """Neither fresh processes nor a search for tolerances."""
    monkeypatch.setattr(bench, "first_times", lambda name, rounds: np.full(rounds, 2.0))
    simulators = {name: (lambda k: None, 1e-9) for name in SINGLE[:3]}
    monkeypatch.setattr(bench, "equally_accurate", lambda: simulators)


def test_rows(monkeypatch, quick):
    monkeypatch.setattr(bench, "HybridTools", lambda: lambda x: x + np.nan)
    result = bench.run(rounds=2, balls=3)
    rows = {row["name"]: row for row in result.rows}
    assert list(rows) == [*BALLS, *SINGLE]
    assert len({tuple(row) for row in result.rows}) == 1, "rows must have the same keys"
    assert rows["compiled_batch"]["trajectories"] == 6 and rows["scipy"]["trajectories"] == 2
    assert rows["callbacks"]["max_difference"] < 1e-8
    for row in result.rows:
        assert 0.0 < row["p10_us"] <= row["median_us"] <= row["p90_us"]
    assert rows["first_compiled_batch"]["median_us"] == pytest.approx(2e6)
    assert rows["one_python_simulation"]["max_difference"] == 1e-9
    assert [criterion.met for criterion in result.criteria] == [True, True]


def test_ratios_are_of_named_contestants(monkeypatch, quick):
    seconds = {"compiled_batch": 0.5, "callbacks": 9.0, "scipy": 3.0, "hybrid_tools": 7.0}
    seconds |= {"one_python_simulation": 4.0, "scipy_RK45": 9.0, "scipy_DOP853": 2.0}
    median = bench.Times.median
    monkeypatch.setattr(
        bench.Times, "median", lambda self, name: seconds.get(name) or median(self, name)
    )
    result = bench.run(rounds=1, balls=1)
    assert result.ratio == 6.0
    assert result.extra == {"ratio_one_python_simulation": 0.5}  # of the faster method


def missing():
    raise ImportError


def test_without_the_package_its_row_is_missing_and_the_remedy_is_named(
    monkeypatch, capsys, quick
):
    monkeypatch.setattr(bench, "HybridTools", missing)
    real = bench.run
    monkeypatch.setattr(bench, "run", lambda: real(1, 2))
    assert command_line(["bench", "hybrid", "--json"]) == 0
    captured = capsys.readouterr()
    printed = json.loads(captured.out)
    assert set(printed) == {"bench", "rows", "ratio", "ratio_one_python_simulation"}
    assert [row["name"] for row in printed["rows"]] == [*BALLS[:3], *SINGLE]
    assert "pip install hybrid-tools" in captured.err


def test_other_trajectories_are_not_timed(monkeypatch, quick):
    monkeypatch.setattr(bench, "callbacks", lambda states: states)
    with pytest.raises(BadRequest, match="callbacks"):
        bench.run(rounds=1, balls=1)


def test_one_python_simulation_is_as_accurate_as_scipy():
    found = bench.equally_accurate()
    assert list(found) == SINGLE[:3]
    assert 1e-6 > found["one_python_simulation"][1] == max(error for _, error in found.values())
    truth = bench.oscillate(1e-13)
    assert len(truth[0]) == bench.IMPACTS
    assert bench.error_of(truth, bench.oscillate_scipy("RK45", 1e-12)) < 1e-7
    assert bench.error_of((truth[0][1:], truth[1]), truth) == np.inf


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_first_simulation_in_a_fresh_process(name):
    (seconds,) = first_times(name, 1)
    assert seconds > 0.0


def test_a_first_simulation_that_fails_is_refused(monkeypatch):
    monkeypatch.setitem(PROGRAMS, "broken", "raise SystemExit('it broke')")
    with pytest.raises(BadRequest, match="it broke"):
        first_times("broken", 1)
