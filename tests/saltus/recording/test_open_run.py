"""A recorded run as arrays: they are the messages, field by field."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from runtime import topics
from runtime.messages import Command, decode, encode
from runtime.recording import Recorder
from saltus.common.errors import BadRequest
from saltus.configuration.options import read_mapping
from saltus.recording.fields import FIELDS, columns_of
from tests.refusals import refusal
from tests.saltus.programs import python
from tests.saltus.short_walk import SECONDS, record_walk


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """The folder of a run, and what was sent."""
    folder = tmp_path_factory.mktemp("walk")
    return folder, record_walk(folder, "recording.plans=all")


@pytest.fixture
def copy(walk, tmp_path):
    """The folder of a run to do harm to."""
    for file in walk[0].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def sent(walk, name):
    """(times [s], messages) of a topic."""
    own = [(at, decode(topic.message, frame)) for at, topic, frame in walk[1] if topic.name == name]
    return [1e-9 * at for at, _ in own], [message for _, message in own]


@pytest.mark.parametrize(
    "name",
    """
    simulated_reading sensor_reading state_estimate plan motor_command ground_truth line_search
""".split(),
)
def test_arrays_are_what_was_sent(walk, name):
    """To the last bit, whether the folder is opened or the file."""
    times, messages = sent(walk, name)
    for path in (walk[0], str(walk[0] / "run.mcap")):
        read = saltus.open_run(path)[name]
        assert len(read) == len(messages) > 10 and read.topic == name and read.undecodable == 0
        assert_allclose(read.log_time, times, rtol=0.0, atol=1e-12)
        for field in type(messages[0]).__struct_fields__:
            assert field in read.fields and field in dir(read)
            values = getattr(read, field)
            assert len(values) == len(messages)
            for value, message in zip(values, messages, strict=True):
                assert_array_equal(value, getattr(message, field))


def test_a_run_says_what_it_holds(walk):
    run = saltus.open_run(walk[0])
    names = [topic.name for _, topic, _ in walk[1]]
    assert run.topics == {name: names.count(name) for name in names}
    assert set(run) == set(names) and "plan" in run and "push" not in run
    assert run.complete and run.cause == "" and run.summary is None
    assert run.config == read_mapping(walk[0] / "launch.yaml")
    assert run.config["duration"] == SECONDS and run["plan"] is run["plan"]


def test_topics_become_figures_and_data_frames(walk, monkeypatch):
    run = saltus.open_run(walk[0])
    truth = run["ground_truth"]
    figure = run.plot("ground_truth", "velocity_base", "foot_force", "work", "q")
    velocity, force, *_ = figure.axes
    assert_array_equal(velocity.lines[1].get_ydata(), truth.velocity_base[:, 1])
    assert_array_equal(velocity.lines[1].get_xdata(), truth.log_time)
    assert [text.get_text() for text in velocity.get_legend().texts][0] == "velocity_base_x"
    assert velocity.get_ylabel() == "velocity_base [m/s]" and len(force.lines) == 12
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    frame = truth.to_dataframe()
    assert_array_equal(frame["velocity_base_z [m/s]"], truth.velocity_base[:, 2])


def test_a_recording_that_was_cut_off_gives_the_beginning(walk, copy):
    file = copy / "run.mcap"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    whole, cut = saltus.open_run(walk[0]), saltus.open_run(copy)
    assert not cut.complete and "cut off" in cut.cause
    for name in ("ground_truth", "plan"):
        count = len(cut[name])
        assert 0 < count < len(whole[name])
        assert_array_equal(cut[name].time, whole[name].time[:count])


def test_what_does_not_decode_is_counted(tmp_path):
    """Where nothing does, another version made it."""
    good, bad = Command(sequence=1, time=0.5, forward=0.1, left=0.0, yaw_rate=0.0), b"no message"
    for count in (0, 2):
        with Recorder(tmp_path / "run.mcap") as recorder:
            for frame in [bad, *[encode(good)] * count, bad]:
                recorder.write(topics.COMMAND, frame, 0)
        run = saltus.open_run(tmp_path)
        if count:
            command = run["command"]
            assert len(command) == 2 and command.undecodable == 2
            assert np.isnan(command.height).all() and (command.gait == "auto").all()
        else:
            with pytest.raises(BadRequest):
                run["command"]


@pytest.mark.parametrize("content", [None, b"notes" * 9, b""])
def test_what_is_no_recording_is_one_line(copy, content):
    (copy / "run.mcap").unlink()
    if content is not None:
        (copy / "run.mcap").write_bytes(content)
    refusal(BadRequest, lambda: saltus.open_run(copy)["ground_truth"])


def test_topics_and_fields_that_are_not_there_are_named(walk):
    run = saltus.open_run(walk[0])
    for name in ("truth", "push"):
        line = refusal(BadRequest, run.__getitem__, name)
        assert name in line and "ground_truth" in line
    line = refusal(AttributeError, getattr, run["ground_truth"], "velocity")
    assert "velocity_base" in line
    assert not hasattr(run["ground_truth"], "velocity")


def test_every_recorded_field_has_a_meaning():
    kinds = {topic.message for topic in topics.RECORDED}
    assert set(FIELDS) == {kind.__name__ for kind in kinds}
    for kind in kinds:
        assert set(FIELDS[kind.__name__]) == set(kind.__struct_fields__)
        assert all(column.field.meaning for column in columns_of(kind).values())


def test_reading_loads_neither_compiler_nor_physics(walk):
    program = (
        "import sys, saltus; light = 'numpy' not in sys.modules;"
        "run = saltus.open_run(sys.argv[1]); run['plan'], run['ground_truth'], run.config;"
        "print(light, {'numba', 'mujoco', 'pinocchio', 'scipy'} & set(sys.modules))"
    )
    assert python("-c", program, walk[0]).stdout.strip() == "True set()"


def test_of_a_recording_with_a_damaged_chunk_the_rest_is_there(copy):
    file, before = copy / "run.mcap", saltus.open_run(copy)
    assert before.complete
    data = bytearray(file.read_bytes())
    at = data.index(b"\x28\xb5\x2f\xfd")  # the first chunk's compressed bytes
    data[at + 4 : at + 400] = bytes(396)
    file.write_bytes(data)
    run = saltus.open_run(copy)
    assert 0 < sum(run.topics.values()) < sum(before.topics.values())
    assert not run.complete and "damaged: its beginning may lack messages" in run.cause
    assert run["ground_truth"].tick[-1] == before["ground_truth"].tick[-1]
