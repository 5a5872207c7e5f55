"""``saltus doctor a1``: verdicts on an emulated A1, and on surveys of robots with each fault."""

import json
import time
from contextlib import closing, nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from hw_bridge.link import Datagram
from hw_bridge.options import HardwareOptions
from hw_bridge.wire.frame import read_low_state
from hw_bridge.wire.layout import BRAKE, OVERHEATED, SERVO, Header
from saltus.cli.main import run
from saltus.doctor import checks as machine
from saltus.doctor import robot as hardware_doctor
from saltus.doctor import survey as hardware_survey
from saltus.doctor.checks import Check, machine_checks
from saltus.doctor.robot import judge, judges_of
from saltus.doctor.survey import (
    Exchange,
    Phase,
    Reply,
    Silences,
    Survey,
    TickMeter,
    likely_unit,
    survey,
)
from saltus.launch.hardware import read_passes
from tests.a1 import A1, WIRE, state_frame
from tests.saltus.hardware.emulated_robot import REST, EarsOpen, emulated_robot
from tests.saltus.hardware.test_hardware_view import assert_limp
from tests.tables import table

OPTIONS = HardwareOptions()
NAMES = [name for name, _, _ in judges_of(A1)]


@pytest.fixture(autouse=True)
def state_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(hardware_survey, "FAST_S", 0.4)
    monkeypatch.setattr(hardware_survey, "SLOW_S", 0.2)
    checks = [Check("m", True, False, "")]
    monkeypatch.setattr(hardware_doctor, "machine_checks", lambda real: checks)


def examined(capsys, robot, *more):
    status = run(["doctor", "a1", *robot.settings, "--json", *more])
    found = json.loads(capsys.readouterr().out)
    return status, found, {check["check"]: check for check in found["checks"]}


@pytest.mark.realtime
def test_a_healthy_robot_and_every_frame_that_it_got(quick, capsys):
    with emulated_robot(foot_force_offset=(-1, -2, -3, -4)) as robot:
        status, found, checks = examined(capsys, robot)
    assert_limp(robot)
    assert list(checks) == [*NAMES, "m"]
    # Cadence, modes and silences depend on how much of the machine this test is given.
    for name in ("reachability", "header", "tick unit", "IMU", "joints", "temperatures",
                 "foot forces"):  # fmt: skip
        assert checks[name]["ok"], checks[name]
    essential = all(check["ok"] for check in found["checks"] if check["essential"])
    assert found["ok"] == essential and status == (0 if essential else 1)
    assert "may not work" in checks["remote"]["found"]
    measured = found["measured"]
    assert measured["header"]["serial"] == 20211207
    assert measured["tick_unit_s"] == approx(1e-3, rel=0.05)
    assert measured["foot_force_counts"] == [-1, -2, -3, -4]


def test_nobody_answers(quick, capsys):
    with closing(EarsOpen()) as robot:
        status, found, checks = examined(
            capsys, robot, "--set", "hardware.connect_timeout_s=0.1"
        )  # fmt: skip
    assert status == 1 and list(checks) == ["reachability", "m"]
    assert "no answer" in checks["reachability"]["found"]
    assert found["measured"]["tick_unit_s"] is None and found["measured"]["header"] is None


@pytest.mark.parametrize("arguments, words", table("""
    moon => a1 | emulator | sim
    sim => real robot | saltus doctor a1 | simulated
    a1-emulated => real robot | emulated
    --set duration=3 => doctor a1
    a1 --set hardware.tick_units=3 => tick_units | tick_unit_s
    a1 --set hardware.link.robot_address=robot => robot_address | 192.168.123.10
    a1 --set hardware.link.local_address=203.0.113.1 => cannot listen
"""))  # fmt: skip
def test_a_bad_request_is_one_line(refuses, arguments, words):
    refuses("doctor " + arguments, words)


# Surveys made up: a robot that answers each command after 0.4 ms, and then one fault at a time.


