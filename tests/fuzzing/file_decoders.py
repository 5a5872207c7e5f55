"""Decoders of files and of words on the command line."""

import copy
import fcntl
import io
import json
import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import numpy as np
from mcap.writer import CompressionType, Writer
from PIL import Image

from controller.references import load_reference
from runtime.key_files import PUBLIC, SECRET, CurveKeys, read_public, read_secret
from runtime.messages import encode
from runtime.recording import ENCODING, Recorder, is_whole, read_recording
from runtime.topics import (
    COMMAND,
    GROUND_TRUTH,
    MOTOR_COMMAND,
    PLAN,
    RECORDED,
    SENSOR_READING,
    STATE_ESTIMATE,
)
from saltus.common.errors import BadRequest
from saltus.common.files import data_folder
from saltus.configuration.keys import keys_without_effect
from saltus.configuration.launch import configure, load_launch, placed, read_launch
from saltus.configuration.options import Settings, read_mapping
from saltus.launch import announcement, assembly
from saltus.launch.references import read_motion
from saltus.launch.run_folder import RunFolder
from saltus.launch.trace import Trace, load_trace, save_trace
from saltus.recording.reading import summary_of_run
from saltus.recording.recorder import RunRecorder
from saltus.recording.run import Run
from saltus.report.reading import read_sweep
from saltus.sweep.folder import SweepDescription, SweepFolder
from saltus.sweep.trials import make_trials
from sim_bridge.suites import SuiteError, parse_suite
from tests.a1 import STAND
from tests.fuzzing.decoder import Decoder, through_file
from tests.fuzzing.message_decoders import example, examples
from tests.fuzzing.mutation import JSON, YAML, Format

MOST_WRITTEN = 500  # inputs in one recording
TOPICS = (GROUND_TRUTH, SENSOR_READING, STATE_ESTIMATE, MOTOR_COMMAND, PLAN, COMMAND)
IDENTITY = {"suite": "push-walk", "suite_text": "", "mode": "paused", "settings": [], "code": "x",
            "plugins": {}, "trials": {"hilqr": [0, 1]}, "budgets_ms": [],
            "commands": [], "fits": {}}  # fmt: skip


def _files(folder):
    return lambda: [file.read_bytes() for file in sorted(data_folder(folder).glob("*.yaml"))]


def _launches():
    rough = (
        b"terrain:\n- {kind: boxes, seed: 1}\n- {kind: waves, amplitude: 0.02}\n"
        b"- {kind: slope, angle: 0.1, length: 1.0, at: [3.0, 0.0]}\nplanner: instant_qp\n"
    )
    driven = (
        b"command: [{at: 0.0, velocity_x: 0.5, gait: trot}, {at: 2.0, yaw_rate: 1.0}]\n"
        b"perturbations: [{kind: base_velocity, at: 1.0, value: [0.0, 1.0, 0.0]}]\n"
        b"simulation: {seed: 7, start: {heading: -1.57, position: [1000.0, -0.5]}}\n"
    )
    return [*_files("launch")(), rough, driven]


def _read_launch(file):
    """A launch, as far as it is checked before anything starts."""
    settings = read_launch(str(file))
    config = placed(configure(settings))
    keys_without_effect(config, settings)
    assembly.make_script(config)
    assembly.make_ground(config)
    return config


ASSIGNMENTS = (
    b"duration=3", b"hilqr.cost.base_position=[1, 2, 3]", b"simulation.friction=0.5",
    b"command={velocity_x: 0.4}", b"terrain=[{kind: waves}]", b"bus.folder=x",
    b"perturbations=[{kind: base_velocity, at: 1.0, value: [0.0, 1.0, 0.0]}]",
    b"simulation.start={heading: 3.1, position: null}", b"view.control=true",
    b"hardware.operator.remote_stop=[[R2], [L2, B]]",
)  # fmt: skip


def _make_assign(_):
    mapping = read_mapping(data_folder("launch") / "sim.yaml")

    def apply(data):
        settings = Settings(copy.deepcopy(mapping), "sim.yaml")
        settings.assign([data.decode("utf-8", "surrogateescape")])  # as Python does with words
        return configure(settings)

    return apply


