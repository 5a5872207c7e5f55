"""The black box: frames through the pipe, a ring on disk, and what a kill or a full disk leaves."""

import json
import os
import signal
import subprocess
import sys

import pytest

from hw_bridge.black_box.pipe import PipeReader, PipeWriter, Unpacker
from hw_bridge.black_box.ring import FRAMES, RUN_TEXT, SEGMENTS, Ring, RobotFrame, RunText, segments
from hw_bridge.link import Datagram, RecordedLink
from runtime.messages import decode, encode
from runtime.recording import read_frames
from tests.saltus.programs import python, wait_until

FROM_ROBOT = FRAMES["from_robot"]
ROBOT = ("127.0.0.1", 8007)
SIZE = 2_000_000  # [bytes] of a small ring


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def noise(number):
    """A frame that does not compress."""
    return RobotFrame(time=float(number), data=os.urandom(800))


def ring_with(count, folder, begin=0):
    """A ring with so many frames, synced now and then, and at the end."""
    ring = Ring(folder, SIZE)
    for number in range(begin, begin + count):
        ring.write(FROM_ROBOT, encode(noise(number)), number)
        if number % 100 == 99:
            ring.sync()
    return ring


def frames_in(folder, kind=RobotFrame, topics=FRAMES):
    return [
        decode(kind, frame.data) for file in segments(folder)
        for frame in read_frames(file) if frame.topic in topics
    ]  # fmt: skip


def texts_in(folder):
    return frames_in(folder, RunText, RUN_TEXT.name)


def test_frames_of_two_writers_come_out_whole_and_in_order(pipe):
    reader, unpacker = PipeReader(pipe), Unpacker()
    tracker, watchdog = PipeWriter(pipe), PipeWriter(pipe)
    for number in range(20):
        tracker.write("by_tracker", bytes([number]) * 610, float(number))
        watchdog.write("by_watchdog", bytes([number]) * 610, float(number))
    data = reader.read()
    assert data
    out = [
        frame for at in range(0, len(data), 1000) for frame in unpacker.unpack(data[at : at + 1000])
    ]
    assert out == [
        (float(number), way, bytes([number]) * 610)
        for number in range(20) for way in ("by_tracker", "by_watchdog")
    ]  # fmt: skip
    assert reader.read() == b""  # somebody may still write
    tracker.close()
    watchdog.close()
    assert reader.read() is None
    reader.close()


def test_bytes_that_are_no_frames_are_refused():
    with pytest.raises(ValueError):
        list(Unpacker().unpack(b"\xff" * 4096))


class FakeLink:
    """A link that is given what comes."""

    def __init__(self):
        self.inbox = []
        self.works = True

    def send(self, _frame):
        return self.works

    def receive(self):
        return self.inbox

    def close(self):
        pass


def test_the_link_keeps_what_the_robot_sends_and_gets_and_nobody_elses(pipe):
    reader, link = PipeReader(pipe), FakeLink()
    recorded = RecordedLink(link, ROBOT, PipeWriter(pipe))
    link.inbox = [Datagram(b"state", ROBOT, 1.5), Datagram(b"noise", ("127.0.0.1", 9), 1.6)]
    assert recorded.receive() is link.inbox
    assert recorded.send(b"command")
    link.works = False
    assert not recorded.send(b"refused by the kernel")
    link.inbox = [Datagram(b"flood", ROBOT, 2.0)] * 200
    assert len(recorded.receive()) == 200
    data = reader.read()
    recorded.close()
    kept = [(way, frame) for _, way, frame in Unpacker().unpack(data or b"")]
    assert kept[:2] == [("from_robot", b"state"), ("by_tracker", b"command")]
    assert kept[2:] == [("from_robot", b"flood")] * 200


def test_what_was_synced_is_there_after_a_loss_of_power(tmp_path):
    ring = ring_with(100, tmp_path / "ring")
    synced = segments(tmp_path / "ring")[0].stat().st_size
    for number in range(100, 120):
        ring.write(FROM_ROBOT, encode(noise(number)), number)
    ring.close()
    whole = segments(tmp_path / "ring")[0].read_bytes()
    (tmp_path / "lost").mkdir()
    for cut in range(synced, len(whole), 997):  # the disk has any part of what came later
        (tmp_path / "lost" / "000001-x.mcap").write_bytes(whole[:cut])
        kept = [int(frame.time) for frame in frames_in(tmp_path / "lost")]
        assert kept in (list(range(100)), list(range(120)))


