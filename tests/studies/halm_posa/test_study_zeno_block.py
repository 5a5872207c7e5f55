"""The study of the rocking block's accumulating impacts."""

import json

import pytest

from studies.halm_posa.zeno_block import simulate_impacts


@pytest.fixture(scope="module")
def result():
    return simulate_impacts(24)


def test_rows_are_plain_and_reach_the_accumulation(result):
    *cycles, total = json.loads(json.dumps(result.records))
    assert [row["half_cycle"] for row in cycles] == list(range(1, 25))
    assert total["half_cycle"] == "accumulation"
    assert max(total["time_error"], total["s_error"]) < 1e-3
    assert all(row["time_error"] < 1e-6 and row["s_error"] < 1e-6 for row in cycles)


def test_corners_take_turns(result):
    assert "".join(row["corner"] for row in result.records[:-1]) == "BA" * 12


def test_says_whether_what_was_asked_for_was_met(result):
    assert any(", within the 0.001" in note for note in result.notes)
    early = simulate_impacts(3)
    assert any("NOT within" in note for note in early.notes)
    late = simulate_impacts(60)
    assert "Ended early" in late.notes[-1] and "\n" not in late.notes[-1]
    assert late.records[-1]["time_error"] < 1e-6


def test_draws_both_figures(result):
    assert set(result.figures) == {"figure-7", "figure-8"}
    assert len(result.figures["figure-8"].axes) == 3