def _read_suite(data):
    groups = parse_suite(data)
    if sum(len(group.trials) * group.seeds for group in groups) < 20:
        return make_trials(groups, "hilqr", "paused", "suite.yaml")
    return groups


def _keys():
    keys = CurveKeys.generate()
    return [f"{PUBLIC} {keys.public}\n".encode(), f"{SECRET} {keys.secret}\n".encode()]


def _read_keys(file):
    try:
        return read_public(file)
    except ValueError:
        return read_secret(file)


def _recordings():
    """One as Saltus writes it, and one without compression, whose records can be reached."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "run.mcap"
        with Recorder(file) as recorder:
            for number, topic in enumerate((*TOPICS, *TOPICS)):
                recorder.write(topic, encode(example(topic.message, 1)), 10**9 + number * 10**6)
        compressed = file.read_bytes()
    return [compressed, uncompressed(TOPICS, 2)]


def uncompressed(topics, count):
    """A recording of so many messages of each topic, without compression."""
    out = io.BytesIO()
    writer = Writer(out, chunk_size=2000, compression=CompressionType.NONE)
    writer.start()
    for topic in topics:
        channel = writer.register_channel(topic.name, ENCODING, 0)
        for number in range(count):
            writer.add_message(channel, number, encode(example(topic.message, 1)), number)
    writer.finish()
    return out.getvalue()


def _read_recording(file):
    is_whole(file)
    with suppress(ValueError):
        for _ in read_recording(file):
            pass
    run = Run(file)
    for topic in run:
        with suppress(BadRequest):
            len(run[topic])
    return run


def _make_recorder(folder):
    """A recorder records any frame of any topic, and never raises for one."""
    config, count, recorder = load_launch("sim"), 0, None

    def record(data):
        nonlocal count, recorder
        if count % MOST_WRITTEN == 0:
            if recorder is not None:
                recorder.close()
            recorder = RunRecorder(folder / "recorded.mcap", config)
        recorder.write(RECORDED[count % len(RECORDED)], data, 10**9 + 30_000_000 * count)
        count += 1
        assert not recorder.failure
        return None

    return record


def _heights():
    for dtype in (np.float64, np.float32):
        np.save(out := io.BytesIO(), np.linspace(0.0, 0.01, 1600, dtype=dtype).reshape(40, 40))
        yield out.getvalue()


def _pictures():
    for dtype, shape in ((np.uint8, (40, 40)), (np.uint16, (40, 40)), (np.uint8, (40, 40, 3))):
        out = io.BytesIO()
        Image.fromarray(np.full(shape, 3, dtype)).save(out, "png")
        yield out.getvalue()


def _read_heights(file):
    mapping = {"terrain": [{"kind": "heightfield", "file": str(file), "at": [-1.0, -1.0]}]}
    config = configure(Settings(mapping | {"planner": "instant_qp"}, "launch.yaml"))
    return assembly.make_ground(config)


def _pack_arrays(arrays):
    """An archive of plain data, with checksums that are right."""
    out = io.BytesIO()
    np.savez(out, **{str(name): np.asarray(values) for name, values in dict(arrays).items()})
    return out.getvalue()


def _unpack_arrays(data):
    with np.load(io.BytesIO(data)) as file:
        return {name: file[name].tolist() for name in file.files}


NPZ = Format(_pack_arrays, _unpack_arrays)


def _references():
    return [_pack_arrays({
        "period": 0.01, "loop": 2, "loop_shift": np.zeros(3), "q": np.tile(STAND, (4, 1)),
        "v": np.zeros((4, 18)), "inputs": np.zeros((4, 12)), "contacts": np.ones((4, 4)),
    })]  # fmt: skip


def _traces():
    trace = Trace(np.zeros(2), np.zeros((2, 19)), np.zeros((2, 4)), np.zeros((2, 4)),
                  statuses={"ok": 1})  # fmt: skip
    with TemporaryDirectory() as folder:
        save_trace(trace, file := Path(folder) / "0.npz")
        return [file.read_bytes()]


def _rows():
    row = {"planner": "hilqr", "trial": 0, "fell": False, "kind": "base_velocity", "at": 1.0,
           "value": [0.0, 1.0, 0.0], "command": {"velocity_x": 0.2}, "duration": 6.0}  # fmt: skip
    lines = [json.dumps(row | {"trial": number}) for number in range(3)]
    return ["".join(f"{line}\n" for line in lines).encode()]


def _read_sweep(file):
    """The report's reader and the sweep that goes on."""
    with suppress(BadRequest):
        read_sweep(file.parent)
    other = file.parent / ("rows.jsonl" if file.name == "sweep.json" else "sweep.json")
    other.write_bytes(b"" if other.name == "rows.jsonl" else msgspec.json.encode(IDENTITY))
    folder = SweepFolder(file.parent, msgspec.convert(IDENTITY, SweepDescription))
    folder.close()
    return folder


