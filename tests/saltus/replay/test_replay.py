"""A recorded run that is replayed: the same bits in lock step, else the first difference."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from runtime.messages import encode
from runtime.recording import Recorder, read_frames
from runtime.topics import RECORDED
from runtime.wire import decode
from saltus.cli.main import run

TOPICS = {topic.name: topic for topic in RECORDED}
Change = Callable[[str, Any], list[Any]]  # what stands in place of a message of a topic


def changed(walk, folder, change):
    """A copy of a run in which other messages stand in place of some."""
    (folder / "launch.yaml").write_bytes((walk / "launch.yaml").read_bytes())
    with Recorder(folder / "run.mcap") as recorder:
        for name, log_time_ns, data in read_frames(walk / "run.mcap"):
            topic = TOPICS[name]
            for message in change(name, decode(topic.message, data)):
                recorder.write(topic, encode(message), log_time_ns)
    return folder


def in_one(topic, tick, **fields):
    """Change fields of one message."""

    def change(name, message):
        if name != topic or message.tick != tick:
            return [message]
        new = {field: make(getattr(message, field)) for field, make in fields.items()}
        return [replace(message, **new)]

    return change


def test_lock_step_is_identical_to_the_last_bit(walk, printed):
    """Plans too, of which the recording holds a part."""
    result = printed("replay", str(walk / "run.mcap"))
    assert result["identical"] and result["first_difference"] is None
    assert result["notes"] == []
    counts = {name: topic["compared"] for name, topic in result["topics"].items()}
    assert counts == {"state_estimate": 300, "plan": 30, "motor_command": 300}
    for topic in result["topics"].values():
        assert topic["different"] == topic["only_recorded"] == topic["only_replayed"] == 0


def test_a_reading_that_was_changed_shows_at_its_tick(walk, tmp_path, printed):
    """What comes after it differs too: the filter remembers."""
    change = in_one("sensor_reading", 150, angular_velocity_imu=lambda w: w + 1e-6)
    result = printed("replay", str(changed(walk, tmp_path, change)), status=1)
    first, topics = result["first_difference"], result["topics"]
    assert not result["identical"]
    assert first["topic"] == "state_estimate" and first["tick"] == 150
    assert 0.0 < abs(first["recorded"] - first["replayed"]) == first["size"] < 1e-5
    assert topics["state_estimate"]["different"] == topics["motor_command"]["different"] == 150
    assert topics["state_estimate"]["fields"]["angular_velocity_base"] > 1e-8


@pytest.mark.parametrize("topic, tick, fields, name", [
    ("motor_command", 40, {"kp": lambda kp: np.nextafter(kp, np.inf)}, "kp_"),
    ("plan", 60, {"cost": lambda cost: cost + 1.0}, "cost"),
    ("plan", 50, {"inputs": lambda u: u + 1.0}, "inputs["),  # one that was recorded with its knots
    ("state_estimate", 7, {"status": lambda _: "diverged"}, "status"),
])  # fmt: skip
def test_what_was_recorded_otherwise_shows(walk, tmp_path, capsys, topic, tick, fields, name):
    folder = changed(walk, tmp_path, in_one(topic, tick, **fields))
    assert run(["replay", str(folder)]) == 1
    out = capsys.readouterr().out
    assert f"first difference: {topic} of tick {tick}, {name}" in out
    counts = [line.split() for line in out.splitlines() if line.split()[1:2] in (["300"], ["30"])]
    assert [line[0] for line in counts if line[2] == "1"] == [topic] and len(counts) == 3


def test_lost_reading_ends_the_comparison(walk, tmp_path, printed):
    lost = "sensor_reading", 100
    folder = changed(walk, tmp_path, lambda name, m: [] if (name, m.tick) == lost else [m])
    result = printed("replay", str(folder), status=1)
    assert not result["identical"] and result["first_difference"] is None
    assert result["topics"]["state_estimate"]["compared"] == 100
    assert "no reading of tick 100" in result["notes"][-1]


def without(topic):
    return lambda name, message: [] if name == topic else [message]


@pytest.mark.parametrize("harm", [
    lambda walk, folder: folder,
    lambda walk, folder: folder / "run.mcap",
    lambda walk, folder: changed(walk, folder, without("sensor_reading")),
    lambda walk, folder: changed(walk, folder, without("plan")),
    lambda walk, folder: written(walk, folder, "run.mcap", b"no recording"),
    *(lambda walk, folder, text=text: written(walk, folder, "launch.yaml", text)
      for text in (b"", b"speed: 3", b"mode: realtime")),
])  # fmt: skip
def test_what_cannot_be_replayed_is_one_line(walk, tmp_path, refused, harm):
    refused("replay", str(harm(walk, tmp_path)))


def written(walk, folder, name, content):
    changed(walk, folder, without(""))
    (folder / name).write_bytes(content)
    return folder
