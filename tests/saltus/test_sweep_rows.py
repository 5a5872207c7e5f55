"""One trial alone gives the row that it has in the sweep, whatever ran it."""

import json

import pytest

from saltus.cli import run
from saltus.trace import load_trace

SUITE = """
reference: stand
duration: 0.15
seeds: 2
simulation: {friction: 0.6}
trials: {kind: base_velocity, at: 0.05, value: [0, 0.3, 0]}
"""
KEYS = ["controller", "trial", "kind", "at", "value", "fell", "max_lateral_deviation_m",
        "solve_ms_p50", "group", "seed", "solve_ms_p99", "plans_failed", "plans_late",
        "not_tracking_ticks"]  # fmt: skip


@pytest.fixture
def rows_of(tmp_path, capsys, monkeypatch):
    (tmp_path / "suite.yaml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)

    def rows(*arguments: str) -> list[dict]:
        assert run(["perturb", "suite.yaml", "--json", *arguments]) == 0
        found = json.loads(capsys.readouterr().out)["rows"]
        assert all(list(row) == KEYS and row["solve_ms_p50"] > 0.0 for row in found)
        return [{k: v for k, v in row.items() if not k.startswith("solve_ms")} for row in found]

    return rows


def test_one_trial_alone_gives_the_row_of_the_sweep(rows_of, tmp_path):
    swept = rows_of("--jobs", "2", "--output", "sweep")
    assert [(row["trial"], row["seed"]) for row in swept] == [(0, 0), (1, 1)]
    assert swept[0]["max_lateral_deviation_m"] != swept[1]["max_lateral_deviation_m"]
    assert rows_of("--trial", "1") == [swept[1]]
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("suite-")
    alone = load_trace(folder / "traces" / "hilqr-1.npz")
    trace = load_trace(tmp_path / "sweep" / "traces" / "hilqr-1.npz")
    assert alone.q.tolist() == trace.q.tolist() and alone.costs.tolist() == trace.costs.tolist()
    assert trace.statuses == {"ok": 15} and len(trace.solve_ms) == 15
