"""A disk that takes no more stops a recording: nothing is raised, whole chunks stay readable."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcap.records import Chunk
from mcap.stream_reader import StreamReader

from runtime.recording import Recorder, read_frames
from runtime.topics import STATE_ESTIMATE

LENGTH = 200_000  # of a frame: six fill a chunk of 1 MiB
COUNT = 20  # frames: three chunks, and two that only `close` writes
TIMES = [7 * number % COUNT for number in range(COUNT)]  # log times need not rise
END = 50  # length of the shortest end of a file [bytes]


def frame(number):
    """Compresses well, so that chunks are small and the index is not: both can be cut."""
    noise = random.Random(number).randbytes(10 * END)  # a chunk is longer than the end of a file
    return noise + bytes(LENGTH - len(noise))


def record(path):
    recorder = Recorder(path)
    for number in range(COUNT):
        recorder.write(STATE_ESTIMATE, frame(number), TIMES[number])
    recorder.close()
    return recorder


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run.mcap"
    recorder = record(path)
    assert (recorder.failure, recorder.kept, recorder.kept_until_ns) == ("", COUNT, max(TIMES))
    return path


@pytest.fixture(scope="module")
def chunk_ends(whole):
    """Lengths of the file after each of its chunks [bytes]."""
    ends = []
    with whole.open("rb") as file:
        for entry in StreamReader(file, emit_chunks=True).records:
            if isinstance(entry, Chunk):
                ends.append(file.tell())
    return ends


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("full")


@given(share=st.floats(0.0, 1.0, exclude_max=True))
@example(share=0.0)
@example(share=0.9999)
def test_a_full_disk_leaves_every_whole_chunk_and_raises_nothing(
    whole, chunk_ends, folder, room_for, share
):
    began = 60  # magic and header
    room = began + int(share * (whole.stat().st_size - began))
    path = folder / "run.mcap"
    with room_for(room):
        recorder = record(path)
    kept = list(read_frames(path))
    fitting = sum(end <= room for end in chunk_ends)
    assert recorder.failure == "File too large"
    assert len(kept) == recorder.kept == min(6 * fitting, COUNT)
    assert kept == list(read_frames(whole))[: len(kept)]
    assert recorder.kept_until_ns == max(TIMES[: len(kept)], default=0)
    assert path.stat().st_size <= room
