"""``saltus motion plan``: what it writes, and how it ends."""

import json

from controller.references import load_reference
from saltus.cli.main import run
from saltus.launch import references as motions

SQUAT = """
phases:
  - {name: squat, duration: 0.1, end: {position: [0.0, 0.0, 0.28], front: [0.0, 0.9, -1.75], rear: [0.0, 0.9, -1.75]}}
  - {name: stand, duration: 0.1}
"""  # noqa: E501


def plan(tmp_path, text, capsys):
    (tmp_path / "squat.yaml").write_text(text)
    code = run(["motion", "plan", str(tmp_path / "squat.yaml"), "--output", str(tmp_path / "out"),
                 "--json"])  # fmt: skip
    out, err = capsys.readouterr()
    return code, out, err


def test_a_plan_is_written_with_its_pictures_and_a_launch_plans_no_other(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    code, out, _ = plan(tmp_path, SQUAT, capsys)
    summary = json.loads(out.splitlines()[-1])
    assert code == 0 and summary["motion"] == "squat" and summary["violation"] <= 1e-2
    assert load_reference(tmp_path / "out" / "reference.npz", 0.01).size == 21
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == summary
    assert (tmp_path / "out" / "torques.png").read_bytes()[:4] == b"\x89PNG"
    monkeypatch.setattr(motions, "make_plan", None)
    kept = motions.planned_motion(str(tmp_path / "squat.yaml"), "a1")
    assert kept.read_bytes() == (tmp_path / "out" / "reference.npz").read_bytes()


def test_where_limits_cannot_be_kept_no_reference_is_written(tmp_path, capsys):
    code, out, _ = plan(tmp_path, SQUAT + "limits: {knee_clearance: 0.4}\n", capsys)
    assert code == 1 and "at knot" in json.loads(out.splitlines()[-1])["message"]
    assert not (tmp_path / "out" / "reference.npz").exists()
