"""Recordings that the field's tools open, and that Saltus replays to the last bit."""

import importlib
import json
from collections import defaultdict

import numpy as np
import pytest
from google.protobuf.json_format import ParseDict
from mcap.exceptions import EndOfFile
from mcap.reader import make_reader
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from robots.conventions import JOINT_NAMES
from robots.legs import foot_positions_in_base
from robots.rotations import rotation_from_quaternion
from runtime.messages import Plan, decode
from runtime.recording import read_frames, read_recording
from runtime.topics import GROUND_TRUTH, PLAN, SENSOR_READING, STATE_ESTIMATE
from saltus.common.compiled_code import code_version
from saltus.configuration.launch import load_launch
from saltus.launch.lock_step import LockStep
from saltus.recording.reading import StartAxes
from saltus.recording.recorder import RunRecorder
from tests.a1 import A1
from tests.saltus.short_walk import frames_of_run

SECONDS = 0.6
PUBLISHED = set(["/tf", "/robot", "/pose/truth", "/pose/estimate", "/joints", "/plan/path"])


def read_published(path):
    """Topic -> [(time in ns, message)], by mcap and Foxglove's published schemas alone."""
    schemas, channels, messages = {}, {}, defaultdict(list)
    with path.open("rb") as file:
        try:
            for record in StreamReader(file).records:
                if isinstance(record, Schema):
                    schemas[record.id] = record
                elif isinstance(record, Channel):
                    channels[record.id] = record
                elif isinstance(record, Message):
                    channel = channels[record.channel_id]
                    package, _, name = schemas[channel.schema_id].name.partition(".")
                    if package == "foxglove" and channel.message_encoding == "json":
                        module = importlib.import_module(f"foxglove_schemas_protobuf.{name}_pb2")
                        fields = json.loads(record.data, object_hook=times_of_protobuf)
                        message = ParseDict(fields, getattr(module, name)())
                        messages[channel.topic].append((record.log_time, message))
        except EndOfFile:
            pass
    return messages


def times_of_protobuf(fields):
    """Protobuf writes times in JSON in words, Foxglove in seconds and nanoseconds."""
    for key, value in fields.items():
        if key in ("timestamp", "lifetime"):
            assert set(value) == {"sec", "nsec"}
            seconds = f"{value['sec']:02d}.{value['nsec']:09d}"
            fields[key] = f"1970-01-01T00:00:{seconds}Z" if key == "timestamp" else f"{seconds}s"
    return fields


def xyz(vector):
    return [vector.x, vector.y, vector.z]


def xyzw(quaternion):
    return [*xyz(quaternion), quaternion.w]


@pytest.fixture(scope="module")
def frames():
    """(time in ns, topic, frame) of a walk in lock step."""
    run = LockStep(load_launch("sim", duration=SECONDS))
    return [(at, topic, frame) for at, sent in frames_of_run(run) for topic, frame in sent]


def record(frames, path, *assignments, **changes):
    with RunRecorder(path, load_launch("sim", assignments, **changes)) as recorder:
        for at, topic, frame in frames:
            recorder.write(topic, frame, at)
    return path


@pytest.fixture(scope="module")
def recording(frames, tmp_path_factory):
    return record(frames, tmp_path_factory.mktemp("run") / "run.mcap")


def sent(frames, topic):
    """What was sent, as the start sees it."""
    seen = StartAxes(load_launch("sim")).to_local
    return {at: seen(decode(topic.message, frame)) for at, each, frame in frames if each is topic}


def test_the_file_alone_says_which_launch_robot_and_code_it_is_of(recording):
    with recording.open("rb") as file:
        (record,) = make_reader(file).iter_metadata()
    about, config = record.metadata, load_launch("sim")
    assert (record.name, about["robot"], about["code"]) == ("saltus", "a1", code_version())
    recording.with_name("launch.yaml").write_text(about["launch"])
    assert load_launch(str(recording.with_name("launch.yaml"))) == config


def test_published_schemas_alone_find_pose_joints_and_plan(frames, recording):
    found = read_published(recording)
    assert set(found) == PUBLISHED
    for name, topic in (("/pose/truth", GROUND_TRUTH), ("/pose/estimate", STATE_ESTIMATE)):
        states = sent(frames, topic)
        assert len(found[name]) == SECONDS * 50
        for at, message in found[name]:
            assert message.timestamp.ToNanoseconds() == at and message.frame_id == "world"
            assert_allclose(xyz(message.pose.position), states[at].q[:3], atol=1e-6)
            assert_allclose(xyzw(message.pose.orientation), states[at].q[3:7], atol=1e-6)

    readings = sent(frames, SENSOR_READING)
    assert len(found["/joints"]) == SECONDS * 50
    for at, message in found["/joints"]:
        assert [joint.name for joint in message.joints] == list(JOINT_NAMES)
        for field, values in (
            ("position", readings[at].joint_position), ("velocity", readings[at].joint_velocity),
            ("effort", readings[at].joint_torque),
        ):  # fmt: skip
            own = [getattr(joint, field) for joint in message.joints]
            assert_allclose(own, values, atol=1e-6)

    plans = sent(frames, PLAN)
    assert len(found["/plan/path"]) == SECONDS * 20
    for at, message in found["/plan/path"]:
        path = [xyz(pose.position) for pose in message.poses]
        assert_allclose(path, plans[at].states_q[::5, :3], atol=1e-6)


