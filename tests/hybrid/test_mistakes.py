"""What users get wrong in calling the library: one clear error before compiled code sees it."""

import numpy as np
import pytest

from hybrid.batch import simulate_batch
from hybrid.examples.bouncing_ball import FALLING, bouncing_ball, bouncing_ball_problem
from hybrid.execution import simulate
from hybrid.hilqr import Hilqr, HilqrOptions, Policies
from hybrid.simulation import simulate_step
from hybrid.variational import fundamental_matrix

BALL, X, U = bouncing_ball(), np.array([1.0, 0.0]), np.zeros(1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: simulate(BALL, 9, X, 1.0),
        lambda: simulate_step(BALL, 9, 0.0, X, U, 1.0),
        lambda: simulate_batch(BALL, 9, 0.0, X[None], U, 1.0),
        lambda: fundamental_matrix(BALL, 9, X, 1.0),
    ],
)
def test_a_mode_that_is_not_there(call):
    with pytest.raises(ValueError, match=r"no mode 9; the system has modes \[1, 2\]"):
        call()


@pytest.mark.parametrize(
    ("states", "u"), [(X, U), (np.zeros((2, 5)), U), (X[None], np.zeros(0)), (X[None], np.zeros(3))]
)
def test_batches_of_the_wrong_shape(states, u):
    with pytest.raises(ValueError, match=r"the system takes \(B, 2\) and \(1,\)"):
        simulate_batch(BALL, FALLING, 0.0, states, u, 1.0)


def test_whole_numbers_and_lists_are_states():
    end = simulate_step(BALL, FALLING, 0.0, [1, 0], U, 0.1).state  # type: ignore[arg-type]
    np.testing.assert_array_equal(end, simulate(BALL, FALLING, [1, 0], 0.1).final_state)
    batch = simulate_batch(BALL, FALLING, 0.0, np.array([[1, 0]]), U, 0.1)
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


def test_words_that_are_not_known():
    with pytest.raises(ValueError, match="no variant 'saltation'; accepted: xi, dxr, no_extension"):
        HilqrOptions(variant="saltation")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no event_at 'start'; accepted: end, end_held, exact"):
        bouncing_ball_problem(event_at="start")  # type: ignore[arg-type]