def lying(**changes):
    q, mode = np.zeros(20), np.zeros(20, np.int64)
    q[:12], mode[:12] = REST, SERVO
    state = read_low_state(WIRE, state_frame(WIRE))._replace(
        q=q, mode=mode, temperature=np.full(20, 30), accelerometer=np.array([0.0, 0.0, 9.81])
    )
    return state._replace(**changes)


def phase(state, every_s, count):
    asked = [every_s * k for k in range(count)]
    return Phase(asked, [Reply(state, t + 0.0004) for t in asked])


class Nowhere:
    send_errors = 0

    def send(self, frame):
        return True

    def receive(self):
        return []

    def close(self):
        pass


BRAKES = Silences(0.03, 0.035, True)


def made_up(state=None, silences=BRAKES, **header):
    """A survey of a robot that is always in one state."""
    state = state or lying()
    exchange = Exchange(WIRE, OPTIONS, Nowhere())
    exchange.intake.header = Header(**header)
    for k in range(500):
        exchange.ticks.take(2 * k, 0.002 * k)
    return Survey(phase(state, 0.002, 1000), phase(state, 0.01, 60), silences, exchange, 0)


def verdicts(*made):
    return {check.check: check for check in judge(made_up(*made), OPTIONS, A1)}


def test_without_a_fault_only_the_silent_remote_is_found_fault_with():
    found = verdicts()
    assert [name for name, check in found.items() if not check.ok] == ["remote"]
    assert "0.4 ms" in found["reachability"].found
    assert "one state per command" in found["cadence"].found
    assert "after 35 ms" in found["lost commands"].found


def at(motor, **values):
    """One number of a motor in place of what a lying robot has there."""
    ((name, value),) = values.items()
    numbers = getattr(lying(), name).copy()
    numbers[motor] = value
    return {name: numbers}


@pytest.mark.parametrize("changes, name, words", [
    ({"accelerometer": np.array([0.0, 0.0, 1.0])}, "IMU", "1.00 m/s2"),
    ({"accelerometer": np.array([9.81, 0.0, 0.0])}, "IMU", "90.0 deg"),
    ({"accelerometer": np.array([0.0, 0.0, np.nan])}, "IMU", "nan"),
    ({"gyroscope": np.array([0.0, 0.3, 0.0])}, "IMU", "0.300 rad/s"),
    ({"quaternion_wxyz": np.array([0.5, 0.0, 0.0, 0.0])}, "IMU", "0.5000"),
    ({"quaternion_wxyz": np.array([0.0, 0.0, 0.0, 0.0])}, "IMU", "0.0000"),
    ({"q": np.zeros(20)}, "joints", "zero | power"),
    (at(4, q=4.6), "joints", "FL thigh reads 4.60"),
    (at(11, q=np.nan), "joints", "RL calf reads nan"),
    ({"dq": np.full(20, 0.4)}, "joints", "0.40 rad/s"),
    (at(7, temperature=52), "temperatures", "RR thigh | below 50"),
    ({"temperature": np.zeros(20, np.int64)}, "temperatures", "none is measured"),
    (at(2, mode=OVERHEATED), "motor modes", "FR calf overheated"),
    ({"mode": np.full(20, BRAKE)}, "motor modes", "FR hip brake | 9 more"),
    ({"foot_force": np.array([0, 40, 0, 0])}, "foot forces", "foot_force_offset=[0,40,0,0]"),
    ({"header": Header(level_flag=0)}, "header", "level_flag 0"),
])  # fmt: skip
def test_each_fault_is_named_and_no_other_check_fails(changes, name, words):
    found = verdicts(lying(**changes))
    assert {n for n, check in found.items() if not check.ok} == {name, "remote"}
    assert all(word in found[name].found for word in words.split(" | ")), found[name].found


