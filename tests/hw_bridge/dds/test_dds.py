"""A Go2's DDS: bytes, the guard against a second writer, and the vendor's own robot."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from hw_bridge.dds import topics
from hw_bridge.dds.link import COMMANDS, RELEASE_MODE, SERVICE, DdsLink, DdsRobot, MotionSwitcher
from hw_bridge.dds.topics import API, ENCAPSULATION, GO, Participant, Place
from hw_bridge.options import LinkOptions
from hw_bridge.wire.frame import frame_fault, read_low_state
from hw_bridge.wire.layout import WIRES
from hw_bridge.wire.low_command import LowCommandEncoder, Setpoints, damping, no_torque
from tests.a1 import state_frame
from tests.refusals import refusal
from tests.sim_bridge.physics.served_world import in_a_thread

pytest.importorskip("cyclonedds")

WIRE = WIRES["unitree-go2"]
COMMAND = "<4B4B4IH" + "Bx5f3I" + "B3x5f3I" * 19 + "4B40B12B2BBx2I"
STATE = ("<4B4B4IH2x13fB" + "B2x7fB3x3I" + "B3x7fB3x3I" * 19
         + "4BiH4B15H8hI40BB3xf2B2x2f4H2I")  # fmt: skip
HERE = "127.0.0.1"


def options(domain, **fields):
    return LinkOptions(robot_address=HERE, local_address=HERE, domain=domain, **fields)


@pytest.mark.parametrize("kind, form, to, of", [
    ("command", COMMAND, topics.command_to_cdr, topics.command_of_cdr),
    ("state", STATE, topics.state_to_cdr, topics.state_of_cdr),
])  # fmt: skip
def test_cdr_has_the_numbers_of_the_frame(kind, form, to, of):
    """Against a format of the whole message, and there and back."""
    record, random = np.zeros(1, getattr(WIRE, kind)), np.random.default_rng(0)

    def fill(fields):
        for name in fields.dtype.names:
            if fields.dtype[name].names or fields.dtype[name].base.names:
                fill(fields[name])
            elif not name.startswith("pad"):
                fields[name] = random.integers(0, 100, fields[name].shape)

    fill(record)
    frame = record.tobytes()
    assert list(struct.unpack(form, to(frame))[4:]) == list(flat(record[0]))
    assert of(to(frame)) == frame
    assert len(to(frame)) == len(frame)


def flat(record):
    """The numbers of a record in order, without padding."""
    for name in record.dtype.names:
        if name.startswith("pad"):
            continue
        field = record[name]
        if field.dtype.names and not field.shape:
            yield from flat(field)
        elif field.dtype.names:
            for each in field:
                yield from flat(each)
        elif field.dtype == np.uint64:  # two words in the vendor's structs
            yield from (int(field) & 0xFFFFFFFF, int(field) >> 32)
        else:
            yield from np.atleast_1d(field).tolist()


def test_frames_pass_both_ways_and_a_second_writer_is_refused():
    robot, domain = DdsRobot(Place(101, HERE)), 101
    link = DdsLink(options(domain))
    command = LowCommandEncoder(WIRE).encode(no_torque())
    state = state_frame(WIRE, tick=5)
    heard, told, end = [], [], time.monotonic() + 20.0
    while not (heard and told) and time.monotonic() < end:
        link.send(command)
        robot.send(state, robot.address)
        link.wait(0.01)
        heard += robot.receive()
        told += link.receive()
    assert heard[0].data == command
    assert (told[0].data, told[0].sender) == (state, link.robot)
    assert link.mismatched == 0

    def writes(ended):
        while not ended():
            link.send(command)
            time.sleep(0.002)

    def another():
        while time.monotonic() < end + 20.0:
            DdsLink(options(domain)).close()

    with in_a_thread(writes):
        assert COMMANDS in refusal(ValueError, another)
    link.close()
    robot.close()


@pytest.mark.parametrize(
    "knee, named", [(-1.6, "-1.6 rad"), (np.nan, "nan"), (None, "no state"), (-2.6, "")]
)
def test_a_built_in_controller_is_released_from_under_a_lying_robot_alone(knee, named):
    """A stand-in answers as the motion switcher: a controller runs until it is released."""
    domain = 105
    robot, participant = DdsRobot(Place(domain, HERE)), Participant(Place(domain, HERE))
    requests = participant.reader(f"{SERVICE}/request", f"{API}.Request_")
    responses = participant.writer(f"{SERVICE}/response", f"{API}.Response_")
    modes = ["normal"]

    def answer(ended):
        while not ended():
            if knee is not None:
                joints = np.zeros(20)
                joints[2:12:3] = knee
                robot.send(state_frame(WIRE, q=joints), robot.address)
            for cdr in requests.take() if requests.wait(0.01) else ():
                number, call = struct.unpack_from("<qq", cdr, 4)
                if call == RELEASE_MODE:
                    modes.append("")
                text = json.dumps({"name": modes[-1]}).encode() + b"\0"
                head = struct.pack("<qqiI", number, call, 0, len(text))
                responses.send(ENCAPSULATION + head + text + bytes(-len(text) % 4) + bytes(4))

    with closing(robot), closing(participant), in_a_thread(answer):
        if named:
            assert named in refusal(ValueError, DdsLink, options(domain, take_over="release"))
        else:
            DdsLink(options(domain, take_over="release")).close()
        assert (modes[-1] == "") == (named == "")


def test_the_vendors_robot_lives_on_and_obeys():
    """Its DDS is 0.10.2, which a foreign type would end; its SDK checks each command's checksum.

    Its motion switcher answers. One test, since both are in domain 0 and one may drive at a time.
    """
    pytest.importorskip("unitree_interface")
    script = Path(__file__).parent / "vendor_robot.py"
    process = subprocess.Popen(
        [sys.executable, str(script), "8"], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    participant, end = Participant(Place(0, HERE)), time.monotonic() + 40.0
    switcher = MotionSwitcher(participant)
    while switcher.mode() is None and time.monotonic() < end:
        pass
    assert switcher.release() and switcher.mode() == ""
    link, encoder = DdsLink(options(0, take_over="release")), LowCommandEncoder(WIRE)
    setpoints = Setpoints(*np.zeros((4, 12)), np.arange(12.0) / 4.0)
    frames = []
    while process.poll() is None and time.monotonic() < end:
        link.send(encoder.encode(setpoints))
        link.wait(0.002)
        frames += [datagram.data for datagram in link.receive()]
    link.close()
    participant.close()
    answer = process.communicate()[0].splitlines()[-1]
    assert process.returncode == 0
    assert json.loads(answer)["torques"][-1] == 2.75
    assert len(frames) > 100 and link.mismatched == 0
    assert all(not frame_fault(frame, WIRE.state.itemsize) for frame in frames)
    assert np.isfinite(read_low_state(WIRE, frames[-1]).q).all()


def test_the_type_hash_is_the_vendors():
    """As printed in unitree_sdk2's LowCmd_.hpp: minimal type id f1, then this hash."""
    import base64

    blobs = json.loads((Path(topics.__file__).parent / "types.json").read_text())
    info = base64.b64decode(blobs[f"{GO}.LowCmd_"][0])
    assert bytes.fromhex("f1832876ceec9737d69f6ed62a3f63") in info


