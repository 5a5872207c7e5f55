"""Stalls of the machine: what the loops note, and which of them an end counts."""

import os
import time
from pathlib import Path

import pytest

from runtime.realtime import HIGHEST
from saltus.common.stalls import LEAST_MS, StallWatch
from tests.saltus.programs import python, wait_until
from tests.stalls import wait_for_loops

# A loop of the same priority keeps the core, as the kernel or a host does.
HOLD = f"""
import os, time
os.sched_setaffinity(0, {{int(__import__("sys").argv[1])}})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param({HIGHEST}))
end = time.monotonic() + 0.1
while time.monotonic() < end:
    pass
"""


def test_a_core_that_is_held_is_noted_until_the_watch_is_closed(tmp_path):
    cores = os.sched_getaffinity(0)
    core, begin = max(cores), time.monotonic()
    watch = StallWatch(tmp_path / "stalls.csv", begin)
    try:
        wait_for_loops(watch)
        if watch.stalls() is None:
            pytest.skip("this system refuses SCHED_FIFO")
        python("-c", HOLD, core)
        time.sleep(0.1)
        stalls = watch.stalls()
        elapsed = time.monotonic() - begin
    finally:
        watch.close()
    of_core = [stall for stall in stalls if stall.core == core]
    assert 90.0 < max(stall.late_ms for stall in of_core) < 1e3 * elapsed
    assert all(stall.late_ms >= LEAST_MS and 0.0 < stall.elapsed_s < elapsed for stall in stalls)
    assert watch.stalls() is None


def test_loops_end_with_the_process_that_started_them(tmp_path):
    program = (
        "import os, sys, time; from pathlib import Path\n"
        "from saltus.common.stalls import StallWatch\n"
        "watch = StallWatch(Path(sys.argv[1]), 0.0); time.sleep(1.0); me = os.getpid()\n"
        "print(Path(f'/proc/{me}/task/{me}/children').read_text(), flush=True); os._exit(0)"
    )
    pids = python("-c", program, tmp_path / "stalls.csv").stdout.split()
    assert len(pids) == len(os.sched_getaffinity(0))
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
