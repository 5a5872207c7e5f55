"""`saltus bench terrain`: the same trot on every ground, and its ratio."""

import json

import numpy as np
import pytest

from robots.terrain import height_at
from saltus.bench import terrain
from saltus.bench.contest import Times
from saltus.bench.terrain import BOXES, FLAT, GROUNDS, make_trot
from saltus.cli.main import run as command_line
from sim_bridge.ground import ground_of

KEYS = [
    "ground", "candidates", "knots", "loaded_feet", "ms_p50", "ms_p99", "ratio_to_flat",
]  # fmt: skip


@pytest.mark.slow
def test_the_robot_trots_on_the_obstacle_with_as_many_feet_loaded_as_on_the_floor() -> None:
    flat = make_trot(ground_of(GROUNDS[FLAT]))
    heights = set()
    for name, description in GROUNDS.items():
        ground = ground_of(description)
        trot = make_trot(ground)
        batch = trot.rollout.roll_out(trot.x0, trot.policies)
        assert batch.finite.all()
        x, y, z = batch.states[:, :, :3].transpose(2, 0, 1)
        below = np.vectorize(lambda *place, on=ground: height_at(on, *place))(x, y)
        assert (z - below > 0.15).all(), f"the robot falls on {name}"
        assert trot.loaded_feet() == pytest.approx(flat.loaded_feet(), rel=0.1)
        heights.add(round(float(below[0, 0]), 3))
    assert len(heights) == len(GROUNDS), "some ground is not where the robot is"


@pytest.mark.slow
def test_rows_and_ratio_are_printed_as_one_object(monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    real = terrain.run
    monkeypatch.setattr(terrain, "run", lambda: real(0.05))
    command_line(["bench", "terrain", "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert list(printed)[:3] == ["bench", "rows", "ratio"]
    rows = {row["ground"]: row for row in printed["rows"]}
    assert list(rows) == list(GROUNDS) and all(list(row) == KEYS for row in rows.values())
    assert rows[FLAT]["ratio_to_flat"] == 1.0
    assert printed["ratio"] == rows[BOXES]["ratio_to_flat"]


@pytest.mark.slow
def test_the_criterion_is_on_boxes(monkeypatch) -> None:
    monkeypatch.setattr(Times, "median", lambda _, name, unit=1.0: 1.0 + (name == BOXES))
    result = terrain.run(0.05)
    assert result.ratio == 2.0 and [each.met for each in result.criteria] == [False]
