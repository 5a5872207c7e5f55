"""Who drives a launch: what is refused, who reads the keys, and one launch that a client drives."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from pytest import approx

from controller.options import DriveOptions
from hw_bridge.operator.driving import KeyDevice
from hw_bridge.options import KeyOptions
from runtime.bus import Bus
from runtime.messages import Command, GroundTruth, Plan
from runtime.recording import read_recording
from runtime.topics import COMMAND
from runtime.wire import encode
from saltus.cli.main import run
from saltus.configuration.launch import changed
from saltus.launch.announcement import running_launches
from saltus.launch.driving import bounds_of, drive
from tests.a1 import A1
from tests.saltus.announced import announced
from tests.saltus.programs import ROOT, start
from tests.tables import table

STAIRS = {"kind": "stairs", "rise": 0.05, "count": 3, "at": [0.5, 0.0]}


@pytest.mark.parametrize("arguments, words", table("""
    sim --drive remote => needs a real or emulated robot
    sim --drive keyboard => `saltus drive`
    sim --drive client --mode paused => for mode realtime
    drive --drive client => one drives, not two
    sim --drive wheel => 'keyboard', 'remote', 'client'
    emulator --drive client => not this one
    sim --set sources.sticks.gait=gallop => stand, walk, trot, bound, auto
    sim --set sources.keys.forward=0 => above 0
    a1-emulated --drive keyboard --set hardware.operator.keyboard=false \
        => hardware.operator.keyboard
"""))  # fmt: skip
def test_who_cannot_drive_is_refused_in_one_line(arguments, words, refuses):
    refuses("launch " + arguments, words)


def test_without_a_launch_that_clients_drive_keys_start_one_and_else_there_is_a_remedy(
    temporary, refused, monkeypatch
):
    started = []
    monkeypatch.setattr(
        "saltus.cli.run.launch", lambda *words, view, json: started.append((*words, view)) or 0
    )
    assert run(["drive"]) == 0 and started == [("sim", "client", True)]
    assert "no launch is running" in refused("drive", "--gamepad", "/nowhere")
    with announced(temporary, "a", None) as announcer:
        line = refused("drive")
        assert "driven by its own command" in line and "saltus launch sim --drive client" in line
        [launch] = running_launches()
        assert launch.alive and not launch.is_moving and launch.pid == os.getpid()
        for field in ("is_moving", "is_moving", "fell"):
            announcer.update(**{field: True})
            assert launch.is_moving and launch.fell is (field == "fell")
        launch.begin_again(changed(launch.config, planner="convex_mpc", terrain=[STAIRS]))
        following = announcer.next()
        assert following.planner == "convex_mpc"
        assert following.terrain[0].count == 3 and following.simulation == launch.config.simulation
    assert running_launches() == [] and not launch.alive and not launch.is_moving


def begun(temporary, process):
    """The launch of `process`, once its robot moves."""
    while process.poll() is None:
        for launch in running_launches(temporary):
            if launch.is_moving:
                return launch
        time.sleep(0.05)
    raise AssertionError(process.communicate()[1])


@pytest.mark.realtime
def test_a_client_drives_and_its_silence_is_a_stand(temporary, tmp_path):
    """Commands that are damaged, not finite, or old are counted, and change nothing."""
    record = tmp_path / "run"
    arguments = "launch sim --drive client --json --planner instant_qp --record".split()
    process = start(*arguments, str(record))
    good = {"left": 0.0, "yaw_rate": 0.0, "gait": "trot"}
    with Bus(begun(temporary, process).endpoints) as bus:
        commands = bus.publisher(COMMAND)
        assert commands.wait_for_subscribers(2, 60.0)
        for sequence in range(100):
            commands.send(Command(sequence=sequence, time=0.0, forward=0.4, **good))
            if sequence == 50:
                commands.send(Command(sequence=999, time=0.0, forward=float("nan"), **good))
                commands.send(Command(sequence=3, time=0.0, forward=-1.0, **good))
                damaged = encode(Command(sequence=999, time=0.0, forward=-1.0, **good))[:-3]
                commands._socket.send(damaged)
            time.sleep(0.02)
        time.sleep(3.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    messages = list(read_recording(record / "run.mcap"))
    plans = [message for _, message in messages if isinstance(message, Plan)]
    obeyed = [plan.command for plan in plans]
    assert max(obeyed) == 99 and obeyed[-1] == -1
    first = obeyed.index(next(number for number in obeyed if number >= 0))
    followed = obeyed[first : obeyed.index(-1, first)]
    assert followed == sorted(followed) and 999 not in followed
    truths = [message for _, message in messages if isinstance(message, GroundTruth)]
    stood = [truth for truth in truths if truth.time < plans[-1].time][-1]
    walked = np.linalg.norm(stood.q[:2] - truths[0].q[:2])  # the start is drawn
    assert walked > 0.1 and not json.loads(out.splitlines()[-1])["fell"]
    assert abs(stood.v[:6]).max() < 0.1 and stood.contact.all()
    counts = json.loads((record / "reports" / "planner.json").read_text())["commands"]
    assert counts["not_finite"] == counts["old"] == counts["undecodable"] == 1
    assert counts["silences"] >= 1
    recorded = [m.sequence for _, m in messages if isinstance(m, Command)]
    assert set(range(100)) <= set(recorded)


def test_keys_go_out_until_nothing_can_come_any_more():
    reading, writing = os.pipe()
    device = KeyDevice(reading, KeyOptions(), bounds_of(DriveOptions(), A1))
    commands = []
    os.write(writing, b"iij")
    pacer = drive(device, commands.append, lambda: len(commands) > 3)
    assert [(c.forward, c.yaw_rate) for c in commands[:4]] == [(0.2, 0.2)] * 4
    assert commands[-1].forward == 0.0 and pacer.commands == len(commands) == 5
    os.close(writing)
    assert drive(device, commands.append, lambda: False).commands == 0
    os.close(reading)


def test_the_example_drives_in_a_circle(temporary):
    with announced(temporary, "a", "client"):
        [launch] = running_launches()
        example = subprocess.Popen(
            [sys.executable, str(ROOT / "examples" / "drive.py")],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        with Bus(launch.endpoints) as bus:
            received = bus.subscriber(COMMAND).wait(60.0)
        example.terminate()
        example.wait()
    assert received.forward / received.yaw_rate == approx(0.5)


def test_of_two_the_newest_is_driven_and_a_second_driver_is_refused(temporary, refused):
    with announced(temporary, "a", "client"), announced(temporary, "b", "client"):
        os.utime(temporary / "saltus-a", (1.0, 1.0))
        [newest, _] = running_launches()
        assert newest.file.parent.name == "saltus-b"
        with Bus(newest.endpoints) as bus:
            bus.publisher(COMMAND)
            line = refused("drive")
    assert "has a driver already" in line and "saltus-b" in line
