"""Nothing is compiled, or loaded from the compiler's cache, once the processes' loops run."""

import json
import os
import signal
import sys
from types import ModuleType

import pytest
from numba import njit

from saltus.common.compiled_code import compiled_since, signature_counts
from saltus.configuration.launch import load_launch
from saltus.launch.launcher import launch
from tests.saltus.programs import ROOT, python


@njit
def twice(x):
    return 2.0 * x


@njit
def thrice(x):
    return x + twice(x)


@pytest.fixture
def kernels(monkeypatch):
    """A module of ours that knows two compiled functions, one of them by two names."""
    module = ModuleType("controller.kernels")
    vars(module).update(twice=twice, again=twice, thrice=thrice, number=2.0)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def test_functions_are_counted_once_and_named_when_they_gain_a_signature(kernels):
    before = signature_counts()
    assert [before[each] for each in (twice, thrice)] == [0, 0]
    assert compiled_since(before) == []
    kernels.thrice(1.0)  # and what it calls
    name = twice.py_func.__module__
    assert compiled_since(before) == [f"{name}.thrice", f"{name}.twice"]
    warm = signature_counts()
    kernels.thrice(2.0)
    assert compiled_since(warm) == []
    kernels.again(1)  # a type that was not seen before
    assert compiled_since(warm) == [f"{name}.twice"]


TRACKED = """
    waiting ok hold stand_down damp estimate_diverged estimate_not_finite
    estimate_old no_estimate reading_not_plausible tilted too_low plan_failed plan_not_finite
    plan_from_future plan_out_of_order command_not_finite torque_limited
    estimate_too_fast plan_gains_out_of_bounds
""".split()
BRIDGED = (
    "stand_up", "ready", "running", "sit_down", "damping", "off", "late state", "slew", "target",
    "total_power", "clock", "measurement", "not_finite", "not_measured",
    "FR thigh: the encoder is stuck at 0.89 rad (unchanged for 50 ms while the motor moves)",
)  # fmt: skip
PLANNED = ("ok", "time_limit", "failed", "a foot lands")
# Processes of `warm_processes` with their arguments, and some of what each must have gone through.
PROCESSES = {
    "tracker": TRACKED,
    "bridge": BRIDGED,
    "estimator salted": ("ok", "degraded", "diverged", "starting", "in the air"),
    "estimator leg_odometry": ("ok", "diverged", "starting", "in the air"),
    "estimator invariant": ("ok", "diverged", "starting", "in the air"),
    "planner stand": PLANNED,
    "planner stand hilqr.touchdown_order=selected": PLANNED,
    "planner sim planner=convex_mpc": PLANNED,
    "planner sim planner=instant_qp": ("ok", "failed", "a foot lands"),
    "planner drive planner=instant_qp": ("ok",),
}


def run(name, folder):
    """What a process of its own tells, in which nothing has been called before."""
    process, *arguments = name.split()
    module = f"tests.saltus.launch.warm_processes.{process}"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = python("-m", module, *arguments, cwd=folder, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", PROCESSES)
def test_a_warm_process_compiles_nothing_more(name, tmp_path):
    told = run(name, tmp_path)
    if told["cold"]:
        # A function that is compiled takes those that it calls along; one from the cache does not,
        # and a gap in the warm-up shows.
        told = run(name, tmp_path)
    assert told["late"] == []
    assert set(PROCESSES[name]) <= set(told["seen"])


class Killer:
    """Kills the planner once the robot has lived for a while."""

    def __init__(self, tick):
        self.tick, self.killed = tick, False

    def __call__(self, supervisor, listener):
        if not self.killed and listener.ticks["ground_truth"] > self.tick:
            planner = next(each for each in supervisor.children if each.name == "planner")
            planner.signal(signal.SIGKILL)
            self.killed = True


@pytest.mark.quiet  # in real time
@pytest.mark.parametrize("kill_at", [300, None])
def test_no_process_of_a_launch_compiles_late(kill_at, tmp_path):
    # On a loaded machine the kill comes late, and the tracker stands down 0.35 s after it.
    config = load_launch("stand", mode="realtime", duration=0.5 if kill_at is None else 3.0)
    outcome = launch(config, tmp_path / "run", None if kill_at is None else Killer(kill_at))
    assert outcome.completed
    living = {name: report for name, report in outcome.reports.items() if report}
    assert set(outcome.reports) - set(living) == ({"planner"} if kill_at else set())
    late = {name: report["compiled_late"] for name, report in living.items()}
    assert late == dict.fromkeys(living, [])
    expected = {"ok"} if kill_at is None else {"ok", "hold", "stand_down", "damp"}
    assert set(living["tracker"]["commands"]) >= expected
