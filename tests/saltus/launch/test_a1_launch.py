"""A launch on an A1: what is asked first, who plays, and one whole run over UDP to the emulator."""

import os
import pty
import shlex
import socket
from contextlib import closing

import pytest

import saltus.doctor.confirmation as confirmation
from runtime.messages import RobotStatus
from runtime.recording import read_recording
from saltus.cli.main import run as saltus
from saltus.common.errors import BadRequest
from saltus.configuration.launch import load_launch
from saltus.doctor.confirmation import confirm_motion
from saltus.export.black_box import segments_of, write_csv
from saltus.launch.hardware import (
    DoctorPass,
    check_at_hand,
    hardware_options,
    open_link,
    open_robot_socket,
    store_pass,
    today,
    with_own_port,
)
from saltus.launch.outcome import robot_summary
from saltus.launch.supervisor import Death, free_port
from studies.a1.faults import TABLE, row_of, trial_of
from studies.a1.harmed import run_trial
from tests.a1 import robot_status
from tests.tables import table


@pytest.fixture(autouse=True)
def passed(monkeypatch, tmp_path):
    """An A1 that the doctor has passed today."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store_pass(DoctorPass(0, 7, today(), 0.03, "192.168.123.10"))


@pytest.fixture
def typed(monkeypatch):
    """Lines of standard input, as somebody types them."""

    def type_(text):
        read, write = os.pipe()
        os.write(write, text)
        os.close(write)
        monkeypatch.setattr("saltus.doctor.confirmation.STANDARD_INPUT", read)

    return type_


FLIP = ["reference=backflip", "hardware.motions=true", "hardware.limits=full"]
LIMP = ["hardware.mode=dry_run"]
MOVE = b"move\n"


@pytest.mark.parametrize("launch, keys, text, refused", [
    ("a1", [], MOVE, False), ("a1", ["reference=trot"], MOVE, False),
    *(("a1", [], text, True) for text in (b"yes\n", b"\n", b"", b"Move\n")),
    ("a1", FLIP, MOVE + b"backflip\n", False),
    *(("a1", FLIP, text, True) for text in (MOVE, MOVE + b"yes\n", b"backflip\n" + MOVE, b"")),
    # Without torque or a real robot nothing is asked.
    ("a1", LIMP, b"", False), ("a1", [FLIP[0], *LIMP], b"", False),
    ("a1", ["hardware.link.robot_address=127.0.0.1"], b"", False),
    ("a1", ["connection=emulated"], b"", False), ("a1-emulated", FLIP[:1], b"", False),
])  # fmt: skip
def test_a_real_robot_moves_only_once_every_word_is_typed(launch, keys, text, refused, typed):
    config = load_launch(launch, keys)
    typed(text if refused else text + b"ur ")
    if refused:
        with pytest.raises(BadRequest):
            confirm_motion(config)
    else:
        confirm_motion(config)
        assert os.read(confirmation.STANDARD_INPUT, 10) == b"ur "  # left for the robot's keys


def test_a_closed_standard_input_is_nobody_who_says_the_word(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)  # as after <&-
    with pytest.raises(BadRequest):
        confirm_motion(load_launch("a1"))
    assert capsys.readouterr().err.endswith("\n")  # what is said next begins a line


def test_motions_are_allowed_on_an_emulator_alone():
    assert hardware_options(with_own_port(load_launch("a1-emulated"))).motions
    assert not hardware_options(load_launch("a1")).motions


@pytest.fixture
def standard_input():
    """`replace(fd)`: this process's standard input from now on; None closes it."""
    kept = os.dup(0)

    def replace(fd):
        os.close(0) if fd is None else os.dup2(fd, 0)

    yield replace
    os.dup2(kept, 0)
    os.close(kept)


NO_KEYS = ["--set", "hardware.operator.keyboard=false"]


@pytest.mark.parametrize("keys", ["null", "closed", "ended pipe", "not read"])
def test_a_real_robot_that_nothing_could_stop_is_not_launched(keys, standard_input, refused):
    reading, writing = os.pipe()
    with open(os.devnull) as null:
        standard_input({"null": null.fileno(), "closed": None}.get(keys, reading))
    if keys == "ended pipe":
        os.write(writing, b"move\nur")
        os.close(writing)
    told = refused("launch", "a1", *(NO_KEYS if keys == "not read" else []))
    assert "nothing could stop the robot" in told and "hardware.operator.gamepad" in told
    os.close(reading)
    if keys != "ended pipe":
        os.close(writing)


