"""What a full disk costs a launch: recording, reports and summary, a line for each; not the run."""

import json
import os
import subprocess
import sys
from pathlib import Path

from runtime.messages import GroundTruth
from runtime.recording import read_recording
from saltus.configuration.launch import load_launch
from saltus.launch.warmup import ensure_compiled

ROOT = Path(__file__).parents[3]


def test_a_launch_goes_on_when_its_recording_cannot(tmp_path, room_for):
    ensure_compiled(load_launch("stand"))  # for the compiler's caches would find no room either
    launch = ["launch", "stand", "--duration", "0.3", "--json"]
    launch += ["--set", "bus.transport=zmq"]  # a full disk leaves shared memory room, this does not
    command = [sys.executable, "-m", "saltus.cli.main", *launch]
    with room_for(500_000):  # of some 700 kB, in chunks of 300 kB
        done = subprocess.run(
            [*command, "--record", str(tmp_path / "run")], capture_output=True, text=True,
            timeout=120, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["simulated_s"] == 0.3
    assert [problem["what"] for problem in summary["problems"]] == ["recording_incomplete"]
    told = [line for line in done.stderr.splitlines() if "recording stopped" in line]
    assert len(told) == 1 and "File too large" in told[0] and "Traceback" not in done.stderr

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
