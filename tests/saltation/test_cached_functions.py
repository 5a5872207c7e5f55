"""Machine code is kept on disk: functions that differ only in a number must not be mixed up."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose
from pytest import approx

from saltation.batch import simulate_batch
from saltation.systems import Mode, System, Transition

HEAD = """
import sys
import numpy as np
from saltation.batch import simulate_batch
from saltation.systems import Mode, System, Transition

def sink(t, x, u):
    return np.array([-1.0])

def stay(t, x, u):
    return x.copy()
"""
FACTORY = """
def level(height):
    return lambda t, x, u: x[0] - height

guards = [level(float(h)) for h in sys.argv[1:]]
"""
GLOBALS = """
FIRST, SECOND = float(sys.argv[1]), float(sys.argv[-1])
guards = [lambda t, x, u: x[0] - FIRST, lambda t, x, u: x[0] - SECOND]
"""
TAIL = """
modes = {i: Mode(str(i), 1, 0, sink) for i in (1, 2)}
system = System(modes, tuple(Transition(1, 2, guard, stay) for guard in guards))
print(simulate_batch(system, 1, np.array([[1.0]]), 1.0).event_times[0][0])
"""


def first_event(script, *arguments):
    """Time of the first event [s], as a run of the script in a process of its own prints it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, str(script), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


@pytest.mark.parametrize("guards", [FACTORY, GLOBALS])
def test_functions_of_one_text_compiled_in_different_runs(tmp_path, guards):
    """The first run compiles the rest; each of the others then compiles one guard alone."""
    script = tmp_path / "levels.py"
    script.write_text(HEAD + guards + TAIL)
    for heights, expected in (
        (["0.5"], 0.5), (["0.25"], 0.75), (["0.75"], 0.25), (["0.75", "0.25"], 0.25),
        (["0.25", "0.75"], 0.25),
    ):  # fmt: skip
        assert first_event(script, *heights) == approx(expected, abs=1e-12)


def sink(t, x, u):
    return np.array([-1.0])


def stay(t, x, u):
    return x.copy()


def called(height):
    inner = njit(lambda x, h=height: x[0] - h)
    return lambda t, x, u: inner(x)


PAIRS = {
    "on one line": ((lambda t, x, u: x[0] - 0.25), (lambda t, x, u: x[0] - 0.75)),
    "apart by a default": (called(0.25), called(0.75)),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_functions_that_are_nearly_one(pair):
    modes = {i: Mode(str(i), 1, 0, sink) for i in (1, 2)}
    for guards in (pair, pair[::-1]):
        system = System(modes, tuple(Transition(1, 2, guard, stay) for guard in guards))
        batch = simulate_batch(system, 1, np.ones((1, 1)), 1.0)
        assert_allclose(batch.event_times[0], [0.25], atol=1e-12)
