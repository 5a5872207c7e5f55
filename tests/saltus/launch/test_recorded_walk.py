"""The recorded walk: walked once, found again, named by what it depends on, never half there."""

import msgspec
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from controller.references import ReferenceTrajectory, load_reference
from saltus.common.errors import BadRequest
from saltus.configuration.launch import load_launch
from saltus.launch import references as recorded_walk
from tests.a1 import A1
from tests.refusals import refusal

replace = msgspec.structs.replace


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "saltus" / "walks"


def config(*assignments, **changes):
    return replace(load_launch("sim", ["reference_from=convex_mpc", *assignments]), **changes)


def standing(rows=60):
    """A trajectory that stands still."""
    q = np.concatenate([[0.0, 0.0, 0.3], [0.0, 0.0, 0.0, 1.0], A1.stand.ravel()])
    return ReferenceTrajectory(
        "stand", 0.001, np.tile(q, (rows, 1)), np.zeros((rows, 18)), np.ones((rows, 12)),
        np.ones((rows, 4)),
    )  # fmt: skip


@pytest.fixture
def walked(monkeypatch):
    """The launches that were recorded, without walking any."""
    seen = []
    monkeypatch.setattr(recorded_walk, "record", lambda walk: seen.append(walk) or standing())
    return seen


@pytest.mark.parametrize("planner", ["hilqr", "convex_mpc"])
def test_a_recording_is_what_the_robot_did(planner):
    """Any planner stands for 0.3 s: the height of a stand, torques that hold it, all feet down."""
    walk = recorded_walk.walk_of(config("hilqr.paused.threads=1", reference="stand"), planner)
    assert walk.planner == planner and walk.simulation.sensors.noise == 0.0
    found = recorded_walk.record(replace(walk, duration=0.3))
    assert (found.size, found.period, found.loop) == (300, 0.001, 1)
    assert np.abs(found.q[:, 2] - 0.298).max() < 0.005 and np.abs(found.q[:, :2]).max() < 0.005
    weighed = found.inputs[100:].mean(0).reshape(4, 3)
    assert (weighed[:, 2] > 2.0).all()  # the calves carry the trunk
    assert (found.contacts[100:] == 1.0).all()


def test_the_last_stride_loops(monkeypatch):
    """It goes on where the run would have, a stride after its first sample, at the same height."""
    monkeypatch.setattr(recorded_walk, "STRIDES", 0)
    walk = recorded_walk.walk_of(config(reference="stand"), "instant_qp")
    found = recorded_walk.record(walk)
    assert found.loop == 500 and found.size == 800
    longer = recorded_walk.record(replace(walk, duration=0.801)).q
    assert_array_equal(found.q, longer[:-1])
    assert_array_equal(found.loop_shift[:2], longer[800, :2] - longer[300, :2])
    assert found.loop_shift[2] == 0.0


def test_a_walk_is_recorded_once(walked, cache, capsys):
    first = recorded_walk.recorded_walk(config())
    again = recorded_walk.recorded_walk(config())
    assert first == again and first.parent == cache and len(walked) == 1
    assert [path.name for path in cache.iterdir()] == [first.name]
    assert capsys.readouterr().err.count("recording the walk of Convex MPC (once)") == 1
    assert_array_equal(load_reference(first, 0.001).inputs, standing().inputs)


def test_its_name_changes_with_what_it_depends_on_and_with_nothing_else(walked, monkeypatch):
    path = recorded_walk.recorded_walk(config())
    push = "perturbations=[{kind: base_velocity, at: 1.0, value: [0, 1, 0]}]"
    same = [
        config(push), config("simulation.friction=0.4"), config("hilqr.paused.iterations=1"),
        config(duration=2.0), config(mode="realtime"), config("simulation.seed=3"),
        config("tracker.command_delay=0.01"), config("timing.solve=0.05"),
    ]  # fmt: skip
    assert {recorded_walk.recorded_walk(c) for c in same} == {path}
    other = [
        config(reference="trot"), config("command.velocity_x=0.1"),
        config("convex_mpc.friction=0.3"), config("salted.huber=3.0"),
    ]  # fmt: skip
    paths = {recorded_walk.recorded_walk(c) for c in other}
    paths.add(recorded_walk.recorded_walk(config(), "hilqr"))
    monkeypatch.setattr(recorded_walk, "code_version", lambda _: "other code")
    paths.add(recorded_walk.recorded_walk(config()))
    assert len(paths) == 6 and path not in paths


def test_a_planner_that_falls_makes_no_reference(cache):
    push = "perturbations=[{kind: base_velocity, at: 0.05, value: [0, 8, 0]}]"
    pushed = load_launch("stand", ["planner=instant_qp", push], duration=2.0)
    assert "reference_from" in refusal(BadRequest, recorded_walk.record, pushed)
    assert not cache.exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_write_leaves_nothing(walked, cache, monkeypatch, error):
    def half(_, path):
        path.write_bytes(b"half of it")
        raise error

    monkeypatch.setattr("controller.references.save_reference", half)
    with pytest.raises(BadRequest if error is OSError else error):
        recorded_walk.recorded_walk(config())
    assert list(cache.iterdir()) == []
