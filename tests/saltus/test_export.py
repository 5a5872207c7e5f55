"""A recorded run as a file of Rerun's viewer: read back, it holds what the run did."""

import builtins
import json

import numpy as np
import pytest

from runtime.recording import Recorder
from saltus import cli
from saltus.benchmarks.recording import frames_of_run
from saltus.configuration import load_launch, write_config
from saltus.lockstep import LockStep
from saltus.recording.motion import motion_of_run
from saltus.recording.recorder import RunRecorder
from saltus.recording.robot_scene import LINKS

SECONDS = 0.3


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a recorded run."""
    folder = tmp_path_factory.mktemp("walk")
    config = load_launch("sim", duration=SECONDS)
    write_config(config, folder / "launch.yaml")
    with RunRecorder(folder / "run.mcap", config) as recorder:
        for at, frames in frames_of_run(LockStep(config)):
            for topic, frame in frames:
                recorder.write(topic, frame, at)
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
    assert cli.run(["export", str(run), "--rerun", str(path), "--json"]) == 0
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
    assert {name.rsplit("/", 1)[-1] for name in entities} >= {link.name for link in LINKS}
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
    assert cli.run(["export", str(folder), "--rerun", str(path)]) == cli.BAD_REQUEST
    told = capsys.readouterr()
    assert told.out == "" and len(told.err.splitlines()) == 1 and expected in told.err
    assert not path.exists()