def test_keys_or_a_gamepad_are_means_to_stop(standard_input, tmp_path):
    free = ["hardware.link.local_port=0", "hardware.link.robot_address=127.0.0.1"]
    os.mkfifo(tmp_path / "js0")
    pad = os.open(tmp_path / "js0", os.O_RDWR)
    with open(os.devnull) as null:
        standard_input(null.fileno())
    check_at_hand(load_launch("a1", [*free, f"hardware.operator.gamepad={tmp_path / 'js0'}"]))
    for limp_or_emulated in ("hardware.mode=dry_run", "connection=emulated"):
        check_at_hand(load_launch("a1", [*free, f"emulator.port={free_port()}", limp_or_emulated]))
    for here, there in (os.pipe(), pty.openpty()[::-1]):
        standard_input(here)
        check_at_hand(load_launch("a1", free))
        os.close(there)
        with pytest.raises(BadRequest):
            check_at_hand(load_launch("a1", free))
        os.close(here)
    os.close(pad)


@pytest.mark.parametrize(
    "key, words", [("size_mb=1000000", "MB of room"), ("folder=/dev/null/x", "cannot be used")]
)
def test_a_real_robot_without_room_for_its_black_box_is_not_launched(key, words, tmp_path, refused):
    folder = f"hardware.black_box.folder={tmp_path}"
    sets = [folder, f"hardware.black_box.{key}", "hardware.mode=dry_run"]
    assert words in refused("launch", "a1", *(word for each in sets for word in ("--set", each)))


@pytest.mark.parametrize("arguments, words", table("""
    a1 --mode paused => cannot be paused
    sim --dry-run => need a real or emulated robot
    a1-emulated --set 'perturbations=[{kind: base_force, at: 1, for: 1, value: [0, 0, 1]}]' \
        => emulator.events
    a1 --set hardware.link.robot_address=a1.local => hardware.link.robot_address is 'a1.local'
    a1 --set hardware.link.robot_address=auto => hardware.link.robot_address is 'auto'
    a1 --set hardware.link.robot_address=0.0.0.0 => hardware.link.robot_address is 0.0.0.0
    a1 --set hardware.link.robot_address=224.0.0.1 => hardware.link.robot_address is 224.0.0.1
    a1 --set hardware.link.robot_port=0 => hardware.link.robot_port is 0
    a1 --set hardware.link.robot_port=65536 => hardware.link.robot_port is 65536
    a1 --set hardware.link.local_address=::1 => hardware.link.local_address is '::1'
    a1 --set hardware.link.local_port=-1 => hardware.link.local_port is -1
    a1 --set hardware.operator.remote_stop=[[R3]] => hardware.operator.remote_stop is [['R3']]
    a1 --set hardware.operator.remote_stop=[[]] => hardware.operator.remote_stop is [[]]
    a1 --set hardware.operator.gamepad_buttons.stop=[] => stop
    a1 --set hardware.operator.gamepad_buttons.run=7 => give each use a button of its own
    a1 --set sources.gamepad.dead_man_axis=null => give dead_man_axis, dead_man_button, or both
    a1 --set sources.gamepad.turn=1 => give each use an axis of its own
    a1 --set hardware.motion.damping_s=6 => less than damping_timeout_s
    a1 --set hardware.safety.torque_limit=42.1 => torque_limit is 42.1
    a1 --set hardware.safety.total_power=1001 => total_power is 1001
    a1 --set hardware.safety.temperature_stop=81 => temperature_stop is 81
    a1 --set hardware.safety.tilt_max=3.2 => tilt_max is 3.2
    a1 --set hardware.safety.kp_max=1024 => kp_max is 1024
    a1 --set hardware.safety.state_age_hold_s=0.1 => less than state_age_max_s
    a1 --set hardware.safety.temperature_warn=60 => less than temperature_stop
    a1-emulated --set hardware.safety.torque_limit=40 => the robot's own, 33.5 N m
    a1 --set hardware.operator.gamepad=/nowhere --dry-run \
        --set hardware.link.robot_address=127.0.0.1 --set hardware.link.local_port=0 \
        => /nowhere
    a1 --dry-run --set hardware.link.local_address=203.0.113.9 => 203.0.113.9
    a1 --set reference=backflip => hardware.motions true
    a1 --set reference=backflip --set hardware.motions=true --set hardware.limits=first_run \
        => give hardware.limits full
    a1-emulated --set reference=backflip --set hardware.limits=first_run \
        => give hardware.limits full
    a1-emulated --set 'emulator.events=[{kind: quake, at: 1}]' => quake
    a1-emulated --duration 2 => emulator.events
    emulator --set simulation.engine=isaacgym => simulation.engine mujoco
"""))  # fmt: skip
def test_what_cannot_be_is_one_line_and_status_2(arguments, words, capsys):
    assert saltus(shlex.split("launch " + arguments)) == 2
    error = capsys.readouterr().err.strip().splitlines()
    assert words in error[-1], error


