"""Chaos: what is drawn, what is done to a process, and how an end is judged."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from studies.a1.chaos import leap, trial
from studies.a1.chaos.acts import do
from studies.a1.chaos.draw import LENGTH_S, STATES, VICTIMS, Harm, draw_harms

PAIRS = {(kind, victim) for kind, victims in VICTIMS.items() for victim in victims}
SLEEP = "import time; print(flush=True); time.sleep(60)"
GROW = """
file = open({file!r}, "wb", buffering=0)
file.write(b"abc")
print(flush=True)
input()
try:
    file.write(b"d")
except OSError as error:
    print(error.strerror, flush=True)
"""
CLOCK = """
import time
print(time.time(), time.time_ns(), flush=True)
input()
print(time.time(), time.time_ns(), flush=True)
"""


@contextmanager
def victim(program: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | environment,
    )  # fmt: skip
    with process:
        try:
            yield process
        finally:
            process.kill()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def hurt(kind: str, process: subprocess.Popen[str], value: float = 0.0) -> None:
    do(Harm(kind, "planner", "running", 0.0, value), {"planner": process.pid}, {})


def state_of(process: subprocess.Popen[str]) -> str:
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_every_kind_comes_to_every_process_equally_often():
    harms = draw_harms(3, 4 * len(PAIRS))
    counts = Counter((harm.kind, harm.victim) for harm in harms)
    assert set(counts) == PAIRS and set(counts.values()) == {4}
    assert {harm.state for harm in harms} == set(STATES)
    for harm in harms:
        assert 0.0 <= harm.at_s <= STATES[harm.state][1]
        shortest, longest = LENGTH_S.get(harm.kind, (-3600.0, 3600.0))
        assert shortest <= harm.value <= longest


def test_the_seed_says_what_happens_and_more_trials_begin_alike():
    assert draw_harms(1, 90)[:50] == draw_harms(1, 50) != draw_harms(2, 50)


def test_a_process_is_killed_stopped_or_paused():
    with victim(SLEEP) as process:
        line_of(process)
        hurt("pause", process, 0.01)
        assert state_of(process) != "T"
        hurt("stop", process)
        assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
        hurt("kill", process)
        assert process.wait(10.0) == -signal.SIGKILL


def test_harm_to_a_process_that_has_ended_is_told():
    with victim("") as process:
        process.wait(10.0)
    with pytest.raises(ProcessLookupError):
        hurt("kill", process)


def test_a_starved_process_gets_its_priority_back():
    with victim(SLEEP) as process:
        line_of(process)
        before = os.sched_getscheduler(process.pid)
        hurt("starve", process, 0.01)
        assert os.sched_getscheduler(process.pid) == before != os.SCHED_IDLE


def test_no_file_of_a_process_grows_any_more(tmp_path):
    with victim(GROW.format(file=str(tmp_path / "file"))) as process:
        line_of(process)
        hurt("fill", process)
        go_on(process)
        assert line_of(process) == "File too large"
    assert (tmp_path / "file").read_bytes() == b"abc"


@pytest.mark.parametrize("seconds", [3600.0, -3600.0])
def test_a_clock_leaps(tmp_path, seconds):
    (tmp_path / "sitecustomize.py").write_text(Path(leap.__file__).read_text())
    environment = {"PYTHONPATH": str(tmp_path), leap.SECONDS: str(seconds)}
    with victim(CLOCK, **environment) as process:
        before = [float(word) for word in line_of(process).split()]
        hurt("clock", process)
        go_on(process)
        after = [float(word) for word in line_of(process).split()]
    assert after[0] - before[0] == pytest.approx(seconds, abs=60.0)
    assert 1e-9 * (after[1] - before[1]) == pytest.approx(seconds, abs=60.0)


def test_processes_of_a_trial_are_found_by_their_mark(tmp_path):
    mark = str(tmp_path)
    with victim(SLEEP, **{trial.MARK: mark}) as process:
        line_of(process)
        assert list(trial.processes_with(mark)) == [process.pid]
        assert SLEEP in trial.processes_with(mark)[process.pid]
        assert not trial.processes_with(mark + "0")
    assert not trial.processes_with(mark)


LAUNCH = """
import json, os, subprocess, sys, time
from pathlib import Path
run = Path(sys.argv[2])
(run / "reports").mkdir(parents=True)
report = {"posture": POSTURE, "passive": PASSIVE}
(run / "reports" / "emulator.json").write_text(json.dumps(report))
CHILD
if REACHED:
    print(json.dumps({"pids": {"launcher": os.getpid()}}), flush=True)
time.sleep(0.5)
print(json.dumps({"ok": OK, "why": WHY}), flush=True)
"""


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """Judge a launch that is none: it ends as it is told, and records nothing."""
    monkeypatch.setattr(trial, "LAST_S", 0.5)
    monkeypatch.setattr(trial, "_count", lambda _: 1)
    monkeypatch.setattr(trial, "_count_black_box", lambda _: 1)

    def judge(posture="lying", passive=True, ok=True, why="", child="", kind="flood", reached=True):
        (tmp_path / "launch.py").write_text(
            LAUNCH.replace("POSTURE", repr(posture)).replace("PASSIVE", repr(passive))
            .replace("OK", repr(ok)).replace("WHY", repr(why)).replace("CHILD", child)
            .replace("REACHED", repr(reached))
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(trial.stack, "__name__", "launch")
        harm = Harm(kind, "tracker" if kind == "flood" else "launcher", "running", 0.0, 0.01)
        return trial.run_trial(harm, tmp_path / "trial")

    return judge


def test_an_end_that_is_as_it_must_be(judged):
    row = judged()
    assert row.ok and row.ended == "lying, damped" and row.left == 0


@pytest.mark.parametrize(("end", "wrong"), [
    ({"posture": "fallen", "passive": False}, "the robot was fallen"),
    ({"posture": "moving", "passive": False}, "the robot was moving"),
    ({"ok": False}, "nobody says why"),
    ({"reached": False, "why": "the robot was stopped"}, "the robot never came to that state"),
    ({"child": "subprocess.Popen(['sleep', '60'])"}, "still running: sleep"),
])  # fmt: skip
def test_an_end_that_is_not(judged, end, wrong):
    row = judged(**end)
    assert not row.ok and row.wrong.startswith(wrong)


@pytest.mark.parametrize("end", [
    {"posture": "fallen"}, {"posture": "standing", "passive": False},
    {"ok": False, "why": "the planner died"},
])  # fmt: skip
def test_damped_or_standing_will_do_and_a_failure_that_says_why(judged, end):
    assert judged(**end).ok


def test_a_launch_that_is_killed_and_leaves_no_word_why_is_wrong(judged):
    assert judged(kind="kill").wrong == "nobody says why"


def test_files_are_read_as_they_are(tmp_path):
    assert trial._count(tmp_path / "run.mcap") == -1
    assert trial._count_black_box(tmp_path) == -1
    assert trial._end_of(tmp_path / "emulator.json") == ("unknown", False)
    log = tmp_path / "tracker.log"
    assert not trial._cause_in(log)
    log.write_text("INFO robot: running -> damping\nINFO robot: damping -> off: hot\n")
    assert trial._cause_in(log) == "hot"


def test_words_of_a_harm():
    assert trial.in_words(Harm("kill", "planner", "running", 1.0, 0.0)) == (
        "kill planner, 1.00 s into running"
    )
    assert "by -3600 s" in trial.in_words(Harm("clock", "tracker", "running", 1.0, -3600.0))
    assert "for 0.02 s" in trial.in_words(Harm("pause", "tracker", "running", 1.0, 0.02))
