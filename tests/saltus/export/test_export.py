"""A recorded run as CSV files: read back, they hold what was recorded."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from saltus import open_run


def read_csv(path):
    """Column -> its values, as text."""
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    assert len({len(row) for row in rows}) == 1
    return {name: list(values) for name, *values in zip(*rows, strict=True)}


def test_csv_holds_every_digit_of_every_topic(walk, tmp_path, printed):
    result = printed("export", str(walk), "--csv", str(tmp_path / "csv"))
    recorded = open_run(walk)
    assert result["rows"] == recorded.topics
    assert result["files"] == [str(tmp_path / "csv" / f"{name}.csv") for name in recorded.topics]
    assert "plan/gains" in result["left_out"] and result["complete"] is True
    assert {path.name for path in (tmp_path / "csv").iterdir()} == {
        f"{name}.csv" for name in recorded.topics
    }
    truth, table = recorded["ground_truth"], read_csv(tmp_path / "csv" / "ground_truth.csv")
    for name, values in {
        "log_time [s]": truth.log_time, "tick": truth.tick, "time [s]": truth.time,
        "position_base_z [m]": truth.position_base[:, 2],
        "quaternion_base_w": truth.quaternion_base[:, 3],
        "velocity_base_x [m/s]": truth.velocity_base[:, 0],
        "joint_velocity_RL_calf_joint [rad/s]": truth.joint_velocity[:, 11],
        "foot_force_FL_z [N]": truth.foot_force[:, 1, 2], "contact_RR": truth.contact[:, 2],
        "trunk_contact": truth.trunk_contact,
    }.items():  # fmt: skip
        assert_array_equal(np.array(table[name], dtype=float), values)
    assert not {"q_0", "q"} & set(table) and len(table) == 4 + 19 + 18 + 12 + 4 + 12 + 2
    plans = read_csv(tmp_path / "csv" / "plan.csv")
    assert plans["status"] == list(recorded["plan"].status)


def test_topics_that_are_named_are_all_that_is_written(walk, tmp_path, printed):
    path = tmp_path / "out"
    wanted = ["--topic", "plan", "--topic", "motor_command"]
    rows = printed("export", str(walk / "run.mcap"), "--csv", str(path), *wanted)["rows"]
    assert rows == {"plan": 30, "motor_command": open_run(walk).topics["motor_command"]}


@pytest.mark.parametrize("options, words", [
    ("", "--csv"),
    ("--csv a --topic plan --topic truth", "there is: | ground_truth"),
    ("--csv file/a", "cannot be written"),
    ("--csv file", "cannot be written"),
])  # fmt: skip
def test_what_cannot_be_exported_leaves_nothing(
    walk, tmp_path, monkeypatch, refuses, options, words
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    refuses(f"export {walk} {options}", words)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "file"]


def test_a_full_disk_leaves_the_files_that_were_there(walk, tmp_path, refused, room_for):
    old = tmp_path / "plan.csv"
    old.write_text("old\n")
    with room_for(20_000):
        assert "cannot be written" in refused("export", str(walk), "--csv", str(tmp_path))
    assert list(tmp_path.iterdir()) == [old] and old.read_text() == "old\n"
