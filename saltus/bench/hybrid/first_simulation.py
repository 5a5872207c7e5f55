"""How long the first simulation of a new system takes, in a process of its own, caches warm.

The system is given on the command line of that process, so nothing of it is in a cache. The time
begins before the library is imported. One simulation calls its functions as Python; a batch
compiles them.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

from hybrid.systems import Array
from saltus.common.errors import BadRequest

MOST_S = 3.0  # that a first simulation should take
_SYSTEM = """
from time import perf_counter
begin = perf_counter()
import numpy as np
from hybrid.batch import simulate_batch
from hybrid.simulation import simulate
from hybrid.systems import Mode, System, Transition
def flow(t, x, u):
    return np.array([x[1], -9.8])
def gap(t, x, u):
    return x[0]
def bounce(t, x, u):
    return np.array([x[0], -0.8 * x[1]])
system = System({1: Mode("air", 2, 0, flow)}, (Transition(1, 1, gap, bounce, name="impact"),))
"""
_END = "\nprint(perf_counter() - begin)\n"
_ONE = "assert len(simulate(system, 1, [1.0, 0.0], 1.5).events) == 2"
_BATCH = "assert simulate_batch(system, 1, np.array([[1.0, 0.0], [1.1, 0.0]]), 1.5).ok.all()"
PROGRAMS = {
    "first_python_simulation": _SYSTEM + _ONE + _END,
    "first_compiled_batch": _SYSTEM + _BATCH + _END,
}


def first_times(name: str, rounds: int) -> Array:
    """Times [s] of one of PROGRAMS in fresh processes (rounds,), after one that warms the caches.

    Raises:
        BadRequest: the program fails.
    """
    return np.array([_seconds(PROGRAMS[name]) for _ in range(rounds + 1)][1:])


def _seconds(program: str) -> float:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise BadRequest(f"the first simulation failed: {done.stderr.strip()[-300:]}")
    return float(done.stdout)