def test_frames_of_the_links_lead_to_the_feet(frames, recording):
    """A viewer that composes the transforms puts each foot where the kinematics have it."""
    truths, drawn = sent(frames, GROUND_TRUTH), 0
    for at, message in read_published(recording)["/tf"]:
        frames_by_name = {each.child_frame_id: each for each in message.transforms}
        if "trunk" not in frames_by_name:
            continue
        drawn += 1
        feet = []
        for foot in ("FR", "FL", "RR", "RL"):
            position, frame = np.array([0.0, 0.0, -0.2]), frames_by_name[f"{foot}_calf"]
            while frame is not None:
                rotation = rotation_from_quaternion(np.array(xyzw(frame.rotation)))
                position = rotation @ position + xyz(frame.translation)
                frame = frames_by_name.get(frame.parent_frame_id)
            feet.append(position)
        q = truths[at].q
        expected = (
            q[:3] + foot_positions_in_base(A1.legs, q[7:]) @ rotation_from_quaternion(q[3:7]).T
        )
        assert_allclose(feet, expected, atol=1e-5)
    assert drawn == SECONDS * 50


def read_plots(path):
    """Topic -> [(time in ns, message)] of the channels in schemas of Saltus's own."""
    with path.open("rb") as file:
        plots = defaultdict(list)
        for schema, channel, message in make_reader(file).iter_messages():
            if schema.name.startswith("saltus."):
                fields = json.loads(message.data)
                described = json.loads(schema.data)
                assert described["type"] == "object"
                assert set(fields) == set(described["required"]) == set(described["properties"])
                plots[channel.topic].append((message.log_time, fields))
    return plots


def test_plots_hold_solves_and_velocities(frames, recording):
    plots = read_plots(recording)
    plans = sent(frames, PLAN)
    assert [at for at, _ in plots["/plan/solve"]] == list(plans)
    assert all(each["cost"] == plans[at].cost for at, each in plots["/plan/solve"])

    truths, speed = sent(frames, GROUND_TRUTH), load_launch("sim").speed
    assert len(plots["/velocity"]) == SECONDS * 50 and speed > 0.0
    for at, each in plots["/velocity"]:
        assert each["commanded_forward"] == speed and each["commanded_left"] == 0.0
        truth = truths[at]
        velocity = rotation_from_quaternion(truth.q[3:7]) @ truth.v[:3]
        assert np.hypot(each["forward"], each["left"]) == approx(np.hypot(*velocity[:2]), abs=1e-5)


def test_all_but_plans_comes_back_to_the_last_bit(frames, recording, tmp_path):
    def others(path):
        return [(f.topic, f.log_time_ns, f.data) for f in read_frames(path) if f.topic != PLAN.name]

    own = [(topic.name, at, frame) for at, topic, frame in frames]
    assert others(recording) == [each for each in own if each[0] != PLAN.name]
    path = record(frames, tmp_path / "all.mcap", "recording.plans=all")
    assert [(f.topic, f.log_time_ns, f.data) for f in read_frames(path)] == own


def test_of_plans_a_sample_is_kept(frames, recording):
    path = recording
    own = [decode(PLAN.message, frame) for _, topic, frame in frames if topic is PLAN]
    kept = [message for _, message in read_recording(path) if isinstance(message, Plan)]
    assert len(kept) == len(own)  # each is there
    with_knots, with_gains = 0, 0
    for plan, whole in zip(kept, own, strict=True):
        for field in ["id", "tick", "time", "cost", "iterations", "solve_s", "status", "command"]:
            assert getattr(plan, field) == getattr(whole, field)
        knots = len(plan.inputs)
        assert knots in (0, len(whole.inputs))
        assert_array_equal(plan.states_q, whole.states_q[: knots + 1])
        assert_array_equal(plan.inputs, whole.inputs[:knots])
        with_knots += knots > 0
        if knots and not np.isnan(plan.gains).any():
            with_gains += 1
            assert_array_equal(plan.gains, whole.gains.astype(np.float32))
        elif knots:
            assert np.isnan(plan.gains).all()
    assert with_knots == SECONDS * 20
    assert with_gains == 2


def test_who_kills_the_process_takes_a_second_at_most(frames, tmp_path):
    """Of a quiet run too, whose chunks do not fill."""
    few = [each for each in frames if each[1] is PLAN][:3]
    recorder = RunRecorder(tmp_path / "run.mcap", load_launch("sim"))
    for second, (_, topic, frame) in enumerate(few):
        recorder.write(topic, frame, second * 1_000_000_000)
    assert len(list(read_frames(tmp_path / "run.mcap"))) == len(few)
    recorder.close()


def test_a_second_takes_its_share_of_what_a_run_may_take(frames, recording, tmp_path):
    """Six seconds may take 15 MB; the same run takes the same bytes."""
    again = record(frames, tmp_path / "run.mcap")
    assert again.stat().st_size == recording.stat().st_size < SECONDS / 6.0 * 15e6
