"""The code of docs/suites.md: its suites parse, one of them runs, and its Python reads the rows."""

import re
from pathlib import Path

from pytest import approx

from saltus.sweep.conditions import Conditions
from saltus.sweep.trials import make_trials
from sim_bridge.suites import Group, keys_of, parse_suite
from tests.docs.doc_code import blocks

PAGE = Path(__file__).parents[2] / "docs" / "suites.md"
SUITES = blocks(PAGE, "yaml")


def rows_of(suite):
    trials = make_trials(parse_suite(suite), "hilqr", "paused", "suite")
    return [trial.labels | {"group": trial.group} for trial in trials]


def test_the_suites_stand_for_the_trials_that_the_page_says():
    assert [len(rows_of(suite)) for suite in SUITES] == [2, 8, 4 + 2 * 4 + 2 + 3]


def test_conditions_are_named_as_on_the_page():
    text = " ".join(PAGE.read_text().split())
    conditions = list(Conditions(rows_of(SUITES[-1])))
    assert len(conditions) == 5
    for condition in conditions:
        assert f"*{condition.words}*" in text


def test_the_first_suite_runs_and_the_code_reads_its_rows(tmp_path, monkeypatch, capsys, printed):
    monkeypatch.chdir(tmp_path)
    Path("first.yaml").write_text(SUITES[0])
    (command,) = re.findall(r"^saltus (perturb first.yaml .*)$", PAGE.read_text(), re.MULTILINE)
    told = printed(*command.split())
    assert len(told["rows"]) == 4 and not any(row["fell"] for row in told["rows"])
    pages = blocks(PAGE, "python")
    assert len(pages) == 2
    for code in pages:
        exec(compile(code, str(PAGE), "exec"), {})
    out = capsys.readouterr().out
    all_trials = told["pairs"][-1]
    assert (all_trials["planner"], all_trials["rival"], all_trials["trials"]) == (
        "hilqr", "convex_mpc", 2
    )  # fmt: skip
    for entry in told["summary"]:
        assert f"{entry['condition']} {entry['planner']} 1/1\n" in out
    assert "4 of 4 successful" in out
    side = float(re.findall(r"([\d.]+) m peak lateral deviation", out)[0])
    assert side == approx(told["rows"][0]["max_lateral_deviation_m"], abs=2e-3)
    documented = set(re.findall(r"`(\w+)`", PAGE.read_text().split("## What a row holds")[1]))
    assert set(told["rows"][0]) <= documented
    assert set(told["summary"][0]) - set(told["rows"][0]) <= documented | {
        "magnitude", "mean_max_lateral_deviation_m", "largest_lateral_deviation_m"
    }  # fmt: skip


def test_every_key_of_a_suite_is_on_the_page():
    table = PAGE.read_text().split("## Keys of a suite")[1].split("## Events")[0]
    heads = " ".join(re.findall(r"^- (`.*?):", table, re.M))
    assert {*keys_of(Group)[:-1], "groups"} == set(re.findall(r"`(\w+)`", heads))
