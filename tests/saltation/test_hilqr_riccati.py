"""The backward pass against the recursion written out in NumPy, with transitions composed in."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from saltation.hilqr import CostExpansion, Drift, Jump, Linearisation, backward_pass, compose

DAMPINGS = [(0.0, 0.0), (0.3, 0.0), (0.0, 0.7), (0.3, 0.7)]
RELATIVE = 1e-9


def problem(N=9, n=9, m=3, drift=None, seed=0):
    """Random A, B and a random convex cost; the positions' rows as `drift` has them."""
    rng = np.random.default_rng(seed)
    A, B = np.eye(n) + 0.2 * rng.standard_normal((N, n, n)), rng.standard_normal((N, n, m))
    if drift is not None:
        for i in range(drift.first, drift.last):
            A[:, i], B[:, i] = drift.dt * A[:, i + drift.shift], drift.dt * B[:, i + drift.shift]
            A[:, i, i] += 1.0
    joint = rng.standard_normal((N + 1, n + m, n + m))
    joint = joint @ joint.transpose(0, 2, 1) + np.eye(n + m)
    l_x, l_u = rng.standard_normal((N + 1, n)), rng.standard_normal((N, m))
    cost = CostExpansion(l_x, l_u, joint[:, :n, :n], joint[:-1, n:, :n], joint[:-1, n:, n:])
    return Linearisation(A, B, (), drift), cost


def jumps(n, m, seed=1):
    """All kinds of transitions: bare, two in one timestep, with a flow, with a push."""
    rng = np.random.default_rng(seed)

    def random(*shape):
        return np.eye(*shape) + 0.2 * rng.standard_normal(shape)

    return (
        Jump(0, random(n, n), random(n, n)),
        Jump(3, random(n, n), random(n, n), random(n, n), random(n, m), random(n, m)),
        Jump(3, random(n, n), random(n, n)),
        Jump(5, random(n, n), random(n, n), None, random(n, m)),
        Jump(8, random(n, n), random(n, n), None, None, random(n, m)),
    )


def minimise(k, H, Q_u, Y):
    """Feedforward and gains of inputs without bounds."""
    return -np.linalg.solve(H, Q_u), -np.linalg.solve(H, Y)


def written_out(A, B, cost, mu_state, mu_input, policy=minimise):
    """Feedforward, gains, V_x, V_xx and both sums of (5.19)."""
    V_x, V_xx, ks, Ks, linear, quadratic = cost.l_x[-1], cost.l_xx[-1], [], [], 0.0, 0.0
    for k in range(len(A) - 1, -1, -1):
        Q_x, Q_u = cost.l_x[k] + A[k].T @ V_x, cost.l_u[k] + B[k].T @ V_x
        Q_xx, Q_ux = cost.l_xx[k] + A[k].T @ V_xx @ A[k], cost.l_ux[k] + B[k].T @ V_xx @ A[k]
        Q_uu = cost.l_uu[k] + B[k].T @ V_xx @ B[k]
        H = Q_uu + mu_state * B[k].T @ B[k] + mu_input * np.eye(B.shape[2])
        du, K = policy(k, H, Q_u, Q_ux + mu_state * B[k].T @ A[k])
        ks.append(du)
        Ks.append(K)
        linear, quadratic = linear + du @ Q_u, quadratic + 0.5 * du @ Q_uu @ du
        V_x = Q_x + K.T @ Q_uu @ du + K.T @ Q_u + Q_ux.T @ du
        V_xx = Q_xx + K.T @ Q_uu @ K + K.T @ Q_ux + Q_ux.T @ K
    return np.array(ks[::-1]), np.array(Ks[::-1]), V_x, V_xx, linear, quadratic


def assert_same(found, expected):
    assert found.ok
    for one, other in zip(found[:6], expected, strict=True):
        assert np.max(np.abs(one - other)) <= RELATIVE * np.max(np.abs(other))
    assert_array_equal(found.V_xx, found.V_xx.T)


@pytest.mark.parametrize("mu", DAMPINGS)
@pytest.mark.parametrize("n, m", [(1, 1), (4, 2), (9, 3), (3, 5)])
def test_it_is_the_recursion(n, m, mu):
    linear, cost = problem(n=n, m=m)
    assert_same(backward_pass(linear, cost, *mu), written_out(linear.A, linear.B, cost, *mu))


@pytest.mark.parametrize("mu", DAMPINGS)
@pytest.mark.parametrize("drift", [
    Drift(2, 5, 4, 0.01), Drift(0, 4, 4, 0.5), Drift(0, 4, 5, 0.5), Drift(6, 9, -5, 0.1),
    Drift(3, 3, 0, 0.1),
])  # fmt: skip
def test_transitions_count_as_if_composed_into_A_and_B_and_a_drift_changes_no_number(drift, mu):
    linear, cost = problem(drift=drift)
    for variant in ("xi", "dxr"):
        for transitions in ((), jumps(9, 3)):
            linear = linear._replace(transitions=transitions)
            before = linear.A.copy(), linear.B.copy()
            expected = written_out(*compose(linear, variant), cost, *mu)
            assert_same(backward_pass(linear, cost, *mu, variant), expected)
            assert_array_equal(linear.A, before[0])
            assert_array_equal(linear.B, before[1])


@pytest.mark.parametrize("drift", [
    Drift(2, 5, 5, 0.1), Drift(2, 5, 2, 0.1), Drift(2, 5, -3, 0.1), Drift(-1, 2, 4, 0.1),
    Drift(5, 2, 1, 0.1),
])  # fmt: skip
def test_a_drift_that_does_not_fit_is_refused(drift):
    linear, cost = problem()
    with pytest.raises(ValueError, match="does not fit 9 states"):
        backward_pass(linear._replace(drift=drift), cost)
