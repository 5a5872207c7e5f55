"""A trajectory's derivatives: the same bits with a helper process, without, and when it dies."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from robots.a1.constants import STAND_HEIGHT, STAND_JOINTS
from robots.a1.models import foot_frame_ids, load_pinocchio
from robots.contact_dynamics import ContactDynamics
from robots.state import integrate
from robots.trajectory_derivatives import TrajectoryDerivatives

KNOTS, DT = 12, 0.01
STAND = np.concatenate([[0, 0, STAND_HEIGHT, 0, 0, 0, 1], STAND_JOINTS])

ORPHAN = """
import sys
from robots.a1.models import foot_frame_ids, load_pinocchio
from robots.contact_dynamics import ContactDynamics
from robots.trajectory_derivatives import TrajectoryDerivatives
if __name__ == "__main__":
    model = load_pinocchio()
    helped = TrajectoryDerivatives(ContactDynamics(model, foot_frame_ids(model)), 5, True)
    assert helped.wait_for_helper(120.0)
    print(helped.helper_pid, flush=True)
    sys.stdin.read()
"""


def dynamics():
    model = load_pinocchio()
    return ContactDynamics(model, foot_frame_ids(model))


def trajectory(seed, knots=KNOTS):
    rng = np.random.default_rng(seed)
    rows = [integrate(STAND, np.zeros(18), 0.2 * rng.normal(size=36)) for _ in range(knots + 1)]
    contacts = (rng.uniform(size=(knots, 4)) > 0.4).astype(float)
    return np.array([np.concatenate(row) for row in rows]), rng.normal(size=(knots, 12)), contacts


def derive(derivatives, parts, meanwhile=0):
    derivatives.start(*parts, DT, meanwhile)
    return derivatives.finish()


def with_helper():
    derivatives = TrajectoryDerivatives(dynamics(), KNOTS, helper=True)
    assert derivatives.wait_for_helper(120.0)
    return derivatives


@pytest.fixture(scope="module")
def helped():
    return with_helper()


def test_before_the_helper_has_started_the_caller_does_all():
    derivatives = TrajectoryDerivatives(dynamics(), KNOTS, helper=True)
    parts = trajectory(7)
    A, _ = derive(derivatives, parts)
    np.testing.assert_array_equal(A, derive(TrajectoryDerivatives(dynamics()), parts)[0])


@pytest.mark.parametrize("meanwhile", [0, 5, 100])
def test_helper_changes_no_bit(helped, meanwhile):
    alone, one_by_one = TrajectoryDerivatives(dynamics()), dynamics()
    for seed in range(3):
        states, inputs, contacts = parts = trajectory(seed)
        A, B = derive(helped, parts, meanwhile)
        for mine, theirs in zip((A, B), derive(alone, parts), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        k = 2
        a, b = one_by_one.step_derivatives(
            states[k, :19], states[k, 19:], inputs[k], contacts[k], DT
        )
        np.testing.assert_array_equal(A[k], a)
        np.testing.assert_array_equal(B[k], b)
    assert helped.helper_pid is not None and alone.helper_pid is None


def test_results_are_the_callers_own(helped):
    A, _ = derive(helped, trajectory(1))
    before = A.copy()
    derive(helped, trajectory(2))
    np.testing.assert_array_equal(A, before)


def test_longer_trajectories_are_done_alone(helped):
    parts = trajectory(4, KNOTS + 5)
    A, _ = derive(helped, parts)
    np.testing.assert_array_equal(A, derive(TrajectoryDerivatives(dynamics()), parts)[0])


def test_a_helper_that_dies_is_done_without():
    derivatives = with_helper()
    assert derivatives.helper_pid is not None
    os.kill(derivatives.helper_pid, signal.SIGKILL)
    for seed in range(2):
        parts = trajectory(seed)
        A, _ = derive(derivatives, parts)
        np.testing.assert_array_equal(A, derive(TrajectoryDerivatives(dynamics()), parts)[0])
    assert derivatives.helper_pid is None


def test_a_helper_is_gone_before_its_shared_arrays_are():
    derivatives = TrajectoryDerivatives(dynamics(), KNOTS, helper=True)
    pid = derivatives.helper_pid
    assert alive(pid)
    del derivatives
    assert not alive(pid)


def test_no_helper_outlives_a_caller_that_is_killed(tmp_path):
    script = tmp_path / "caller.py"
    script.write_text(ORPHAN)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(["."] + sys.path)}
    caller = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=environment, text=True,
    )  # fmt: skip
    assert caller.stdout is not None
    pid = int(caller.stdout.readline())
    caller.kill()
    caller.communicate()
    for _ in range(100):
        if not alive(pid):
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} is still there")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
