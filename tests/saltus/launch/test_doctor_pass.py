"""A doctor's pass: kept for a robot and a day, asked for before a real A1 moves."""

import os

import pytest

from hw_bridge.wire.layout import Header
from saltus.cli.main import run
from saltus.common.errors import BadRequest
from saltus.configuration.launch import load_launch
from saltus.doctor.confirmation import confirm_motion
from saltus.launch import hardware as doctor_pass
from saltus.launch.hardware import DoctorPass, has_pass, read_passes, store_pass, withdraw_pass
from saltus.launch.hardware_processes import require_pass
from saltus.launch.warmup import NotReady
from tests.refusals import refusal

ROBOT = Header(robot_id=3, serial=20_260_101)
PASS = DoctorPass(3, 20_260_101, "2026-01-31", 0.035, "192.168.123.10")


@pytest.fixture(autouse=True)
def state(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(doctor_pass, "today", lambda: "2026-01-31")
    return tmp_path


def test_a_pass_reads_back_and_nobody_else_reads_it():
    path = store_pass(PASS)
    assert read_passes() == [PASS] and path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]
    newer = DoctorPass(3, 20_260_101, "2026-01-31", 0.02, "10.0.0.1")
    assert store_pass(newer) == path and read_passes() == [newer]


def test_a_pass_is_for_one_robot_and_one_day(monkeypatch):
    store_pass(PASS)
    assert has_pass(ROBOT) and has_pass(ROBOT._replace(bandwidth=9, level_flag=0))
    assert not has_pass(ROBOT._replace(serial=8)) and not has_pass(ROBOT._replace(robot_id=4))
    monkeypatch.setattr(doctor_pass, "today", lambda: "2026-02-01")
    assert read_passes() == [] and not has_pass(ROBOT)


def test_the_pass_of_one_robot_is_withdrawn_and_no_other(monkeypatch):
    other = ROBOT._replace(serial=8)
    store_pass(PASS)
    store_pass(DoctorPass(3, 8, "2026-01-31", 0.03, "10.0.0.2"))
    assert withdraw_pass(ROBOT) and not withdraw_pass(ROBOT)
    assert not has_pass(ROBOT) and has_pass(other)


@pytest.mark.parametrize("content", [
    b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000,
    b'{"robot_id":3,"serial":20260101,"day":"2026-01-31"}',
    b'{"robot_id":3,"serial":"7","day":"2026-01-31","braked_s":0.03,"address":""}',
    b'{"robot_id":3,"serial":7,"day":"2026-01-31","braked_s":0.03,"address":"","x":' + b"[" * 9999,
])  # fmt: skip
def test_a_damaged_file_is_no_pass_and_spoils_no_other(content):
    path = store_pass(PASS)
    store_pass(DoctorPass(3, 8, "2026-01-31", 0.03, "10.0.0.2"))
    path.write_bytes(content)
    assert [each.serial for each in read_passes()] == [8]
    assert not has_pass(ROBOT)


# Before anything is sent: `confirm_motion`.


@pytest.fixture
def terminal(monkeypatch):
    """Lines that somebody types in a terminal."""

    def type_(text):
        ours, theirs = os.openpty()
        os.write(ours, text)
        monkeypatch.setattr("saltus.doctor.confirmation.STANDARD_INPUT", theirs)
        return theirs

    return type_


def test_without_a_pass_a_person_may_go_on_in_so_many_words(terminal, capsys):
    keys = terminal(b"move\nwithout doctor\nur\n")
    assert confirm_motion(load_launch("a1")).hardware.without_doctor
    assert os.read(keys, 10) == b"ur\n"
    said = capsys.readouterr().err
    assert "`saltus doctor a1`" in said and "without a doctor's pass" in said


@pytest.mark.parametrize("text", [
    b"move\nmove\n", b"move\n\n", b"move\nWithout doctor\n", b"without doctor\nmove\n",
    b"move\nwithout  doctor\n", b"move\n\x04",
])  # fmt: skip
def test_any_other_words_send_nothing(text, terminal):
    terminal(text)
    with pytest.raises(BadRequest):
        confirm_motion(load_launch("a1"))


def test_a_script_is_refused_without_a_pass_in_one_line(monkeypatch, capsys):
    read, write = os.pipe()
    os.write(write, b"move\nwithout doctor\n")
    os.close(write)
    monkeypatch.setattr("saltus.doctor.confirmation.STANDARD_INPUT", read)
    monkeypatch.setattr("saltus.launch.hardware.check_at_hand", lambda config: None)
    key = ["--set", "hardware.without_doctor=true"]  # no file and no option stands for a person
    assert run(["launch", "a1", *key]) == 2
    *warned, refusal = capsys.readouterr().err.strip().splitlines()
    assert "`saltus doctor a1`" in refusal
    assert len(warned) == 1 and "without_doctor has no effect" in warned[0]
    assert os.read(read, 9) == b"move\nwith"  # nothing was asked


# In the tracker's process, which knows who answers: `require_pass`.


def test_the_robot_that_answers_has_to_be_the_one_that_passed():
    config = load_launch("a1")
    assert "20260101" in refusal(NotReady, require_pass, config, ROBOT)
    store_pass(PASS)
    require_pass(config, ROBOT)
    for header in (None, ROBOT._replace(serial=8)):
        with pytest.raises(NotReady):
            require_pass(config, header)


@pytest.mark.parametrize("assignments", [
    ["hardware.without_doctor=true"], ["hardware.mode=dry_run"], ["connection=emulated"],
    ["hardware.link.robot_address=127.0.0.1"],
])  # fmt: skip
def test_no_pass_is_asked_of_an_emulator_without_torque_or_after_the_override(assignments):
    with pytest.raises(NotReady):
        require_pass(load_launch("a1"), ROBOT)
    require_pass(load_launch("a1", assignments), ROBOT)
