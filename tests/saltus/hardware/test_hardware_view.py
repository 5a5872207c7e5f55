"""``saltus launch a1 --read-only`` against an emulated A1: what it says, and all that it sends."""

import io
import json
import os
import signal
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import yaml
from pytest import approx
from rich.console import Console

from hw_bridge.emulator.options import PowerCut
from hw_bridge.wire.layout import POS_STOP, SERVO, Header
from hw_bridge.wire.remote import encode_remote
from robots.conventions import JOINT_LABELS
from saltus.cli.main import run
from saltus.doctor.read_only_view import _last, panel
from saltus.export.black_box import segments_of
from tests.hw_bridge.safety.safety_samples import sample_of
from tests.saltus.hardware.emulated_robot import REST, EarsOpen, emulated_robot


def read_only(robot, *more):
    return run(["launch", "a1", "--read-only", *robot.settings, *more])


def assert_limp(robot):
    """Every frame that the robot ever got switches all loops off."""
    assert robot.commands
    for command in robot.commands:
        setpoints = command.setpoints
        assert (setpoints.q == POS_STOP).all() and (command.mode[:12] == SERVO).all()
        assert not np.any([setpoints.kp, setpoints.kd, setpoints.tau])


@pytest.mark.realtime
def test_json_is_the_only_line_on_standard_output_and_nothing_but_limp_frames_are_sent(capsys):
    with emulated_robot() as robot:
        assert read_only(robot, "--duration", "0.5", "--json") == 0
    assert_limp(robot)
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    found = json.loads(out)
    assert 0 < found["frames"] <= len(robot.heard) <= found["sent"]
    assert found["header"]["serial"] == 20211207
    assert found["tick_unit_s"] == approx(1e-3, rel=0.05)
    assert found["rate_hz"] > 0.0 and found["gap_ms"]["p50"] <= found["gap_ms"]["max"]
    last = found["last"]
    assert last["q"] == approx(REST, abs=1e-6)
    assert last["mode"] == [SERVO] * 12 and last["foot_force"] == [-1, -23, -8, -14]
    assert last["remote"]["buttons"] == [] and last["remote"]["head"] == "00 00"


def test_frames_both_ways_are_kept_and_commands_carry_the_robots_header_once_it_is_known(capsys):
    with emulated_robot(serial=77, robot_id=5) as robot:
        assert read_only(robot, "--duration", "0.5") == 0
        counts = Counter[str]()
        for segment in segments_of(Path(robot.folder.name)):
            counts.update(segment.counts)
    assert f"frames are kept in {robot.folder.name}" in capsys.readouterr().err
    assert counts["by_tracker"] >= len(robot.heard) > 0
    assert counts["from_robot"] > 0 and counts["run_text"] > 0
    headers = [command.header for command in robot.commands]
    assert headers[0] == Header() and headers[-1] == Header(255, 3, 5, 77, 8)
    assert headers == sorted(headers, key=lambda header: header.serial)


def test_a_black_box_that_cannot_be_written_costs_a_line(capsys, tmp_path):
    (tmp_path / "file").touch()
    folder = f"hardware.black_box.folder={tmp_path / 'file'}"
    with emulated_robot() as robot:
        assert read_only(robot, "--duration", "0.3", "--set", folder) == 0
    assert "no black box: the black box cannot be written" in capsys.readouterr().err


def test_nobody_answers(capsys):
    with closing(EarsOpen()) as robot:
        status = read_only(robot, "--set", "hardware.connect_timeout_s=0.2")
    out, err = capsys.readouterr()
    assert status == 1 and out == ""
    assert "no answer from 127.0.0.1" in err.splitlines()[-1]
    assert "saltus launch emulator" in err.splitlines()[-1]


@pytest.mark.realtime
def test_a_wrong_tick_unit_is_named_with_its_remedy(capsys):
    with emulated_robot(tick_unit_s=1e-6) as robot:
        read_only(robot, "--duration", "0.6")
    out = capsys.readouterr().out
    assert "leap" in out and "--set hardware.tick_unit_s=1e-06" in out


def test_ctrl_c_ends_it_well(capsys):
    with emulated_robot() as robot:

        def interrupt():
            while len(robot.heard) < 100:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        hand = threading.Thread(target=interrupt, daemon=True)
        hand.start()
        assert read_only(robot, "--duration", "1000", "--json") == 0
        hand.join()
    assert json.loads(capsys.readouterr().out)["seconds"] < 1000.0


def test_a_robot_that_falls_silent_is_no_success(capsys):
    with emulated_robot(events=(PowerCut(0.2),)) as robot:
        assert read_only(robot, "--duration", "1.6", "--json") == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["last"]["age_s"] > 1.0
    assert "no state came from the robot" in err.splitlines()[-1]


def test_the_picture_has_every_motor_foot_button_and_refusal():
    mode = np.full(20, SERVO)
    mode[4], mode[7] = 0x08, 0x42
    seen = sample_of(
        9.99, 9.99, 5, mode=mode, q=np.linspace(-1.0, 1.0, 20), temperature=np.full(20, 31),
        foot_force=np.array([-1, -23, 300, 0]), remote=encode_remote(["R2"]),
    )  # fmt: skip
    found = yaml.safe_load("""
        {robot: 192.168.123.10 port 8007, seconds: 3, sent: 1500, frames: 1490, rate_hz: 499,
        refused: {old: 8, crc: 2}, gap_ms: {p50: 2, p99: 2.5, max: 7}, tick: "", tick_unit_s: 0.001}
    """)
    console = Console(file=io.StringIO(), width=80, soft_wrap=True)
    console.print(panel(found | {"last": _last(seen, 10.0)}), crop=True)
    picture = console.file.getvalue()
    words = "overheated|0x42|servo|-23|300|R2|age 0.010 s|old 8, crc 2|499 Hz|192.168.123.10"
    for word in (*JOINT_LABELS, *words.split("|")):
        assert word in picture
    assert len(picture.splitlines()) < 24 and max(map(len, picture.splitlines())) <= 80
    assert "tick_unit_s" not in picture
