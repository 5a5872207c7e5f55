"""``saltus motion plan``: what it writes, and how it ends."""

import json

import pytest

from controller.references import load_reference
from saltus.launch import references as motions

SQUAT = """
phases:
  - {name: squat, duration: 0.1, end: {position: [0.0, 0.0, 0.28], front: [0.0, 0.9, -1.75], rear: [0.0, 0.9, -1.75]}}
  - {name: stand, duration: 0.1}
"""  # noqa: E501


@pytest.fixture
def plan(tmp_path, printed):
    def make(text, status=0):
        (tmp_path / "squat.yaml").write_text(text)
        paths = str(tmp_path / "squat.yaml"), "--output", str(tmp_path / "out")
        return printed("motion", "plan", *paths, status=status)

    return make


def test_a_plan_is_written_with_its_pictures_and_a_launch_plans_no_other(
    tmp_path, plan, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    summary = plan(SQUAT)
    assert summary["motion"] == "squat" and summary["violation"] <= 1e-2
    assert load_reference(tmp_path / "out" / "reference.npz", 0.01).size == 21
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == summary
    assert (tmp_path / "out" / "torques.png").read_bytes()[:4] == b"\x89PNG"
    monkeypatch.setattr(motions, "make_plan", None)
    kept = motions.planned_motion(str(tmp_path / "squat.yaml"), "a1")
    assert kept.read_bytes() == (tmp_path / "out" / "reference.npz").read_bytes()


def test_where_limits_cannot_be_kept_no_reference_is_written(tmp_path, plan):
    told = plan(SQUAT + "limits: {knee_clearance: 0.4}\n", status=1)
    assert "at knot" in told["message"]
    assert not (tmp_path / "out" / "reference.npz").exists()