def test_the_watchdog_damps_by_a_participant_of_its_own(tmp_path):
    """The tracker hangs with all its DDS: it is stopped, and damping comes all the same."""
    robot, domain = DdsRobot(Place(104, HERE)), 104
    path, report = tmp_path / "watchdog", tmp_path / "report"
    folder = Path(topics.__file__).parents[1] / "watchdog"
    watchdog = subprocess.Popen(
        [sys.executable, "-I", "-S", str(folder), str(path), str(report), str(os.getpid())]
    )
    tracker = subprocess.Popen([sys.executable, str(Path(__file__).parent / "hanging_tracker.py"),
                                str(path), str(domain)], stdout=subprocess.PIPE)  # fmt: skip
    assert tracker.stdout.readline() == b"serves\n"
    encoder = LowCommandEncoder(WIRE)
    served, damping_frame = encoder.encode(no_torque()), encoder.encode(damping(5.0))
    end, frames = time.monotonic() + 60.0, []
    while served not in frames and time.monotonic() < end:
        frames += [each.data for each in robot.receive()]
    assert served in frames
    tracker.send_signal(signal.SIGSTOP)
    begin, frames = time.monotonic(), []
    while frames.count(damping_frame) < 100 and time.monotonic() < begin + 60.0:
        frames += [each.data for each in robot.receive()]
    for process in (tracker, watchdog):
        process.kill()
        process.wait()
    robot.close()
    assert frames.count(damping_frame) >= 100
