"""What a full disk costs a launch: recording, reports and summary, a line for each; not the run."""

import json

from runtime.messages import GroundTruth
from runtime.recording import read_recording
from saltus.configuration.launch import load_launch
from saltus.launch.warmup import ensure_compiled
from tests.saltus.programs import start


def test_a_launch_goes_on_when_its_recording_cannot(tmp_path, room_for):
    ensure_compiled(load_launch("stand"))  # for the compiler's caches would find no room either
    launch = "launch stand --duration 0.3 --json".split()
    launch += ["--set", "bus.transport=zmq"]  # a full disk leaves shared memory room, this does not
    with room_for(500_000):  # of some 700 kB, in chunks of 300 kB
        process = start(*launch, "--record", str(tmp_path / "run"))
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    summary = json.loads(out.splitlines()[-1])
    assert summary["simulated_s"] == 0.3
    assert [problem["what"] for problem in summary["problems"]] == ["recording_incomplete"]
    told = [line for line in err.splitlines() if "recording stopped" in line]
    assert len(told) == 1 and "File too large" in told[0] and "Traceback" not in err

    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["recording"] == {"complete": False, "cause": "File too large"}
    assert summary["completed"] and summary["deaths"] == []
    messages = [message for _, message in read_recording(tmp_path / "run" / "run.mcap")]
    assert f"({len(messages)} frames)" in told[0]
    ticks = [message.tick for message in messages if isinstance(message, GroundTruth)]
    assert ticks == list(range(len(ticks))) and len(ticks) > 20


def test_no_room_before_the_start_is_one_line_and_nothing_starts(
    tmp_path, room_for, capsys, refused
):
    ensure_compiled(load_launch("stand"))
    capsys.readouterr()
    with room_for(1000):
        line = refused("launch", "stand", "--record", str(tmp_path / "run"))
    assert "File too large" in line and not (tmp_path / "run" / "logs").exists()
