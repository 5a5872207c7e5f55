"""A recorded run as a file of Rerun's viewer: read back, it holds what the run did."""

import builtins
import csv
import json
import re

import numpy as np
import pytest

from runtime.recording import Recorder
from saltus import open_run
from saltus.cli import main
from saltus.configuration.launch import load_launch, write_config
from saltus.export.arrays import _joined
from saltus.export.motion import motion_of_run
from saltus.recording.robot_scene import RobotScene
from tests.a1 import A1
from tests.saltus.short_walk import record_walk


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a recorded run."""
    folder = tmp_path_factory.mktemp("walk")
    record_walk(folder)
    return folder


def read_back(path):
    """Entity -> its rows, each component a list over time."""
    chunk = pytest.importorskip("rerun.chunk")
    entities = {}
    for each in chunk.RrdReader(str(path)).stream():
        batch = each.to_record_batch()
        columns = entities.setdefault(each.entity_path, {})
        for name, values in zip(batch.schema.names, batch.columns, strict=True):
            columns.setdefault(name, []).extend(values.to_pylist())
    return entities


def test_the_file_holds_the_run(run, tmp_path, capsys):
    path = tmp_path / "out.rrd"
    assert main.run(["export", str(run), "--rerun", str(path), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    motion = motion_of_run(run)
    expected = {"file": str(path), "bytes": path.stat().st_size, "seconds": 0.28, "states": 15,
                "plans": 30, "paths": 6}  # fmt: skip
    assert result == expected

    entities = read_back(path)
    for entity, states in (("trunk", motion.truth), ("estimate", motion.estimate)):
        rows = entities[f"/world/{entity}"]
        times = [time.total_seconds() for time in rows["time"]]
        np.testing.assert_allclose(times, np.array(states.time) - motion.truth.time[0], atol=1e-9)
        q, position = np.array(states.q), np.array(rows["Transform3D:translation"])[:, 0]
        np.testing.assert_allclose(position, q[:, :3], atol=1e-6)
        quaternion = np.array(rows["Transform3D:quaternion"])[:, 0]
        np.testing.assert_allclose(quaternion, q[:, 3:7], atol=1e-6)
    calf = entities["/world/trunk/RL_hip/RL_thigh/RL_calf"]
    assert len(calf["time"]) == 15
    assert {name.rsplit("/", 1)[-1] for name in entities} >= {
        link.name for link in RobotScene(A1).links
    }
    angle = np.array(entities["/joints/FR_thigh_joint"]["Scalars:scalars"])[:, 0]
    np.testing.assert_allclose(angle, np.array(motion.truth.q)[:, 8], atol=1e-9)
    assert len(entities["/world/plan"]["time"]) == 6
    assert len(entities["/plots/solve_ms"]["time"]) == 30
    commanded = np.array(entities["/plots/forward/commanded"]["Scalars:scalars"])
    assert (commanded == load_launch("sim").speed).all()
    assert [file.name for file in tmp_path.iterdir()] == ["out.rrd"]


def test_a_run_that_was_cut_off_gives_what_it_holds(run, tmp_path):
    data = (run / "run.mcap").read_bytes()
    (tmp_path / "run.mcap").write_bytes(data[: len(data) // 2])
    (tmp_path / "launch.yaml").write_bytes((run / "launch.yaml").read_bytes())
    cut, whole = motion_of_run(tmp_path), motion_of_run(run)
    assert 0 < len(cut.truth.time) < len(whole.truth.time)
    assert cut.truth.time == whole.truth.time[: len(cut.truth.time)]


@pytest.mark.parametrize("what", ["no run", "another file", "no states", "no folder", "no rerun"])
def test_what_cannot_be_done_is_one_line(run, tmp_path, monkeypatch, capsys, what):
    folder, path = run, tmp_path / "out.rrd"
    expected = {"no run": "launch.yaml", "another file": "another version",
                "no states": "no states", "no folder": "cannot be written",
                "no rerun": "pip install 'saltus[rerun]'"}[what]  # fmt: skip
    if what in ("no run", "another file", "no states"):
        folder = tmp_path / "run"
        folder.mkdir()
    if what in ("another file", "no states"):
        write_config(load_launch("sim"), folder / "launch.yaml")
        Recorder(folder / "run.mcap").close()
    if what == "another file":
        (folder / "run.mcap").write_text("these are my notes, and long enough")
    if what == "no folder":
        path = tmp_path / "nowhere" / "out.rrd"
    if what == "no rerun":
        real = builtins.__import__

        def without(name, *rest, **more):
            if name == "rerun":
                raise ImportError(name)
            return real(name, *rest, **more)

        monkeypatch.setattr(builtins, "__import__", without)
    assert main.run(["export", str(folder), "--rerun", str(path)]) == main.BAD_REQUEST
    told = capsys.readouterr()
    assert told.out == "" and len(told.err.splitlines()) == 1 and expected in told.err
    assert not path.exists()


def read_csv(path):
    """Column -> its values, as text."""
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    assert len({len(row) for row in rows}) == 1
    return {name: list(values) for name, *values in zip(*rows, strict=True)}


def test_csv_holds_every_digit_of_every_topic(run, tmp_path, capsys):
    assert main.run(["export", str(run), "--csv", str(tmp_path / "csv"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    recorded = open_run(run)
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
        np.testing.assert_array_equal(np.array(table[name], dtype=float), values)
    assert not {"q_0", "q"} & set(table) and len(table) == 4 + 19 + 18 + 12 + 4 + 12 + 2
    plans = read_csv(tmp_path / "csv" / "plan.csv")
    assert plans["status"] == list(recorded["plan"].status)


def test_npz_holds_every_field_of_every_topic(run, tmp_path, capsys):
    path = tmp_path / "walk.of.mine"  # numpy would add an ending
    assert main.run(["export", str(run), "--npz", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"{path}: ")
    recorded = open_run(run)
    with np.load(path) as arrays:
        for name in recorded:
            for field in recorded[name].fields:
                values, stored = getattr(recorded[name], field), arrays[f"{name}/{field}"]
                if isinstance(values, list):
                    rows = arrays[f"{name}/{field}_rows"]
                    assert rows.tolist() == [len(value) for value in values]
                    for value, own in zip(
                        values, np.split(stored, np.cumsum(rows)[:-1]), strict=True
                    ):
                        np.testing.assert_array_equal(own, value)
                else:
                    np.testing.assert_array_equal(stored, values)
        assert len(arrays["plan/states_q_rows"]) == 30


def test_candidates_whose_number_changes_are_filled_with_nan():
    """Somebody tunes the step sizes while the planner runs."""
    joined = _joined([np.ones((2, 3)), np.full((1, 5), 2.0)])
    np.testing.assert_array_equal(joined[:2], [[1.0, 1.0, 1.0, np.nan, np.nan]] * 2)
    np.testing.assert_array_equal(joined[2], np.full(5, 2.0))


@pytest.mark.parametrize("option", ["--csv", "--npz"])
def test_topics_that_are_named_are_all_that_is_written(run, tmp_path, capsys, option):
    path = tmp_path / "out"
    wanted = ["--topic", "plan", "--topic", "motor_command"]
    assert main.run(["export", str(run / "run.mcap"), option, str(path), *wanted, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows == {"plan": 30, "motor_command": open_run(run).topics["motor_command"]}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "--rerun FILE, --csv FOLDER and --npz FILE"),
        (["--csv", "a", "--npz", "b"], "--rerun FILE, --csv FOLDER and --npz FILE"),
        (["--rerun", "a", "--topic", "plan"], "--topic goes with --csv and --npz"),
        (["--csv", "a", "--topic", "plan", "--topic", "truth"], "there is: .*ground_truth"),
        (["--npz", "a", "--topic", "push"], "there is: .*ground_truth"),
        (["--csv", "file/a"], "cannot be written"), (["--csv", "file"], "cannot be written"),
        (["--npz", "none/a"], "cannot be written"), (["--npz", "folder"], "cannot be written"),
    ],
)  # fmt: skip
def test_what_cannot_be_exported_leaves_nothing(run, tmp_path, monkeypatch, capsys, options, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    assert main.run(["export", str(run), *options]) == main.BAD_REQUEST
    output = capsys.readouterr()
    assert output.out == "" and len(output.err.splitlines()) == 1
    assert re.search(words, output.err)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "file"]


def test_a_full_disk_leaves_the_files_that_were_there(run, tmp_path, capsys, room_for):
    old = tmp_path / "plan.csv"
    old.write_text("old\n")
    for options in (["--csv", str(tmp_path)], ["--npz", str(tmp_path / "plan.csv")]):
        with room_for(20_000):
            assert main.run(["export", str(run), *options]) == main.BAD_REQUEST
        assert "cannot be written" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == [old] and old.read_text() == "old\n"
