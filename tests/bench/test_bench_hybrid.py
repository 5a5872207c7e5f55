"""`saltus bench hybrid`: rows, ratio, and that only equal trajectories are timed."""

import json

import numpy as np
import pytest

from hybrid.examples.bouncing_ball import GRAVITY, RESTITUTION
from saltus.bench import hybrid_simulation
from saltus.bench.bouncing_ball_ways import (
    DURATION,
    callbacks,
    compiled_batch,
    falling_balls,
    hybrid_tools,
    scipy_restarted,
)
from saltus.bench.first_simulation import PROGRAMS, first_times
from saltus.bench.hybrid_simulation import Contestant, difference
from saltus.bench.van_der_pol_ways import IMPACTS, Timed, error_of, ours, same_error, scipy_way
from saltus.cli.main import run as command_line
from saltus.common.errors import BadRequest

STATES = falling_balls(3, 1)


def closed_form(x):
    """End of a falling ball after as many bounces as there is time for."""
    left, height, velocity = DURATION, x[0], x[1]
    while True:
        speed = np.sqrt(velocity**2 + 2.0 * GRAVITY * height)
        flight = (speed + velocity) / GRAVITY
        if flight > left:
            fallen = 0.5 * GRAVITY * left**2
            return [height + velocity * left - fallen, velocity - GRAVITY * left]
        left, height, velocity = left - flight, 0.0, RESTITUTION * speed


@pytest.mark.parametrize("make", [compiled_batch, callbacks, scipy_restarted, hybrid_tools])
def test_every_way_ends_where_the_closed_form_does(make):
    way, states = make(), STATES[:1] if make is hybrid_tools else STATES
    ends = np.array([closed_form(x) for x in states])
    np.testing.assert_allclose(way(states), ends, atol=1e-3 if make is hybrid_tools else 1e-9)


BALLS = ["compiled_batch", "callbacks", "scipy", "hybrid_tools"]
SINGLE = ["one_python_simulation", "scipy_RK45", "scipy_DOP853", *PROGRAMS]


@pytest.fixture
def quick(monkeypatch):
    """Neither fresh processes nor a search for tolerances; SciPy takes half our time."""
    monkeypatch.setattr(hybrid_simulation, "first_times", lambda name, rounds: np.full(rounds, 2.0))
    names = zip(SINGLE[:3], (4e-3, 9e-3, 2e-3), strict=True)
    timed = [Timed(name, 1e-10, 1e-9, np.full(2, seconds)) for name, seconds in names]
    monkeypatch.setattr(hybrid_simulation, "same_error", lambda rounds: timed)


def test_rows_and_ratios(monkeypatch, quick):
    monkeypatch.setattr(hybrid_simulation, "hybrid_tools", lambda: lambda x: x + np.nan)
    result = hybrid_simulation.run(rounds=2, balls=3)
    rows = {row["name"]: row for row in result.rows}
    assert list(rows) == [*BALLS, *SINGLE]
    assert len({tuple(row) for row in result.rows}) == 1, "rows must have the same keys"
    assert rows["compiled_batch"]["trajectories"] == 6 and rows["scipy"]["trajectories"] == 2
    assert rows["callbacks"]["max_difference"] < 1e-8
    for row in result.rows:
        assert 0.0 < row["p10_us"] <= row["median_us"] <= row["p90_us"]
    assert rows["first_compiled_batch"]["median_us"] == pytest.approx(2e6)
    assert result.extra == {"ratio_one_python_simulation": pytest.approx(0.5)}
    assert "fixed tolerances" in result.note and "1e-10" in result.note


def test_the_ratio_is_of_scipy_whatever_the_order_of_rows(monkeypatch, quick):
    seconds = {"scipy": 3.0, "compiled_batch": 0.5, "callbacks": 9.0, "hybrid_tools": 9.0}
    monkeypatch.setattr(hybrid_simulation, "_seconds", lambda each, _: seconds[each.name])
    contestants = [Contestant(name, lambda x: x, 1) for name in seconds]
    monkeypatch.setattr(hybrid_simulation, "_contestants", lambda balls: contestants)
    assert hybrid_simulation.run(rounds=2, balls=3).ratio == pytest.approx(6.0)


def test_without_the_package_its_row_is_missing_and_the_note_says_so(monkeypatch, capsys, quick):
    monkeypatch.setattr(hybrid_simulation, "hybrid_tools", lambda: None)
    real = hybrid_simulation.run
    monkeypatch.setattr(hybrid_simulation, "run", lambda: real(1, 2))
    assert command_line(["bench", "hybrid", "--json"]) == 0
    captured = capsys.readouterr()
    printed = json.loads(captured.out)
    assert set(printed) == {"bench", "rows", "ratio", "ratio_one_python_simulation"}
    assert [row["name"] for row in printed["rows"]] == [*BALLS[:3], *SINGLE]
    assert "pip install hybrid-tools" in captured.err


def test_one_python_simulation_is_as_accurate_as_scipy():
    timed = same_error(rounds=1)
    assert [each.name for each in timed] == SINGLE[:3]
    assert timed[0].error < 1e-6 and all(each.error <= timed[0].error for each in timed)
    truth = ours()(1e-13)
    assert len(truth[0]) == IMPACTS and error_of(truth, scipy_way("RK45")(1e-12)) < 1e-7
    assert error_of((truth[0][1:], truth[1]), truth) == np.inf


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_first_simulation_in_a_fresh_process(name):
    (seconds,) = first_times(name, 1)
    assert 0.1 < seconds < 30.0  # of which the bench asks for at most 3


@pytest.mark.parametrize("shift", [1e-7, np.nan])
def test_other_trajectories_are_not_timed(shift):
    contestant = Contestant("other", lambda states: states + shift, 2)
    with pytest.raises(BadRequest, match="other ends"):
        difference(contestant, STATES, STATES)
    lenient = contestant._replace(must_agree=False)
    assert difference(lenient, STATES, STATES) == pytest.approx(shift, rel=1e-6, nan_ok=True)
