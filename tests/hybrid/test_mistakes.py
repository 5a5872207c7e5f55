"""What users get wrong in calling the library: one clear error before compiled code sees it."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from hybrid.batch import simulate_batch
from hybrid.compiled.system import native_tables
from hybrid.examples.bouncing_ball import FALLING, bouncing_ball, bouncing_ball_problem
from hybrid.hilqr import Hilqr, Policies
from hybrid.simulation import simulate, simulate_step
from hybrid.systems import Mode, System, Transition
from hybrid.variational import fundamental_matrix

BALL, X, U = bouncing_ball(), np.array([1.0, 0.0]), np.zeros(1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: simulate(BALL, 9, X, 1.0),
        lambda: simulate_step(BALL, 9, X, 1.0, U),
        lambda: simulate_batch(BALL, 9, X[None], 1.0, U),
        lambda: fundamental_matrix(BALL, 9, X, 1.0),
    ],
)
def test_a_mode_that_is_not_there(call):
    with pytest.raises(ValueError, match=r"no mode 9; the system has modes \[1, 2\]"):
        call()


@pytest.mark.parametrize(
    ("states", "u", "shape"),
    [
        (X, U, "(B, 2)"),
        (np.zeros((2, 5)), U, "(B, 2)"),
        (X[None], np.zeros(0), "(1,)"),
        (X[None], np.zeros(3), "(1,)"),
    ],
)
def test_batches_of_the_wrong_shape(states, u, shape):
    with pytest.raises(ValueError, match=re.escape(f"the system takes {shape}")):
        simulate_batch(BALL, FALLING, states, 1.0, u)


def test_whole_numbers_and_lists_are_states():
    end = simulate_step(BALL, FALLING, [1, 0], 0.1, U).state  # type: ignore[arg-type]
    np.testing.assert_array_equal(end, simulate(BALL, FALLING, [1, 0], 0.1).final_state)
    batch = simulate_batch(BALL, FALLING, np.array([[1, 0]]), 0.1, U)
    np.testing.assert_allclose(batch.states[0], end, rtol=1e-12)


def policies(n=2, m=1, gains=(1, 2), steps=5):
    return Policies.of(np.zeros((steps + 1, n)), np.zeros((steps, m)), np.zeros((steps, *gains)))


@pytest.mark.parametrize(
    ("x0", "seed"),
    [
        (np.zeros(3), policies()),
        (X, policies(n=3)),
        (X, policies(m=2)),
        (X, policies(gains=(2, 2))),
        (X, policies(gains=(1, 3))),
    ],
)
def test_policies_of_the_wrong_shape(x0, seed):
    with pytest.raises(ValueError, match="the system takes"):
        Hilqr(bouncing_ball_problem()).start(x0, seed)


def falling(flow=None, reset=None):
    """A ball with a function of the user's own in it."""
    ballistic = flow or (lambda t, x, u: np.array([x[1], -9.8]))
    bounce = reset or (lambda t, x, u: np.array([x[0], -0.75 * x[1]]))
    land = Transition(1, 2, lambda t, x, u: x[0], bounce, name="land", time_invariant=True)
    after = Mode("after", 2, 0, lambda t, x, u: np.array([x[1], -9.8]))
    return System({1: Mode("falling", 2, 0, ballistic), 2: after}, (land,))


def test_a_reset_that_writes_on_its_argument_does_no_harm():
    def careless(t, x, u):
        x[1] *= -0.75
        return x

    right, wrong = falling(), falling(reset=careless)
    for system in (right, wrong):
        assert native_tables(system).reason == ""
    ends = [simulate_batch(s, 1, X[None], 0.6, np.zeros(0)).states for s in (right, wrong)]
    np.testing.assert_array_equal(ends[0], ends[1])
    one, other = (fundamental_matrix(s, 1, X, 0.6) for s in (right, wrong))
    np.testing.assert_allclose(one.Phi, other.Phi, rtol=1e-9)
    assert other.events[0].state_before[1] < 0.0 < other.events[0].state_after[1]


def test_a_global_number_is_not_kept_in_a_file(tmp_path):
    """A cache on disk would give the second run the first one's number."""
    script = tmp_path / "fall.py"
    script.write_text(
        "import sys\nimport numpy as np\nfrom hybrid.batch import simulate_batch\n"
        "from hybrid.systems import System, Mode\nG = float(sys.argv[1])\n"
        "def flow(t, x, u):\n    return np.array([x[1], -G])\n"
        "system = System({1: Mode('air', 2, 0, flow)}, ())\n"
        "print(simulate_batch(system, 1, np.zeros((1, 2)), 1.0).states[0, 1])\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for gravity in ("9.5", "1.5"):
        command = [sys.executable, str(script), gravity]
        told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert float(told.stdout) == pytest.approx(-float(gravity))


@pytest.mark.parametrize("duration", [np.inf, np.nan, -1.0])
def test_durations_without_an_end(duration):
    for call in (
        lambda: simulate(BALL, FALLING, X, duration),
        lambda: simulate_step(BALL, FALLING, X, duration, U),
        lambda: simulate_batch(BALL, FALLING, X[None], duration, U),
    ):
        with pytest.raises(ValueError, match="give 0 or more|finite"):
            call()
