"""`saltus black-box`: what is listed, and CSV files that hold what was on the wire."""

import csv

import numpy as np
import pytest
from pytest import approx

from hw_bridge.black_box.ring import FRAMES, RUN_TEXT, Ring, RobotFrame, RunText, segments
from hw_bridge.wire.low_command import LowCommandEncoder, Setpoints
from runtime.messages import encode
from saltus.cli.main import run
from tests.a1 import WIRE, state_frame

BEGIN_NS = 1_800_000_000_000_000_000
STATES = 300


@pytest.fixture
def ring(tmp_path):
    """Half a minute of a robot: a state each 0.1 s, one command, and a log."""
    folder = tmp_path / "ring"
    writer = Ring(folder, 16_000_000)

    def write(topic, message):
        writer.write(topic, encode(message), BEGIN_NS + round(1e9 * message.time))

    text = RunText(time=0.0, file="../a1-1/logs/tracker.log", text="robot: off -> damping\n")
    write(RUN_TEXT, text)
    for number in range(STATES):
        joints = np.linspace(0.0, 1.0, 20) + number
        data = state_frame(WIRE, q=joints, tau_est=np.full(20, 1.5), tick=number)
        write(FRAMES["from_robot"], RobotFrame(time=0.1 * number, data=data))
    twelve = np.arange(12.0)
    setpoints = Setpoints(twelve, -twelve, np.full(12, 40.0), np.full(12, 2.0), 0.5 * twelve)
    data = LowCommandEncoder(WIRE).encode(setpoints)
    write(FRAMES["by_tracker"], RobotFrame(time=29.0, data=data))
    write(FRAMES["by_watchdog"], RobotFrame(time=29.5, data=data[:-1]))  # cut: not in the CSV
    writer.close()
    return folder


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_a_ring_is_listed(ring, printed, capsys):
    (row,) = printed("black-box", str(ring))["files"]
    assert row["seconds"] == approx(29.9)
    assert [row[way] for way in ("from_robot", "by_tracker", "by_watchdog")] == [STATES, 1, 1]
    assert run(["black-box", str(ring)]) == 0
    assert "000001-" in capsys.readouterr().out


def test_csv_files_hold_what_was_on_the_wire(ring, tmp_path, printed):
    out = tmp_path / "out"
    counts = printed("black-box", str(ring), "--csv", str(out), "--last", "9.95")["rows"]
    assert counts == {"from_robot.csv": 100, "by_tracker.csv": 1}
    states = rows_of(out / "from_robot.csv")
    assert [int(row["tick"]) for row in states] == list(range(200, 300))
    assert float(states[0]["FR_thigh_q [rad]"]) == approx(200.0 + 1.0 / 19.0)
    assert float(states[0]["RL_calf_tau_est [N m]"]) == 1.5
    assert float(states[-1]["quaternion_w"]) == 1.0
    (command,) = rows_of(out / "by_tracker.csv")
    assert float(command["FL_hip_q [rad]"]) == 3.0
    assert float(command["FL_hip_kp [N m/rad]"]) == 40.0
    assert float(command["FL_hip_tau [N m]"]) == 1.5
    assert float(command["monotonic [s]"]) == 29.0


def test_logs_are_written_and_none_outside_of_the_folder(ring, tmp_path):
    out = tmp_path / "out"
    assert run(["black-box", str(ring), "--csv", str(out)]) == 0
    assert (out / ".._a1-1_logs_tracker.log").read_text() == "robot: off -> damping\n"


@pytest.mark.parametrize("arguments, words", [
    ("nowhere", "holds no black box"),
    ("{ring} --last nan", "than or equal"),
    ("{ring} --csv {ring}", "cannot be made"),
])  # fmt: skip
def test_bad_requests_are_one_line(arguments, words, ring, refuses):
    refuses("black-box " + arguments.format(ring=ring), words)


@pytest.mark.parametrize("rest", [bytes(5000), b"\xff" * 5000])
def test_of_a_damaged_file_all_before_the_damage_is_taken(rest, ring, printed):
    (file,) = segments(ring)
    later = Ring(ring, 16_000_000)
    later.write(FRAMES["from_robot"], encode(RobotFrame(time=40.0, data=b"")), BEGIN_NS)
    later.close()
    file.write_bytes(file.read_bytes()[:-40] + rest)
    first, second = printed("black-box", str(ring))["files"]
    assert (first["from_robot"], second["from_robot"]) == (STATES, 1)