@pytest.fixture
def process(pipe, tmp_path):
    run = tmp_path / "run"
    (run / "logs").mkdir(parents=True)
    (run / "reports").mkdir()
    (run / "launch.yaml").write_text("connection: real\n")
    words = [pipe, tmp_path / "ring", 16, run, run / "reports" / "black_box.json", os.getpid()]
    child = subprocess.Popen(
        [sys.executable, "-m", "hw_bridge.black_box", *map(str, words)], stderr=subprocess.PIPE
    )
    yield child
    child.kill()
    child.wait()
    child.stderr.close()


def test_the_process_keeps_all_until_its_last_writer_has_ended(process, pipe, tmp_path):
    ring, run, writer = tmp_path / "ring", tmp_path / "run", PipeWriter(pipe)
    for number in range(50):
        writer.write("by_tracker", bytes(610), float(number))
    wait_until(lambda: len(frames_in(ring)) == 50)
    process.send_signal(signal.SIGTERM)
    (run / "logs" / "tracker.log").write_text("robot: running -> damping\n")
    wait_until(lambda: len(texts_in(ring)) > 1)
    assert process.poll() is None  # somebody may still write
    writer.write("by_watchdog", b"damp", 99.0)
    writer.close()
    assert process.wait(60.0) == 0
    frames = frames_in(ring)
    assert len(frames) == 51 and frames[-1].data == b"damp"
    texts = {text.file: text.text for text in texts_in(ring)}
    assert texts == {
        "run/launch.yaml": "connection: real\n",
        "run/logs/tracker.log": "robot: running -> damping\n"
    }  # fmt: skip
    report = json.loads((run / "reports" / "black_box.json").read_text())
    assert report["frames"] == {"by_tracker": 50, "by_watchdog": 1} and report["lost"] == 0


def test_a_process_without_a_ring_ends_with_one_line(pipe, tmp_path):
    (tmp_path / "file").touch()
    words = [pipe, tmp_path / "file", 16, tmp_path, tmp_path / "report", os.getpid()]
    done = python("-m", "hw_bridge.black_box", *words, status=1)
    assert done.stderr.startswith("the black box cannot be written")
    assert done.stderr.count("\n") == 1


def test_rings_of_two_launches_keep_their_size_and_the_newest_frames(tmp_path):
    for begin in (0, 3000):
        ring = ring_with(3000, tmp_path, begin)
        ring.close()
        assert ring.failures == ring.lost == 0
    assert sum(file.stat().st_size for file in segments(tmp_path)) <= SIZE + SIZE // SEGMENTS
    kept = [int(frame.time) for frame in frames_in(tmp_path)]
    assert kept == list(range(kept[0], 6000)) and kept[0] > 0


def test_a_disk_that_is_full_costs_one_old_file_and_is_written_again_once_it_is_not(
    tmp_path, room_for
):
    ring = ring_with(1000, tmp_path)
    before = segments(tmp_path)
    with room_for(0):
        for number in range(1000, 1010):
            ring.write(FROM_ROBOT, encode(noise(number)), number)
            ring.sync()
    assert segments(tmp_path) == before[1:] and ring.failures > 0
    assert [int(frame.time) for frame in frames_in(tmp_path)][-1] == 999
    ring.sync()
    ring.write(FROM_ROBOT, encode(noise(1010)), 1010)
    ring.close()
    assert [int(frame.time) for frame in frames_in(tmp_path)][-1] == 1010


def test_a_pipe_that_nobody_reads_loses_frames_and_holds_nobody_up(pipe, tmp_path):
    writer, missing = PipeWriter(pipe), PipeWriter(tmp_path / "nowhere")
    for _ in range(3000):
        writer.write("by_tracker", bytes(610), 0.0)
    assert 0 < writer.lost < 3000
    missing.write("by_tracker", b"frame", 0.0)
    assert missing.lost == 1
    writer.close()