@pytest.mark.parametrize("name", ["emulator", "a1-emulated"])
def test_an_emulators_port_that_is_taken_is_found_out_before_anything_starts(name, refused):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        told = refused("launch", name, "--set", f"emulator.port={port}")
    assert f"127.0.0.1 port {port}" in told


def test_a_second_emulated_launch_takes_ports_of_its_own():
    first, second = (with_own_port(load_launch("a1-emulated")) for _ in range(2))
    assert 1 <= first.emulator.domain <= 230 and first == with_own_port(first)
    with closing(open_robot_socket(first)), closing(open_link(first)):
        check_at_hand(second)
        check_at_hand(load_launch("a1-emulated"))


def test_the_cause_of_a_run_is_who_died_and_else_what_the_bridge_says():
    report = {"robot": {"state": "off", "cause": "the planner died", "ended_well": False}}
    death = Death("planner", "killed by SIGKILL", False)
    assert robot_summary(None, report, {}, [death])["cause"] == "planner died (killed by SIGKILL)"
    assert robot_summary(None, report, {}, [])["cause"] == "the planner died"
    hung, killed = {"cause": "the tracker hung"}, Death("tracker", "killed by SIGKILL", True)
    given_up = Death("tracker", "it did not end", False, hung=True)
    assert robot_summary(None, {}, hung, [given_up])["cause"] == "the tracker hung"
    found = robot_summary(None, {}, hung, [killed])
    assert found["cause"] == "tracker died (killed by SIGKILL); the watchdog damps"
    assert robot_summary(None, report, hung, [])["cause"] == "the planner died"
    silent = robot_summary(robot_status("damping", cause="too hot"), {}, {}, [])
    assert silent == {"state": "silent", "cause": "too hot", "ended_well": False}


@pytest.mark.quiet  # a busy machine may stop the robot
def test_a_launch_over_udp_ends_off_and_leaves_a_recording(tmp_path, printed):
    quick = ["reference=stand", "emulator.events=[]", "hardware.motion.joint_speed=3",
             "hardware.motion.damping_s=0.2"]  # fmt: skip
    sets = [argument for value in quick for argument in ("--set", value)]
    record = tmp_path / "run"
    summary = printed("launch", "a1-emulated", "--duration", "1", "--record", str(record), *sets)
    assert summary["robot"]["ended_well"], summary["problems"]
    assert summary["robot"]["state"] == "off"
    assert summary["robot"]["limits"] == "full" and not summary["robot"]["without_doctor"]
    assert summary["robot"]["frames"]["accepted"] > 500
    seen = {topic for topic, _ in read_recording(record / "run.mcap")}
    assert {"robot_status", "motor_command", "ground_truth"} <= seen
    states = [m.state for topic, m in read_recording(record / "run.mcap")
              if topic == "robot_status" and isinstance(m, RobotStatus)]  # fmt: skip
    assert states[0] == states[-1] == "off" and {"damping", "stand_up"} <= set(states)
    (kept,) = segments_of(record)  # in every state, what was refused and what asked for a state too
    assert kept.counts["from_robot"] == sum(summary["robot"]["frames"].values())
    assert kept.counts["by_tracker"] >= summary["robot"]["commands"]
    write_csv([kept], tmp_path / "csv", 60.0)
    assert "robot: damping -> off" in (tmp_path / "csv" / "run_logs_tracker.log").read_text()


@pytest.mark.slow
@pytest.mark.realtime
@pytest.mark.parametrize("fault", TABLE["faults"], ids=lambda fault: fault["name"])
def test_the_robot_ends_as_it_should_under_every_fault(fault, tmp_path):
    row = row_of(fault, run_trial(trial_of(fault), tmp_path / "fault"))
    assert not row["wrong"], row
