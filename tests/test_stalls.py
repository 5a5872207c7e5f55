"""A test in real time is repeated beside stalls of the host, and only beside them."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.stalls import ATTEMPTS, HOLD_S, HostWatch

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]

CONFTEST = """
from tests.stalls import WATCH
from tests.stalls import pytest_runtest_protocol, pytest_terminal_summary

class MadeUp:
    attempt = 0
    def begin(self):
        self.attempt += 1
    def stalls(self):
        return ["core 1 for 101 ms"] if self.attempt <= {stalled} else []
    def close(self):
        pass

def pytest_configure(config):
    config.stash[WATCH] = MadeUp
"""

TEST = """
import pytest
from contextlib import closing
from pathlib import Path

@pytest.fixture(scope="module")
def attempt():
    with open({diary!r}, "a") as diary:
        diary.write("x")
    yield len(Path({diary!r}).read_text())

@pytest.mark.{marker}
def test_it(attempt, tmp_path):
    (tmp_path / "made").mkdir()
    assert attempt > {bad}, "too slow"
"""


ALWAYS = ("quiet", 99, 9, ATTEMPTS, "skipped", f"in each of {ATTEMPTS} attempts; AssertionErr")


@pytest.mark.parametrize("marker, bad, stalled, attempts, outcome, words, workers", [
    ("quiet", 0, 9, 1, "passed", "", ()),
    ("quiet", 9, 0, 1, "failed", "", ()),
    ("skipif(False, reason='')", 9, 9, 1, "failed", "", ()),  # none that runs in real time
    ("realtime", 2, 9, 3, "passed", "passed in attempt 3; before, the host stopped", ()),
    ("quiet", 9, 2, 3, "failed", "failed without a stall in attempt 3; before, the host", ()),
    (*ALWAYS, ()),
    (*ALWAYS, ("-n", "1")),
])  # fmt: skip
def test_a_failure_is_repeated_beside_a_stall_only(
    pytester, marker, bad, stalled, attempts, outcome,
    words, workers,
):  # fmt: skip
    diary = pytester.path / "diary"
    pytester.makeconftest(CONFTEST.format(stalled=stalled))
    pytester.makepyfile(TEST.format(diary=str(diary), marker=marker, bad=bad))
    pytester.makeini(f"[pytest]\npythonpath = {ROOT}\nmarkers =\n    quiet\n    realtime\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", *workers)
    result.assert_outcomes(**{outcome: 1})
    assert len(diary.read_text()) == attempts
    said = result.stdout.str()
    assert words in said and ("core 1 for 101 ms" in said) == bool(words)


def test_stalls_that_the_program_makes_are_named_core_by_core():
    with closing(HostWatch()) as watch:
        command = [sys.executable, "-m", "tests.stalls", "--seconds", "0.9", "--every", "1"]
        if subprocess.run(command, cwd=ROOT, timeout=60).returncode:
            pytest.skip("this system refuses SCHED_FIFO")
        noted = watch._watch.stalls()
        held = {stall.core for stall in noted if stall.late_ms > 0.9e3 * HOLD_S}
        assert held == os.sched_getaffinity(0) and watch.stalls()[0].startswith("core ")
