"""`saltus bench hybrid`: rows, ratio, and that only equal trajectories are timed."""

import json

import numpy as np
import pytest

from hybrid.examples.bouncing_ball import GRAVITY, RESTITUTION
from saltus.benchmarks import hybrid_simulation
from saltus.benchmarks.bouncing_ball_ways import (
    DURATION,
    compiled_batch,
    falling_balls,
    hybrid_tools,
    interpreted,
    scipy_restarted,
)
from saltus.benchmarks.hybrid_simulation import Contestant, difference
from saltus.cli import run as command_line
from saltus.errors import BadRequest

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


@pytest.mark.parametrize("make", [compiled_batch, interpreted, scipy_restarted, hybrid_tools])
def test_every_way_ends_where_the_closed_form_does(make):
    way, states = make(), STATES[:1] if make is hybrid_tools else STATES
    ends = np.array([closed_form(x) for x in states])
    np.testing.assert_allclose(way(states), ends, atol=1e-3 if make is hybrid_tools else 1e-9)


def test_rows_and_ratio(monkeypatch):
    monkeypatch.setattr(hybrid_simulation, "hybrid_tools", lambda: lambda x: x + np.nan)
    result = hybrid_simulation.run(rounds=2, balls=3)
    rows = {row["name"]: row for row in result.rows}
    assert list(rows) == ["compiled_batch", "interpreted", "scipy", "hybrid_tools"]
    assert len({tuple(row) for row in result.rows}) == 1, "rows must have the same keys"
    assert rows["compiled_batch"]["trajectories"] == 6 and rows["scipy"]["trajectories"] == 2
    assert rows["interpreted"]["max_difference"] < 1e-8
    for row in result.rows:
        assert 0.0 < row["p10_us"] <= row["median_us"] <= row["p90_us"]
    ratio = rows["scipy"]["median_us"] / rows["compiled_batch"]["median_us"]
    assert result.ratio == pytest.approx(ratio)
    assert "fixed tolerances" in result.note and "1e-10" in result.note


def test_without_the_package_its_row_is_missing_and_the_note_says_so(monkeypatch, capsys):
    monkeypatch.setattr(hybrid_simulation, "hybrid_tools", lambda: None)
    real = hybrid_simulation.run
    monkeypatch.setattr(hybrid_simulation, "run", lambda: real(1, 2))
    assert command_line(["bench", "hybrid", "--json"]) == 0
    captured = capsys.readouterr()
    printed = json.loads(captured.out)
    assert set(printed) == {"bench", "rows", "ratio"} and len(printed["rows"]) == 3
    assert "pip install hybrid-tools" in captured.err


@pytest.mark.parametrize("shift", [1e-7, np.nan])
def test_other_trajectories_are_not_timed(shift):
    contestant = Contestant("other", lambda states: states + shift, 2)
    with pytest.raises(BadRequest, match="other ends"):
        difference(contestant, STATES, STATES)
    lenient = contestant._replace(must_agree=False)
    assert difference(lenient, STATES, STATES) == pytest.approx(shift, rel=1e-6, nan_ok=True)
