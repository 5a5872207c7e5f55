"""`saltus bench skf`: rows, ratio, and that all filters estimate the same."""

import json

import numpy as np
import pytest

from saltus.bench.skf import bench, consistency, filters
from saltus.cli.main import run as command_line
from saltus.common.errors import BadRequest


@pytest.mark.slow
def test_every_filter_estimates_the_same_to_rounding():
    ys = filters.measurements(6, 3)
    estimates = filters.compiled_batch(ys)
    assert ys.shape == estimates.shape == (6, filters.STEPS, 2)
    assert (estimates[:, 0, 0] < 0.0).all() and (estimates[:, -1, 0] > 0.0).all()
    np.testing.assert_allclose(filters.interpreted(ys), estimates, rtol=0, atol=1e-12)
    np.testing.assert_allclose(filters.HybridTools()(ys), estimates, rtol=0, atol=1e-11)


@pytest.fixture
def no_consistency(monkeypatch):
    monkeypatch.setattr(consistency, "rows", lambda trials: [])


@pytest.mark.slow
def test_rows_and_ratio(monkeypatch, no_consistency):
    medians = {"compiled_batch": 2.0, "interpreted": 30.0, "hybrid_tools": 50.0}
    monkeypatch.setattr(bench.Times, "median", lambda self, name, unit=1.0: medians[name])
    result = bench.run(rounds=2, trials=3)
    rows = {row["name"]: row for row in result.rows}
    assert list(rows) == ["compiled_batch", "interpreted", "hybrid_tools"]
    assert len({tuple(row) for row in result.rows}) == 1, "rows must have the same keys"
    steps = 2 * filters.STEPS
    assert [row["steps"] for row in rows.values()] == [3 * steps, steps, steps]
    assert rows["interpreted"]["max_difference"] < 1e-12
    assert result.ratio == 25.0  # of hybrid-tools to the batch


def test_a_salted_filter_says_where_it_is_not_consistent_and_the_bank_is():
    salted, bank, free, free_bank = consistency.rows(6)
    assert salted["nees"] > 20.0 and 1.0 < salted["nees_ok"] < 4.0 and 0.7 < salted["ok"] < 0.97
    assert 1.0 < bank["nees"] < 4.0 and bank["ok"] == 1.0
    for row in (free, free_bank):  # no wall
        assert 1.2 < row["nees"] == row["nees_ok"] < 3.0 and row["ok"] == 1.0


@pytest.mark.slow
def test_other_estimates_are_not_timed(monkeypatch):
    monkeypatch.setattr(filters, "HybridTools", lambda: lambda ys: 0.0 * ys)
    with pytest.raises(BadRequest, match="hybrid_tools"):
        bench.run(rounds=1, trials=2)


def missing():
    raise ImportError


def test_without_the_package_there_is_no_ratio(monkeypatch, capsys, no_consistency):
    monkeypatch.setattr(filters, "HybridTools", missing)
    real = bench.run
    monkeypatch.setattr(bench, "run", lambda: real(1, 2))
    assert command_line(["bench", "skf", "--json"]) == 0
    captured = capsys.readouterr()
    printed = json.loads(captured.out)
    assert set(printed) == {"bench", "rows", "ratio", "consistency"}
    assert printed["ratio"] is None and len(printed["rows"]) == 2
    assert "pip install hybrid-tools" in captured.err