def _in_folder(name, read):
    """A decoder of a file in a folder that has nothing else in it."""

    def make(folder):
        own = folder / name.replace(".", "-")
        own.mkdir(exist_ok=True)
        return through_file(name, read)(own)

    return make


def _make_read_report(folder):
    """What a process left when it ended."""
    run = RunFolder(folder)

    def read(data):
        run.report("tracker").write_bytes(data)
        return run.read_report("tracker")

    return read


def _make_look(folder):
    """Launches announce themselves by a file that they hold a lock of."""
    below = folder / f"{announcement.PREFIX}x"
    below.mkdir(exist_ok=True)
    held = (below / announcement.FILE).open("wb", buffering=0)
    fcntl.flock(held, fcntl.LOCK_EX)

    def look(data):
        os.ftruncate(held.fileno(), 0)
        os.pwrite(held.fileno(), data, 0)
        launches = announcement.running_launches(folder)
        return [(launch.alive, launch.is_moving) for launch in launches]

    return look


def _texts(*texts):
    return lambda: [msgspec.json.encode(each) for each in texts]


SUMMARY = {"fell": False, "simulated_s": 6.0, "recording": {"cause": ""}}

FILE_DECODERS = (
    Decoder("launch yaml", through_file("launch.yaml", _read_launch), _launches, (BadRequest,),
            YAML),
    Decoder("set assignment", _make_assign, lambda: ASSIGNMENTS, (BadRequest,)),
    Decoder("suite yaml", lambda _: _read_suite, _files("config"), (SuiteError, BadRequest), YAML),
    Decoder("motion yaml", through_file("motion.yaml", lambda file: read_motion(str(file))),
            _files("config/motions"), (BadRequest,), YAML),
    Decoder("key file", through_file("key", _read_keys), _keys, (ValueError,)),
    Decoder("recording", through_file("run.mcap", _read_recording), _recordings, (BadRequest,)),
    Decoder("recorder", _make_recorder, lambda: examples(*(t.message for t in RECORDED))),
    Decoder("heights npy", through_file("heights.npy", _read_heights), _heights, (BadRequest,)),
    Decoder("heights png", through_file("heights.png", _read_heights), _pictures, (BadRequest,)),
    Decoder("reference npz", through_file("reference.npz", lambda f: load_reference(f, 0.01)),
            _references, (ValueError,), NPZ),
    Decoder("trace npz", through_file("trace.npz", load_trace), _traces, (ValueError, OSError),
            NPZ),
    Decoder("sweep json", _in_folder("sweep.json", _read_sweep), _texts(IDENTITY), (BadRequest,),
            JSON),
    Decoder("sweep rows", _in_folder("rows.jsonl", _read_sweep), _rows, (BadRequest,)),
    Decoder("summary json", through_file("summary.json", lambda f: summary_of_run(f.parent)),
            _texts(SUMMARY), (), JSON),
    Decoder("report json", _make_read_report, _texts({"ticks": 6000, "missed": 0}), (), JSON),
    Decoder("announcement", _make_look, _texts(*(
        announcement.Announcement(1, str(data_folder("launch") / "drive.yaml"), "/tmp/x", moves)
        for moves in (False, True)
    )), (), JSON),
)  # fmt: skip
