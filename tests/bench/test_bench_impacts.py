"""`saltus bench impacts`: its rows, and that the ratio is that of the slower bound."""

from saltus.bench import impacts


def test_rows_name_every_system_and_two_have_a_bound():
    result = impacts.run(rounds=1, samples=64, whole=128)
    assert [row["system"] for row in result.rows] == [*impacts.CASES, "compass gait"]
    bounds = {(row["system"], row["samples"]): row["bound_us"] for row in result.rows}
    bounded = {key: bound for key, bound in bounds.items() if bound is not None}
    assert bounded == {("rocking block", 64): 20.0, ("compass gait", 128): 60e6 / 2**20}
    assert all(row["microseconds_per_sample"] > 0.0 for row in result.rows)


def test_the_ratio_is_of_the_slower_one(monkeypatch):
    monkeypatch.setattr(impacts.Times, "median", lambda *_: 30.0)  # us a sample
    result = impacts.run(rounds=1, samples=8, whole=8)
    assert result.ratio == 1.5  # of the block's 20 us; the gait may take 57
    assert [criterion.met for criterion in result.criteria] == [False, True]
