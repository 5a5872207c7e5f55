"""The scoreboard: verdicts, the record, the page, sizes and the command's refusals."""

import math

import pytest

from saltus.bench.score import record as record_module
from saltus.bench.score.figures import Figure
from saltus.bench.score.record import BETTER, NEW, SAME, UNJUDGED, WORSE, Entry, judge, page, spark
from saltus.bench.score.size import size_of

HERE = "this computer"


def entry(value, better="lower", environment="", goal=None):
    return Entry("cost", "tick", "us", better, 0.1, 0.0, value, "abc", "2026-01-01", goal,
                 environment=environment)  # fmt: skip


def verdict(now, before, better="lower", exact=False, environment="", margin=0.0):
    figure = Figure("tick", "us", now, better, 0.1, margin, exact, group="cost")
    recorded = None if before is None else entry(before, better, environment)
    return judge(figure, recorded, HERE).verdict


@pytest.mark.parametrize("now, before, better, expected", [
    (100.0, None, "lower", NEW), (105.0, 100.0, "lower", SAME), (111.0, 100.0, "lower", WORSE),
    (89.0, 100.0, "lower", BETTER), (89.0, 100.0, "higher", WORSE), (95.0, 100.0, "higher", SAME),
    (111.0, 100.0, "higher", BETTER), (111.0, 100.0, "equal", WORSE), (89.0, 100.0, "equal", WORSE),
    (math.nan, 100.0, "lower", WORSE), (900.0, 100.0, "shown", UNJUDGED),
    (None, 100.0, "lower", UNJUDGED), ("ab", "ab", "equal", SAME), ("ab", "cd", "equal", WORSE),
])  # fmt: skip
def test_a_figure_is_judged_by_direction_and_tolerance(now, before, better, expected):
    assert verdict(now, before, better) == expected


def test_the_larger_of_tolerance_and_margin_counts():
    assert verdict(115.0, 100.0, margin=20.0) == SAME
    assert verdict(0.5, 0.0, margin=0.5) == SAME


def test_bits_are_compared_on_the_kind_of_computer_of_the_record_alone():
    assert verdict("ab", "cd", "equal", exact=True, environment=HERE) == WORSE
    assert verdict("ab", "cd", "equal", exact=True, environment="another") == UNJUDGED


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "score.yaml"
    monkeypatch.setattr(record_module, "FILE", path)
    return path


def test_a_record_keeps_goals_and_takes_over_only_what_is_better_or_accepted(file):
    now = {"tick": 50.0, "solve": 9.0, "bits": "new", "rate": 3.0}
    record = {
        ("cost", name): entry(value, goal=40.0)._replace(figure=name)
        for name, value in (("gone", 1.0), ("tick", 100.0), ("solve", 5.0), ("bits", "old"))
    }
    figures = [Figure(name, "us", value, "lower", 0.1, group="cost") for name, value in now.items()]
    figures[1] = figures[1]._replace(better="shown")  # beside other load
    judgements = [judge(each, record.get((each.group, each.name)), HERE) for each in figures]
    written = record_module.write_record(record, judgements, HERE, ["cost: bits"])
    assert written == ["cost: gone", "cost: tick", "cost: bits", "cost: rate"]
    again = record_module.read_record(file.read_text())
    assert {name: each.value for (_, name), each in again.items()} == now | {"solve": 5.0}
    assert again["cost", "tick"].goal == 40.0 and again["cost", "rate"].goal is None


def test_the_page_has_a_list_for_each_group_with_the_history_of_each_figure():
    before, now = {("cost", "tick"): entry(200.0)}, {("cost", "tick"): entry(100.0, goal=50.0)}
    names = ("tick: a", "tick: a, b", "tick: a, c")
    now |= {("cost", name): entry(1.0)._replace(figure=name) for name in names}
    text = page(now, [before])
    assert "## Cost" in text and "- tick: **100 us ↓**, goal 50 █▁; a **1 us ↓** ▁\n" in text
    assert "- tick: a: b **1 us ↓** ▁; c **1 us ↓** ▁\n" in text
    assert spark(["a"]) == "" and spark([1.0, 1.0]) == "▁"


@pytest.mark.parametrize("figure", ["behaviour:push 2.5 m/s", "no group"])
def test_a_figure_that_is_accepted_must_be_in_the_record(refused, figure):
    assert "'GROUP: FIGURE'" in refused("score", "--record", "--accept", figure)



def test_docstrings_imports_and_comments_are_no_code():
    text = '"""Doc."""\nimport os\n\n\ndef f() -> int:\n    """Doc."""\n    return 1  # one\n'
    assert size_of(text) == (1, 7, 9)
