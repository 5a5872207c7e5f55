"""Recordings: what comes back is what was sent, also from a file that was cut off."""

import numpy as np
import pytest
from mcap.reader import make_reader

from runtime.messages import DecodeError, StateEstimate, encode
from runtime.recording import RecordedFrame, Recorder, read_frames, read_recording
from runtime.topics import GROUND_TRUTH, STATE_ESTIMATE, Topic
from tests import a1


def numbers(tick):
    random = np.random.default_rng(tick)
    return {"q": random.normal(size=19), "v": random.normal(size=18)}


def estimate(tick):
    return a1.estimate(tick, **numbers(tick))


def truth(tick):
    return a1.ground_truth(tick, **numbers(tick))


def record(path, ticks):
    with Recorder(path) as recorder:
        for tick in range(ticks):
            recorder.write(STATE_ESTIMATE, encode(estimate(tick)), 2 * tick)
            recorder.write(GROUND_TRUTH, encode(truth(tick)), 2 * tick + 1)
    recorder.close()
    return path


def test_a_recording_gives_the_same_messages_in_order(tmp_path):
    path = record(tmp_path / "new" / "run.mcap", 20)
    expected = [
        item
        for tick in range(20)
        for item in (("state_estimate", estimate(tick)), ("ground_truth", truth(tick)))
    ]
    assert list(read_recording(path)) == expected
    assert list(read_frames(path))[3] == RecordedFrame("ground_truth", 3, encode(truth(1)))


def test_other_tools_find_its_index_channels_and_schemas(tmp_path):
    path = record(tmp_path / "run.mcap", 3)
    with path.open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary.statistics.message_count == 6
    assert {c.topic for c in summary.channels.values()} == {"state_estimate", "ground_truth"}
    assert {c.message_encoding for c in summary.channels.values()} == {"msgpack"}
    assert {s.name for s in summary.schemas.values()} == {"StateEstimate", "GroundTruth"}


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.6, 0.999])
def test_a_file_that_was_cut_off_gives_its_beginning(tmp_path, kept):
    path = record(tmp_path / "run.mcap", 3000)
    whole = list(read_frames(path))
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data))])
    rescued = list(read_frames(path))
    assert rescued == whole[: len(rescued)]
    assert len(rescued) >= (kept - 0.4) * len(whole)


def test_an_unknown_topic_is_passed_over_and_another_version_is_an_error(tmp_path):
    path = tmp_path / "run.mcap"
    with Recorder(path) as recorder:
        recorder.write(Topic("weather", StateEstimate, 1.0, 1.0), b"rain", 0)
        recorder.write(STATE_ESTIMATE, encode(estimate(0)), 1)
        recorder.write(STATE_ESTIMATE, b"old", 2)
    messages = read_recording(path)
    assert next(messages) == ("state_estimate", estimate(0))
    with pytest.raises(DecodeError):
        next(messages)