@pytest.mark.parametrize("silences, ok, words", [
    (Silences(0.025, 0.03, True), True, "brakes after 30 ms"),
    (Silences(0.045, 0.05, True), True, "brakes after 50 ms"),
    (Silences(0.05, 0.075, True), False, "50 ms at most"),
    (Silences(0.5, None, True), False, "goes on with its last command"),
    (Silences(0.002, 0.004, True), False, "needs 5 ms"),
    (Silences(0.0, None, False), False, "not in servo mode"),
])  # fmt: skip
def test_a_robot_has_to_brake_within_50_ms_of_silence(silences, ok, words):
    check = verdicts(lying(), silences)["lost commands"]
    assert check.essential and check.ok == ok and words in check.found


def test_real_time_is_essential_to_a_robot_and_to_nothing_else(monkeypatch):
    monkeypatch.setattr(machine, "guarded", lambda name, essential, _: (name, essential))
    assert ("real-time scheduling", True) in machine_checks(real=True)
    assert not any(essential for _, essential in machine_checks())


@pytest.fixture
def examine(monkeypatch, capsys):
    """Doctor on a made-up survey of the robot of serial 7, and on a machine; what it says."""

    def run_doctor(machine_ok=True, **changes):
        found = made_up(serial=7, **changes)
        monkeypatch.setattr(hardware_doctor, "black_box_link", lambda _: nullcontext(Nowhere()))
        monkeypatch.setattr(hardware_doctor, "survey", lambda *_: found)
        checks = [Check("real time", machine_ok, True, "")]
        monkeypatch.setattr(hardware_doctor, "machine_checks", lambda real: checks)
        return run(["doctor", "a1"]), capsys.readouterr().err

    return run_doctor


def test_a_robot_that_passes_gets_a_pass_and_loses_it_when_it_fails(examine):
    status, said = examine()
    assert status == 0 and "serial 7" in said and "may move this robot" in said
    assert [(each.serial, each.braked_s) for each in read_passes()] == [(7, 0.035)]
    for failing in ({"machine_ok": False}, {"silences": Silences(0.05, 0.075, True)}):
        assert examine()[0] == 0
        status, said = examine(**failing)
        assert status == 1 and "older one is removed" in said and read_passes() == []
    assert "removed" not in examine(machine_ok=False)[1]


def test_a_pass_that_cannot_be_stored_is_one_line(examine, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    status, said = examine()
    assert status == 0 and "XDG_STATE_HOME" in said and read_passes() == []


class BrakesAfter(Nowhere):
    """A robot that answers at once, and brakes when a question comes too late."""

    def __init__(self, silence_s):
        self.silence_s, self.last, self.tick = silence_s, time.monotonic(), 0
        self.braked = False
        self.waiting = []

    def send(self, frame):
        now = time.monotonic()
        self.braked |= self.tick > 0 and now - self.last > self.silence_s
        self.last, self.tick = now, self.tick + 1
        mode = np.full(20, BRAKE if self.braked else SERVO)
        data = state_frame(WIRE, **lying(mode=mode, tick=self.tick)._asdict())
        self.waiting.append(Datagram(data, OPTIONS.link.robot, now))
        return True

    def receive(self):
        waiting, self.waiting = self.waiting, []
        return waiting


@pytest.mark.realtime
def test_the_silence_that_a_robot_brakes_after_is_found(quick):
    silences = survey(WIRE, OPTIONS, BrakesAfter(0.15)).silences
    assert silences.were_tried
    assert silences.borne_s < 0.15 < silences.braked_s + 1e-3


# The tick's unit.


@given(
    unit=st.sampled_from([1e-3, 1e-6, 2e-3]), start=st.integers(0, 2**32 - 1),
    late=st.lists(st.floats(0.0, 0.004), min_size=400, max_size=400),
)  # fmt: skip
def test_the_unit_is_measured_whatever_the_jitter_and_over_the_wrap(unit, start, late):
    meter = TickMeter()
    for k, jitter in enumerate(late):
        robot_s = 0.002 * k
        meter.take((start + round(robot_s / unit)) % 2**32, robot_s + jitter)
    assert meter.unit_s == approx(unit, rel=0.004 / 0.7)
    assert likely_unit(meter.unit_s) == approx(unit, rel=0.01)
