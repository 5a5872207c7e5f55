"""`saltus bench skf`: rows, ratio, and that all ways estimate the same."""

import json

import numpy as np
import pytest

from saltus.bench import filter_consistency, salted_filters
from saltus.bench.salted_filter_ways import (
    STEPS,
    compiled_batch,
    hybrid_tools,
    interpreted,
    measurements,
)
from saltus.cli.main import run as command_line
from saltus.common.errors import BadRequest


def test_every_way_estimates_the_same_to_rounding():
    ys = measurements(6, 3)
    estimates = compiled_batch()(ys)
    assert ys.shape == estimates.shape == (6, STEPS, 2)
    assert (estimates[:, 0, 0] < 0.0).all() and (estimates[:, -1, 0] > 0.0).all()
    np.testing.assert_allclose(interpreted()(ys), estimates, rtol=0, atol=1e-12)
    np.testing.assert_allclose(hybrid_tools()(ys), estimates, rtol=0, atol=1e-11)


def test_rows_and_ratio(monkeypatch):
    monkeypatch.setattr(salted_filters, "hybrid_tools", compiled_batch)
    result = salted_filters.run(rounds=2, trials=3)
    rows = {row["name"]: row for row in result.rows}
    assert list(rows) == ["compiled_batch", "interpreted", "hybrid_tools"]
    assert len({tuple(row) for row in result.rows}) == 1, "rows must have the same keys"
    assert (
        rows["compiled_batch"]["steps"] == 6 * STEPS and rows["interpreted"]["steps"] == 2 * STEPS
    )
    assert rows["interpreted"]["max_difference"] < 1e-12
    ratio = rows["hybrid_tools"]["median_us"] / rows["compiled_batch"]["median_us"]
    assert result.ratio == pytest.approx(ratio)


def test_a_salted_filter_says_where_it_is_not_consistent_and_the_bank_is():
    salted, bank, free, free_bank = filter_consistency.rows(6)
    assert salted["nees"] > 20.0 and 1.0 < salted["nees_ok"] < 4.0 and 0.7 < salted["ok"] < 0.97
    assert 1.0 < bank["nees"] < 4.0 and bank["ok"] == 1.0
    for row in (free, free_bank):  # no wall
        assert 1.2 < row["nees"] == row["nees_ok"] < 3.0 and row["ok"] == 1.0


def test_other_estimates_are_not_timed(monkeypatch):
    monkeypatch.setattr(salted_filters, "hybrid_tools", lambda: lambda ys: 0.0 * ys)
    with pytest.raises(BadRequest, match="hybrid_tools ends"):
        salted_filters.run(rounds=1, trials=2)


def test_without_the_package_there_is_no_ratio_and_the_note_says_why(monkeypatch, capsys):
    monkeypatch.setattr(salted_filters, "hybrid_tools", lambda: None)
    real = salted_filters.run
    monkeypatch.setattr(salted_filters, "run", lambda: real(1, 2))
    assert command_line(["bench", "skf", "--json"]) == 0
    captured = capsys.readouterr()
    printed = json.loads(captured.out)
    assert printed["ratio"] is None and len(printed["rows"]) == 2
    assert "pip install hybrid-tools" in captured.err
