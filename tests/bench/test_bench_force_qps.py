"""`saltus bench convex_mpc`: its rows, its ratio, and that its problems are those it says."""

import numpy as np
import pytest

from controller.gaits import TROT
from saltus.bench import force_qps
from saltus.bench.force_problems import walking_problems
from saltus.bench.force_qp_ways import condensed, raw_osqp


def test_rows_and_ratio():
    pytest.importorskip("piqp")
    pytest.importorskip("proxsuite")
    result = force_qps.run(count=3)
    rows = {(row["problem"], row["solver"]): row for row in result.rows}
    assert [name for problem, name in rows if problem == "instant_qp"] == [
        "ours", "raw_osqp", "piqp", "proxqp"
    ]  # fmt: skip
    assert len({tuple(row) for row in result.rows}) == 1, "rows must have the same keys"
    for row in result.rows:
        assert 0.0 < row["ms_p50"] <= row["ms_p99"]
        assert row["error_n"] < 0.5, row
    slow, ours = rows["convex_mpc", "raw_osqp"], rows["convex_mpc", "ours"]
    assert result.ratio == pytest.approx(slow["ms_p50"] / ours["ms_p50"])


def test_without_the_packages_their_rows_are_missing_and_the_note_says_so(monkeypatch):
    monkeypatch.setattr(force_qps, "package", lambda name: None)
    result = force_qps.run(count=1)
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
    contest = force_qps.horizon_contest("convex_mpc", walking_problems(TROT, 2, 10, 3))
    mpc = force_qps.ForceMpc(
        force_qps.standing_body(), 10, force_qps.ForceMpcWeights(), 0.6, 200.0, 10.0
    )
    mpc.solve(*walking_problems(TROT, 1, 10, 3)[0])
    small = condensed(mpc.qp.programme())
    forces = 13.741 * 9.81 * raw_osqp(**force_qps.EXACT)(small)
    np.testing.assert_allclose(forces, contest.exact[0], atol=1e-2)
