"""`saltus bench hybrid`: rows, ratio, and that only equal trajectories are timed."""

import pytest

from saltus.bench import hybrid as bench
from saltus.common.errors import BadRequest
from tests.refusals import refusal

pytestmark = pytest.mark.slow  # a minute of compilation


def test_rows_of_equally_accurate_simulations():
    result = bench.run(rounds=2, balls=3)
    rows = {row["name"]: row for row in result.rows}
    assert list(rows) == ["compiled_batch", "scipy", bench.OURS, "scipy_RK45", "scipy_DOP853"]
    assert len({tuple(row) for row in result.rows}) == 1  # rows must have the same keys
    assert rows["compiled_batch"]["trajectories"] == 6 and rows["scipy"]["trajectories"] == 2
    assert rows["scipy"]["max_difference"] < bench.AGREE
    for row in result.rows:
        assert 0.0 < row["p10_us"] <= row["median_us"] <= row["p90_us"]
    assert result.ratio == rows["scipy"]["median_us"] / rows["compiled_batch"]["median_us"]
    assert set(result.extra) == {"ratio_one_python_simulation"}
    errors = [rows[name]["max_difference"] for name in list(rows)[2:]]
    assert 1e-6 > errors[0] == max(errors)


def test_other_trajectories_are_not_timed(monkeypatch):
    monkeypatch.setattr(bench, "scipy", lambda states: states)
    assert "scipy" in refusal(BadRequest, bench.run, rounds=1, balls=1)
