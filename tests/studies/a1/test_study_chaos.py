"""Chaos: what is drawn, what is done to a process, and how an end is judged."""

import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from pytest import approx

from saltus.soak.harm import ACTS, Harm, do
from studies.a1 import chaos_leap as leap
from studies.a1 import harmed
from studies.a1.chaos import CHAOS, draw_trials
from studies.a1.faults import TABLE, trial_of

PAIRS = {(kind, victim) for kind, victims in CHAOS["victims"].items() for victim in victims}
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
def victim(program, **environment):
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | environment,
    )  # fmt: skip
    with process:
        try:
            yield process
        finally:
            process.kill()


def line_of(process):
    return process.stdout.readline().strip()


def go_on(process):
    process.stdin.write("\n")
    process.stdin.flush()


def hurt(kind, process, value=0.0):
    do(Harm(kind, ("planner",), value), {"planner": process.pid}, {})


def state_of(process):
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_every_kind_comes_to_every_process_equally_often():
    trials = draw_trials(3, 4 * len(PAIRS))
    counts = Counter((harm.kind, *harm.victims) for trial in trials for harm in trial.harms)
    assert set(counts) == PAIRS and set(counts.values()) == {4}
    assert {trial.state for trial in trials} == set(CHAOS["states"])
    for trial in trials:
        assert 0.0 <= trial.at <= CHAOS["states"][trial.state][1]
        (harm,) = trial.harms
        shortest, longest = CHAOS["seconds"].get(harm.kind, (-3600.0, 3600.0))
        assert shortest <= harm.seconds <= longest


def test_every_fault_of_the_table_can_be_done():
    assert len(TABLE["faults"]) == 41
    for fault in TABLE["faults"]:
        for harm in trial_of(fault).harms:
            assert harm.kind in {*ACTS, "flood", "press", "silence"} and harm.victims


def test_a_process_is_killed_stopped_or_paused():
    with victim(SLEEP) as process:
        line_of(process)
        hurt("pause", process, 0.01)
        assert state_of(process) != "T"
        hurt("stop", process)
        assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
        hurt("kill", process)
        assert process.wait(10.0) == -signal.SIGKILL


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
    assert after[0] - before[0] == approx(seconds, abs=60.0)
    assert 1e-9 * (after[1] - before[1]) == approx(seconds, abs=60.0)


def test_processes_of_a_trial_are_found_by_their_mark(tmp_path):
    mark = str(tmp_path)
    with victim(SLEEP, **{harmed.MARK: mark}) as process:
        line_of(process)
        assert list(harmed.processes_with(mark)) == [process.pid]
        assert SLEEP in harmed.processes_with(mark)[process.pid]
        assert not harmed.processes_with(mark + "0")
    assert not harmed.processes_with(mark)
