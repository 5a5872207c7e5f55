"""`saltus bench planner`: its rows, and what a peer that is missing or fails says."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from pytest import approx

from saltus.bench import planner
from saltus.bench.planner import ask_peer
from saltus.cli.main import run as command_line
from saltus.common.errors import BadRequest
from studies.a1.systems.planner_cases import make_cases, make_workbench, save_cases
from tests.refusals import refusal

FAKE_PEER = """
import json, sys
_, cases, threads, repeat = sys.argv
print(json.dumps({"crocoddyl": "0", "pinocchio": "0", "ms": [1.0 + int(threads)] * int(repeat)}))
"""


@pytest.fixture(scope="module")
def bench():
    return make_workbench()


@pytest.fixture
def fake(tmp_path):
    script = tmp_path / "peer.py"
    script.write_text(FAKE_PEER)
    return [sys.executable, str(script)]


@pytest.mark.slow
def test_rows_and_ratios(fake):
    result = planner.run(cases=2, rounds=1, peer_command=fake)
    rows = {row["name"]: row for row in result.rows}
    assert len({tuple(row) for row in result.rows}) == 1  # rows must have the same keys
    for name in ["iteration", "linearise", "backward", "line_search", "bare_stepping"]:
        row = rows[name]
        assert row["n"] == 2 * planner.REPEAT
        assert 0.0 < row["p10_ms"] <= row["median_ms"] <= row["p90_ms"]
    # The fake answers 2 ms on one thread and 3 ms on two: the faster one counts.
    assert rows["crocoddyl_1_thread"]["median_ms"] == approx(2.0)
    assert rows["crocoddyl_2_threads"]["n"] == planner.REPEAT
    bounds = {row["name"]: row["at_most"] for row in result.rows if row["at_most"] is not None}
    assert bounds["line_search_over_bare"] == 1.3 and bounds["ratio_as_run"] == 0.7


def test_cases_are_walking_states_with_touchdowns_ahead(bench, tmp_path):
    cases = make_cases(bench, 6)
    save_cases(tmp_path / "cases.npz", bench, cases)
    with np.load(tmp_path / "cases.npz") as saved:
        assert saved["states"].shape == (6, 51, 37) and saved["inputs"].shape == (6, 50, 12)
        assert_array_equal(saved["x0"][3], cases[3].x0)
    for case in cases:
        assert np.linalg.norm(case.x0[3:7]) == approx(1.0)
        assert (case.window.contacts[1:] > case.window.contacts[:-1]).any()


@pytest.mark.parametrize("body, said", [
    ("raise SystemExit('no wheel here')", "no wheel here"),
    ("print('hello')", "hello"),
    ("print('{', flush=True); raise RuntimeError('it broke')", "it broke"),
])  # fmt: skip
def test_a_peer_that_fails_is_one_line_that_names_the_remedy(tmp_path, body, said):
    script = tmp_path / "broken.py"
    script.write_text(body)
    line = refusal(BadRequest, lambda: ask_peer([sys.executable, str(script)], 1))
    assert said in line and "make peers" in line


def test_a_missing_environment_names_the_remedy(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(planner, "ROOT", tmp_path)
    assert command_line(["bench", "planner", "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and "make peers" in captured.err and captured.err.count("\n") == 1
