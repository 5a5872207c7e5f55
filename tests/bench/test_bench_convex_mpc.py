"""`saltus bench convex_mpc`: rows, ratio, and the problems."""

import numpy as np
import pytest

from controller.gaits import TROT
from saltus.bench.convex_mpc import bench
from saltus.bench.convex_mpc.problems import walking_problems
from saltus.bench.convex_mpc.solvers import RawOsqp, condensed


def test_rows_and_ratio():
    pytest.importorskip("piqp")
    pytest.importorskip("proxsuite")
    result = bench.run(count=3)
    rows = {(row["problem"], row["solver"]): row for row in result.rows}
    assert [name for problem, name in rows if problem == "instant_qp"] == [
        "ours", "raw_osqp", "piqp", "proxqp"
    ]  # fmt: skip
    assert len({tuple(row) for row in result.rows}) == 1, "rows must have the same keys"
    for row in result.rows:
        assert 0.0 < row["ms_p50"] <= row["ms_p99"]
        assert row["error_n"] < 0.5, row
    bounds = {key: row["bound_ms"] for key, row in rows.items() if row["bound_ms"] is not None}
    assert bounds == {(name, "ours"): bound for name, bound in bench.BOUNDS_MS.items()}


def test_ratio_and_bounds_are_of_named_solvers(monkeypatch):
    ms = {("convex_mpc", "ours"): 1.9, ("convex_mpc", "raw_osqp"): 19.0,
          ("hard_pushes", "ours"): 2.1, ("instant_qp", "ours"): 0.2}  # fmt: skip

    def rows(contest):
        return [
            {"problem": problem, "solver": solver, "ms_p50": value}
            for (problem, solver), value in ms.items() if problem == contest.problem
        ]  # fmt: skip

    monkeypatch.setattr(bench, "measure", rows)
    result = bench.run(count=1)
    assert result.ratio == pytest.approx(10.0)
    assert [criterion.met for criterion in result.criteria] == [True, False, True]


def test_without_the_packages_their_rows_are_missing_and_the_note_says_so(monkeypatch):
    monkeypatch.setattr(bench, "package", lambda name: None)
    result = bench.run(count=1)
    assert {row["solver"] for row in result.rows} == {"ours", "raw_osqp", "osqp_dense"}
    assert "saltus[qp]" in result.note


def test_problems_are_the_same_in_every_run_and_the_body_stays_up():
    first, second = (walking_problems(TROT, 60, 4, 3) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        assert a.x0.tobytes() == b.x0.tobytes() and a.arms.tobytes() == b.arms.tobytes()
    states = np.array([each.x0 for each in first])
    assert np.abs(states[:, :3]).max() < 0.2 and 0.2 < states[:, 5].min()
    assert np.ptp(states[:, 10]) > 0.2, "no push was felt"


def test_eliminating_the_states_changes_no_force():
    contest = bench.horizon_contest("convex_mpc", walking_problems(TROT, 2, 10, 3))
    mpc = bench.ForceMpc(
        bench.standing_body(), 10, bench.ForceMpcWeights(), 0.6, 200.0, 10.0
    )
    mpc.solve(*walking_problems(TROT, 1, 10, 3)[0])
    small = condensed(mpc.qp.programme())
    forces = 13.741 * 9.81 * RawOsqp(**bench.EXACT).solve(small)
    np.testing.assert_allclose(forces, contest.exact[0], atol=1e-2)
