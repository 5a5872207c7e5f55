"""A message of a real-time process leaves at once: the bus's threads are more urgent than it is."""

import json
import os

import pytest

from tests.saltus.programs import python

PROGRAM = """
import json, os, resource, sys, tempfile, time
from pathlib import Path
from runtime.bus import Bus, Endpoints
from runtime.topics import STATE_ESTIMATE

def threads():
    return {int(name) for name in os.listdir("/proc/self/task")}

def priorities(these):
    return sorted(os.sched_getparam(thread).sched_priority for thread in these)

own, expected, limited = (int(word) for word in sys.argv[1:])
if own:
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(own))
    except PermissionError:
        print("refused")
        sys.exit()
if limited:
    resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
    os.setuid(65534)  # nobody, who may keep a priority, but not raise it
with tempfile.TemporaryDirectory() as folder:
    before = threads()
    with Bus(Endpoints.ipc(Path(folder))) as bus:
        bus.publisher(STATE_ESTIMATE)
        end = time.monotonic() + 20.0  # a thread sets its priority in its own time
        while set(priorities(threads() - before)) != {expected} and time.monotonic() < end:
            time.sleep(0.01)
        found = priorities(threads() - before)
    print(json.dumps([os.sched_getparam(0).sched_priority, found]))
"""


def priorities(own, expected, limited):
    """Priority of a process that asks for `own`, and of its bus's threads; 0 is not real time."""
    said = python("-c", PROGRAM, own, expected, int(limited)).stdout
    if said == "refused\n":
        pytest.skip(f"this system refuses SCHED_FIFO at priority {own}")
    return json.loads(said)


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")


@pytest.mark.parametrize(
    "own, expected, limited",
    [(10, 11, False), (98, 99, False), (99, 99, False), (0, 0, False),
     pytest.param(10, 10, True, marks=as_root)],
)  # fmt: skip
def test_the_threads_are_one_more_urgent_than_their_process_where_that_is_granted(
    own, expected, limited
):
    process, threads = priorities(own, expected, limited)
    assert process == own
    assert threads and set(threads) == {expected}
