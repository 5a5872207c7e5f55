"""Kernels as Python, in first calls: the same numbers bit for bit, and nothing compiled."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from pytest import approx

from saltation.compilation import compile_kernels
from saltation.compiled import first_use
from saltation.examples.bouncing_ball import FALLING, bouncing_ball
from saltation.filters.model import FilterModel, Measurement, ProcessNoise
from saltation.filters.salted import SaltedKalmanFilter
from saltation.simulation import simulate
from saltation.systems import Mode, System
from studies.numerics.scipy import simulate_ours
from studies.numerics.scipy_problems import draw
from tests.saltation.compiled_functions import without_closed_forms
from tests.saltus.programs import python

START = [1.0, 0.0]
SPEED = 1.0
FIRST = """
from numba.core import event
compiled = []
class Compilations(event.Listener):
    def on_start(self, e): compiled.append(e)
    def on_end(self, e): pass
event.register("numba:compile", Compilations())
import numpy as np
import saltation as sa
ball = sa.System(
    {1: sa.Mode("flight", 2, 1, lambda t, x, u: np.array([x[1], u[0] - 9.8]))},
    [sa.Transition(1, 1, lambda t, x, u: x[0], lambda t, x, u: np.array([x[0], -0.75 * x[1]]))],
)
run = sa.simulate(ball, 1, [1.0, 0.0], 1.5)
print(len(run.events), run.at(0.3)[1].shape, run.derivatives.state.shape, len(compiled))
"""

WORKER = """
import os, sys, time
import numpy as np
import saltation as sa
from saltation.compiled import first_use
first_use.PATIENCE, first_use._is_kept = 100, lambda kernel, sizes: False
first_use._COMPILE = "import time; print(file=open('started', 'a')); time.sleep(30)  # {} {}"
fall = sa.Mode("flight", 2, 0, lambda t, x, u: np.array([x[1], -9.8]))
for _ in range(3):
    sa.simulate(sa.System({1: fall}, []), 1, [1.0, 0.0], 1.5)
print("done", flush=True)
sys.stdin.read()
while not (os.path.exists("started") and os.path.getsize("started")):
    time.sleep(0.01)
for _, compiler in first_use._compilers.values():
    compiler.kill()
"""


@pytest.fixture(autouse=True)
def way(request, monkeypatch):
    """Run kernels as Python, or compiled."""

    def choose(compiled):
        monkeypatch.setattr(first_use, "_compiled", set())
        monkeypatch.setattr(first_use, "calls", 0)
        monkeypatch.setattr(first_use, "_forced", compiled)

    return choose


def both(way, act):
    """Results as Python and compiled."""
    results = []
    for compiled in (False, True):
        way(compiled)
        results.append(act())
    return results


def same(one, other):
    """Whether two results are equal to the last bit, NaN too."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f")


@pytest.mark.parametrize("seed, trial", [(0, 13150), *((7, trial) for trial in range(40))])
def test_random_systems_run_as_they_do_compiled(way, seed, trial):
    """The first one divides by a guard's fall of zero."""
    assert same(*both(way, lambda: tuple(simulate_ours(draw(seed, trial)))))


def test_derivatives_are_those_of_compiled_kernels(way):
    for system in (bouncing_ball(), without_closed_forms(bouncing_ball())):

        def act(system=system):
            run = simulate(system, FALLING, START, 1.5, [0.1])
            return run.derivatives.state, run.derivatives.inputs, run.t, run.y

        assert same(*both(way, act))


@pytest.mark.parametrize("power", [0, 1, 2])
def test_a_filter_is_that_of_compiled_kernels(way, power):
    system = bouncing_ball()
    model = FilterModel(
        system, dict.fromkeys(system.modes, ProcessNoise(1e-4 * np.eye(2), power)),
        dict.fromkeys(system.modes, Measurement(lambda t, x, u: x[:1], 1e-2 * np.eye(1))),
    )  # fmt: skip

    def act():
        believer = SaltedKalmanFilter(model, FALLING, np.array(START), 1e-2 * np.eye(2))
        steps = (believer.step(np.zeros(1), np.array([y]), 0.1) for y in np.cos(np.arange(12)) ** 2)
        return tuple((b.mode, b.mean, b.Sigma, b.status) for b in steps)

    assert same(*both(way, act))


def test_functions_of_numba_are_compiled_as_ever(way, monkeypatch):
    """With a signature of their own, and with numbers of their module as they are now."""
    vector = "float64[::1](float64, float64[::1], float64[::1])"
    fall = njit(vector)(lambda t, x, u: np.array([x[1], -9.8]))
    eager = System({1: Mode("air", 2, 0, fall)}, [])
    assert same(*both(way, lambda: (simulate(eager, 1, START, 1.0).final_state,)))
    way(compiled=False)
    pace = njit(lambda: SPEED)
    slow = System({1: Mode("air", 1, 0, njit(lambda t, x, u: pace() * x))}, [])
    for speed in (1.0, 2.0):
        monkeypatch.setitem(globals(), "SPEED", speed)
        run = simulate(slow, 1, [1.0], 1.0)
        ends = run.final_state[0], run.derivatives.state[0, 0]
        assert ends == approx([np.exp(speed)] * 2)


def test_first_calls_compile_nothing(tmp_path):
    done = python("-c", FIRST, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)})
    assert done.stdout == "2 (2,) (2, 2) 0\n"


def test_what_takes_long_is_compiled_meanwhile_by_another_process(way, monkeypatch, caplog):
    started, status = [], [None]

    class Compiler:
        def __init__(self, command, **options):
            started.append(command)

        def poll(self):
            return status[0]

    monkeypatch.setattr(first_use.subprocess, "Popen", Compiler)
    monkeypatch.setattr(first_use, "_compilers", {})
    monkeypatch.setattr(first_use, "_is_kept", lambda kernel, sizes: False)
    monkeypatch.setattr(first_use, "PATIENCE", 100)
    way(compiled=False)
    for _ in range(3):
        run = simulate(bouncing_ball(), FALLING, START, 1.5)
    assert len(started) == len(caplog.messages) == 1 and not first_use._compiled
    status[0] = 0
    assert np.array_equal(simulate(bouncing_ball(), FALLING, START, 1.5).y, run.y)
    assert first_use._compiled


def test_of_many_workers_one_compiles(tmp_path):
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER], cwd=tmp_path, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for _ in range(3)
    ]  # fmt: skip
    for worker in workers:
        assert worker.stdout.readline()
    for worker in workers:
        worker.communicate()
    assert (tmp_path / "started").read_text() == "\n"


def test_compile_kernels_leaves_nothing_to_python(way, monkeypatch):
    way(compiled=False)
    for part in ("simulation", "filter"):
        compile_kernels(part)
    monkeypatch.setattr(first_use, "as_python", None)
    assert simulate(bouncing_ball(), FALLING, START, 1.5).derivatives.state.shape == (2, 2)
