"""The benchmark of sampled impacts: its rows, and that the ratio is that of the slower bound."""

import pytest

from saltus.bench import impacts


def test_rows_name_every_system_and_the_ratio_is_of_the_slower_one():
    result = impacts.run(rounds=1, samples=64, whole=128)
    systems = [row["system"] for row in result.rows]
    assert systems == [*impacts.CASES, "compass gait"]
    bounded = [row for row in result.rows if row["bound_us"] is not None]
    assert [row["system"] for row in bounded] == ["rocking block", "compass gait"]
    assert bounded[1]["samples"] == 128
    shares = [row["microseconds_per_sample"] / row["bound_us"] for row in bounded]
    assert result.ratio == pytest.approx(max(shares))
    assert all(row["microseconds_per_sample"] > 0.0 for row in result.rows)
