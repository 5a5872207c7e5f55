"""A damaged part of a recording costs the chunks that it is in, and says when they were."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcap.writer import MCAP0_MAGIC

from runtime.recording import Gap, Recorder, read_frames
from runtime.topics import COMMAND, PLAN
from tests.refusals import refusal

CHUNKS, FRAMES = 8, 20  # frames in a chunk


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A recording, and where its chunks begin [bytes]."""
    path, begins = tmp_path_factory.mktemp("recording") / "run.mcap", []
    draw = np.random.default_rng(1)
    with Recorder(path) as recorder:
        for k in range(CHUNKS):
            begins.append(recorder.size)
            for i in range(FRAMES):
                topic = PLAN if i % 2 else COMMAND
                recorder.write(topic, draw.bytes(100), time_of(k, i))
            recorder.flush()
        begins.append(recorder.size)
    return path, begins


def time_of(chunk, frame):
    return 10**9 + 10**6 * (FRAMES * chunk + frame)


def read(path):
    gaps = []
    return [frame.log_time_ns for frame in read_frames(path, gaps)], gaps


def damaged(recording, at, data):
    content = bytearray(recording[0].read_bytes())
    content[at : at + len(data)] = data
    path = recording[0].with_name("damaged.mcap")
    path.write_bytes(content)
    return path


@given(st.floats(0.0, 1.0), st.integers(1, 400), st.sampled_from([b"\x00", b"\xff", b"saltus"]))
def test_no_other_chunk_is_lost(recording, part, size, pattern):
    begins = recording[1]
    at = int(part * (begins[-1] - 8))
    data = (pattern * size)[:size]
    times, gaps = read(damaged(recording, at, data))
    touched = [k for k in range(CHUNKS) if begins[k] < at + size and at < begins[k + 1]]
    kept = [time_of(k, i) for k in range(CHUNKS) for i in range(FRAMES) if k not in touched]
    assert set(kept) <= set(times)
    lost = len(times) < CHUNKS * FRAMES
    assert len(gaps) >= lost


def test_an_unfinished_recording_keeps_its_channels_without_its_first_chunk(recording):
    begins = recording[1]
    path = damaged(recording, begins[0] + 100, bytes(64))
    path.write_bytes(path.read_bytes()[: begins[4] + 50])
    assert read(path) == (
        [time_of(k, i) for k in (1, 2, 3) for i in range(FRAMES)], [Gap(None, time_of(1, 0))]
    )  # fmt: skip


@pytest.mark.parametrize("k", [0, 3, CHUNKS - 1])
def test_the_gap_is_where_the_chunk_was(recording, k):
    times, gaps = read(damaged(recording, recording[1][k] + 100, bytes(64)))
    assert len(times) == (CHUNKS - 1) * FRAMES
    before = None if k == 0 else time_of(k - 1, FRAMES - 1)
    after = None if k == CHUNKS - 1 else time_of(k + 1, 0)
    assert gaps == [Gap(before, after)]


def test_what_is_no_recording_or_has_no_whole_chunk_is_refused(recording, tmp_path):
    file = tmp_path / "a.mcap"
    for content in (b"notes" * 9, MCAP0_MAGIC + b"\x06" + bytes(200)):
        file.write_bytes(content)
        assert "a.mcap" in refusal(ValueError, list, read_frames(file))
